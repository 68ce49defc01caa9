//! MySQL and MariaDB as servers that are set up, started and stopped here.
//!
//! It starts nothing itself: it says which program to run with which files, and crate `server`
//! does. Source: the project's reference, servers, section 1.

mod bootstrap;
mod configuration;
mod layout;
mod refusal;
mod release;
mod serving;
mod settings;

pub use serving::{KIND_MARIADB, KIND_MYSQL};

pub(crate) use configuration::canonical;
pub(crate) use release::Flavour;
