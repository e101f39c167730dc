//! The plugin as its users see it: SQL in, rows and messages out.

mod bounds;
mod calls;
mod cancel;
mod changed;
mod common;
#[cfg(feature = "python")]
mod elsewhere;
mod explain;
mod fuse;
mod inline;
mod looped;
mod operands;
mod outline;
mod plain;
mod prune;
mod random;
#[cfg(feature = "python")]
mod routines;
mod settings;
mod surface;
mod udfs;
#[cfg(feature = "python")]
mod worker;
