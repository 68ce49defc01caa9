//! Why the file system cannot be mounted.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A failed mount, with the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The kernel offers no FUSE.
    #[error(
        "/dev/fuse is missing, which simulated power cuts need: load the module with `modprobe \
         fuse`; start a container with `--device /dev/fuse --cap-add SYS_ADMIN`"
    )]
    NoDevice,
    /// The file in its place is another one.
    #[error(
        "/dev/fuse is not the device of FUSE, which simulated power cuts need: remove it, and make \
         it again with `mknod -m 666 /dev/fuse c 10 229`"
    )]
    OtherDevice,
    /// The account may not mount.
    #[error(
        "this account may not mount a FUSE file system, which simulated power cuts need: run as \
         root, or let it open /dev/fuse (`chmod 666 /dev/fuse`) and make user namespaces; start \
         a container with `--device /dev/fuse --cap-add SYS_ADMIN`"
    )]
    NotPermitted,
    /// The disk is mounted.
    #[error("the simulated disk is already mounted: unmount it before it is mounted at {}", _0.display())]
    Mounted(PathBuf),
    /// A program is not installed.
    #[error(
        "the program {_0} is missing, which power cuts below a file system need: install it with \
         `apt-get install {_1}`"
    )]
    NoProgram(&'static str, &'static str),
    /// The process may not attach loop devices.
    #[error(
        "this process may not attach loop devices, which power cuts below a file system need: run \
         as root, not in a user namespace, and load the module with `modprobe loop`; start a \
         container with `--privileged`"
    )]
    NoLoop,
    /// A program failed: its name and output.
    #[error("{_0} failed: {_1}: check the options of the file system")]
    Program(&'static str, String),
    /// The kernel refuses for another reason.
    #[error(
        "cannot set up the simulated disk at {}: {_1}: name an empty directory that exists, and \
         give the disk enough memory",
        _0.display()
    )]
    Refused(PathBuf, io::Error),
}

impl MountError {
    /// Returns the error of a system call of the mount at `at`.
    pub(crate) fn new(at: &Path, error: Errno) -> Self {
        match error {
            Errno::PERM | Errno::ACCESS => Self::NotPermitted,
            Errno::NODEV | Errno::NXIO => Self::NoDevice,
            error => Self::Refused(at.to_owned(), error.into()),
        }
    }
}
