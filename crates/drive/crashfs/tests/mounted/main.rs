//! The file system through real mounts, each test in its own namespaces.

mod blocks;
mod faults;
mod losses;
mod namespace;
