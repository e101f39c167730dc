//! Exuvia: datafusion.
