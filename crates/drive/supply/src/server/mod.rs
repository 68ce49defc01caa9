//! Servers: builds that are a program amid the files it needs.
//!
//! A server that was fetched lies in the cache as a tree; one of the user's own is used where it
//! lies. Either is kept only when its program says what it is.

mod facts;
mod keep;
mod known;
mod program;
mod tree;
mod trial;

pub use known::{MARIADB, MYSQL, POSTGRES};
pub use program::ServerProgram;
pub(crate) use tree::{TREE_DIR, TreeNote};
pub(crate) use trial::{library_dirs, missing_libraries, package_of};
