//! Mounts a disk through FUSE, without helper programs.
//!
//! A mount is made detached and then moved to its directory, so that each refusal has its own
//! error. Source: fsopen(2), fsmount(2), linux/fuse.h.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{CWD, Mode, OFlags, fstat, major, minor, open};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change,
    move_mount, unmount,
};
use rustix::process::{geteuid, getgid, getuid};

use crate::disk::Disk;
use crate::error::MountError;
use crate::requests::Requests;
use crate::serving::serve;

/// The device of FUSE.
const DEVICE: &str = "/dev/fuse";
/// Its major and minor number. Source: Linux, admin-guide/devices.txt.
const NUMBER: [u32; 2] = [10, 229];

/// A mounted disk; dropping it detaches the mount.
///
/// Requests through files that are still open then fail.
#[derive(Debug)]
pub struct Mounted {
    disk: Disk,
    at: PathBuf,
}

impl Mounted {
    /// Returns the disk.
    pub const fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Returns the directory of the mount.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.at
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The mount can be gone already, with its namespace or by `umount`.
        unmount(&self.at, UnmountFlags::DETACH).ok();
        self.disk.state().end_mount();
    }
}

impl Disk {
    /// Returns whether this process could mount a disk; mounts nothing.
    ///
    /// An ordinary account mounts in a user namespace, which is not made here: only the device is
    /// opened.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn check() -> Result<(), MountError> {
        let at = Path::new("a directory");
        match geteuid().is_root() {
            true => connect(at).map(drop),
            false => open_device(at).map(drop),
        }
    }

    /// Mounts the disk at an existing directory, for all accounts, until the result is dropped.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn mount(&self, at: &Path) -> Result<Mounted, MountError> {
        let number =
            self.state().begin_mount().ok_or_else(|| MountError::Mounted(at.to_owned()))?;
        match attach(self, number, at) {
            Ok(at) => Ok(Mounted { disk: self.clone(), at }),
            Err(error) => {
                self.state().end_mount();
                Err(error)
            }
        }
    }
}

/// Moves the calling thread into a mount namespace, with all that it starts later.
///
/// Mounts made there are invisible to others, and end with the last thread and process in it.
///
/// # Errors
/// [`MountError::NotPermitted`], or the kernel's refusal.
pub fn enter_namespace() -> Result<(), MountError> {
    let refused = |error: Errno| MountError::new(Path::new("/"), error);
    let entered = unshare(CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWNS);
    entered.map_err(|error| refused(Errno::from_raw_os_error(error as i32)))?;
    // Later mounts of the host are visible, and none of this namespace leaves it.
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(refused)
}

/// Serves a disk at a directory and returns the absolute path of the directory.
fn attach(disk: &Disk, number: u64, at: &Path) -> Result<PathBuf, MountError> {
    let refused = |error| MountError::Refused(at.to_owned(), error);
    let target = at.canonicalize().map_err(refused)?;
    let (device, detached) = connect(at)?;
    serve(Requests::new(disk.clone(), number), device).map_err(refused)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    let moved = move_mount(&detached, "", CWD, &target, flags);
    moved.map_err(|error| MountError::new(at, error))?;
    Ok(target)
}

fn open_device(at: &Path) -> Result<OwnedFd, MountError> {
    let device = open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let device = device.map_err(|error| match error {
        Errno::NOENT => MountError::NoDevice,
        Errno::ISDIR => MountError::OtherDevice,
        error => MountError::new(at, error),
    })?;
    let number = fstat(&device).map_err(|error| MountError::new(at, error))?.st_rdev;
    match [major(number), minor(number)] {
        NUMBER => Ok(device),
        _ => Err(MountError::OtherDevice),
    }
}

/// Returns a connection to the kernel and its mount, which is attached nowhere.
fn connect(at: &Path) -> Result<(OwnedFd, OwnedFd), MountError> {
    let device = open_device(at)?;
    let configure = || {
        let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "source", "crashfs")?;
        fsconfig_set_string(&context, "subtype", "crashfs")?;
        fsconfig_set_string(&context, "fd", device.as_raw_fd().to_string())?;
        fsconfig_set_string(&context, "rootmode", "40755")?;
        fsconfig_set_string(&context, "user_id", getuid().as_raw().to_string())?;
        fsconfig_set_string(&context, "group_id", getgid().as_raw().to_string())?;
        // Servers run under other accounts, and the kernel checks permissions.
        fsconfig_set_flag(&context, "allow_other")?;
        fsconfig_set_flag(&context, "default_permissions")?;
        fsconfig_create(&context)?;
        let attr = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attr)
    };
    let mount = configure().map_err(|error: Errno| MountError::new(at, error))?;
    Ok((device, mount))
}
