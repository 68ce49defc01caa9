//! Errors of memory caps.

use std::io;
use std::path::{Path, PathBuf};

use model::{Bytes, Privilege};

/// An error of setting a memory cap.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// The process of this id has ended.
    #[error("process {0} has ended")]
    Gone(u32),
    /// The machine offers no way to cap memory: what is missing, and the remedy.
    #[error("{0}")]
    NoController(String),
    /// The user may not write a file or directory of control groups.
    #[error(
        "cannot write {} ({_1}): this {}; in a container, mount /sys/fs/cgroup writable",
        _0.display(), privilege(_0)
    )]
    NoRights(PathBuf, #[source] io::Error),
    /// An enclosing group, as a container has, allows less memory than the cap.
    #[error(
        "a memory cap of {requested} has no effect: an enclosing control group allows only \
         {limit}; set a smaller cap, or raise the limit of the container"
    )]
    Enclosed {
        /// The cap that was requested.
        requested: Bytes,
        /// The limit that binds.
        limit: Bytes,
    },
    /// Another limit is in force than the one written to a file.
    #[error(
        "{} contains {in_force} after Assay wrote {wanted} bytes: an enclosing group or the \
         kernel sets another limit", path.display()
    )]
    OtherLimit {
        /// The file of the limit.
        path: PathBuf,
        /// The limit that was written, bytes.
        wanted: u64,
        /// The limit that is in force, bytes; `max` for none.
        in_force: String,
    },
}

impl CapError {
    /// Returns a function that turns a system error into "no rights to `path`".
    pub(crate) fn rights(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::NoRights(path, source)
    }
}

/// Returns the privilege that a group needs, by its directory or one of its files.
fn privilege(path: &Path) -> Privilege {
    // Only version 2 lists the controllers of a group in it.
    let is_v2 = path.with_file_name("cgroup.controllers").exists();
    if is_v2 { Privilege::CONTROL_GROUPS_V2 } else { Privilege::CONTROL_GROUPS_V1 }
}
