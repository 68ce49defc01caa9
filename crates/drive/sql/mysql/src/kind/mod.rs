//! MySQL and MariaDB server kinds: set-up, configuration, start, errors.
//!
//! It only describes which program to run with which files; crate `server` runs it. Options and
//! bootstrap per version: [MySQL Manual], "Initializing the Data Directory"; MySQL 5.6 and
//! MariaDB: what their `mysql_install_db` runs [MariaDB Docs].

mod bootstrap;
mod configuration;
mod login;
mod needs;
mod place;
mod release;
mod server;
mod settings;
mod standby;
mod startup_error;

pub use server::{KIND_MARIADB, KIND_MYSQL};

pub(crate) use configuration::{FILES, canonical};
pub(crate) use place::STANDBY_SOCKET;
pub(crate) use release::{Flavour, Release};
