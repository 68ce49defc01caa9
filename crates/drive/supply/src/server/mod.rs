//! Server builds: a program with the files it needs.
//!
//! A fetched server is cached as a tree; a user's installation is used in place. Either is cached
//! only after its program printed the expected version.

mod commit;
mod facts;
mod hashes;
mod installation;
mod program;
mod public;
mod tree;
mod version;

pub use program::{MARIADB, MYSQL, POSTGRES, ServerProgram};
pub use tree::{Files, Tree};
pub(crate) use tree::{TREE_DIR, open_to_all};
pub(crate) use version::{library_dirs, missing_libraries, package_of};
