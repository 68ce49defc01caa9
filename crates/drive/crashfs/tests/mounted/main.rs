//! The file system through real mounts, each test in its own namespaces.

mod faults;
mod losses;
mod namespace;
