//! Directories that root may use: no other account can replace a part of their path.
//!
//! Root obeys no permissions, so a link or a file that another account plants leads it anywhere. A
//! path is followed from directory to directory by descriptors, and each directory and link on it
//! is checked: only accounts that root trusts may own it or write it. Below a directory that
//! passed, paths are safe by construction. Other accounts are limited by the kernel: for them only
//! the links of an output's path are checked.
//!
//! To use a directory by path, start with [`Dir::create`] or [`check`].

mod account;
mod dir;
mod error;
mod remove;
#[cfg(test)]
mod tests;
mod walk;

pub use account::{Account, begin, is_mapped};
pub use dir::{Dir, Entries, check, open_output};
pub use error::TrustError;
pub use remove::remove_dir;
