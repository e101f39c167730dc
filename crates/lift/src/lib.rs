//! Exuvia: lift.
