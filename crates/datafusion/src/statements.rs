//! What users write and read: statements and scripts, settings, the catalog, messages.

pub(crate) mod catalog;
pub(crate) mod create;
pub(crate) mod elsewhere;
pub(crate) mod message;
pub(crate) mod mistakes;
pub(crate) mod parsing;
pub(crate) mod pytokens;
pub(crate) mod rebind;
pub(crate) mod script;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod statement;
pub(crate) mod types;
pub(crate) mod udfs;
