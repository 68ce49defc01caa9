//! A real file system on a recorded image: power cuts below ext4, XFS or btrfs.
//!
//! The image is a file of a [`Disk`], and a loop device is attached to it. Every flush of the file
//! system arrives as a sync of the image. States of the device share the image's pages, and any
//! number of them follows from one recording.
//!
//! Loop devices are those of the whole host, so `mount` attaches them in a way that the kernel
//! detaches them with the mount. In a mount and PID namespace a kill leaves nothing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use child::Role;
use rustix::fs::{Access, access, syncfs};
use rustix::mount::{UnmountFlags, unmount};

use crate::disk::Disk;
use crate::error::MountError;
use crate::inode::{Body, Owner};
use crate::mount::Mounted;
use crate::pending::Name;
use crate::survival::Survival;
use crate::tree::{Names, ROOT};

/// The device by which loop devices are made. Source: loop(4).
const LOOP_CONTROL: &str = "/dev/loop-control";
/// The accounts of the first user namespace, the only one whose root may mount a device.
///
/// Source: user_namespaces(7).
const ACCOUNTS: (&str, [&str; 3]) = ("/proc/self/uid_map", ["0", "0", "4294967295"]);
/// Name of the recorded image.
const IMAGE: &str = "disk.img";

/// The kind of file system on a recorded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsKind {
    /// ext4.
    Ext4,
    /// XFS, whose smallest size is 300 MiB.
    Xfs,
    /// btrfs; two of its states cannot be mounted at the same time.
    Btrfs,
}

/// The file system to make on a recorded image.
#[derive(Clone, Debug)]
pub struct BlockOptions {
    /// Kind of the file system.
    pub kind: FsKind,
    /// Options of `mount`, such as `nobarrier`.
    pub mount: Vec<String>,
    /// Size of the image in bytes.
    pub size_bytes: u64,
    /// Limit of memory in bytes, for the image and for all recorded changes.
    pub limit_bytes: u64,
}

/// A file system on a recorded image.
#[derive(Debug)]
pub struct BlockDisk {
    options: BlockOptions,
    disk: Disk,
    mounted: Mounted,
    /// Inode of the image.
    ino: u64,
}

/// A mounted file system on an image; dropping it unmounts the file system.
///
/// It has to be dropped before its [`BlockDisk`], or the file system loses its device.
#[derive(Debug)]
pub struct Attached {
    at: PathBuf,
    /// Image to remove after the unmount.
    state: Option<PathBuf>,
}

impl FsKind {
    /// Returns the name for `mount`.
    const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// Returns the program that makes the file system, and Debian's package with it.
    const fn mkfs(self) -> (&'static str, &'static str) {
        match self {
            Self::Ext4 => ("mkfs.ext4", "e2fsprogs"),
            Self::Xfs => ("mkfs.xfs", "xfsprogs"),
            Self::Btrfs => ("mkfs.btrfs", "btrfs-progs"),
        }
    }
}

impl BlockDisk {
    /// Returns whether this process could use a recorded image; mounts nothing.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn check(kind: FsKind) -> Result<(), MountError> {
        for (program, package) in [kind.mkfs(), ("mount", "mount")] {
            child::find(program).ok_or(MountError::NoProgram(program, package))?;
        }
        let (map, all) = ACCOUNTS;
        let has_all = fs::read_to_string(map).is_ok_and(|map| map.split_whitespace().eq(all));
        let may_attach = access(LOOP_CONTROL, Access::READ_OK | Access::WRITE_OK).is_ok();
        if !has_all || !may_attach {
            return Err(MountError::NoLoop);
        }
        Disk::check()
    }

    /// Makes the file system on a new image, which is mounted at `dir` as a file.
    ///
    /// # Errors
    /// What is missing, or the output of a failed program.
    pub fn create(dir: &Path, options: BlockOptions) -> Result<Self, MountError> {
        Self::check(options.kind)?;
        let disk = Disk::new(Names::Own, options.limit_bytes);
        let mounted = disk.mount(dir)?;
        let image = mounted.path().join(IMAGE);
        let refused = |error| MountError::Refused(dir.to_owned(), error);
        let file = File::create_new(&image).map_err(refused)?;
        file.set_len(options.size_bytes).map_err(refused)?;
        let ino = file.metadata().map_err(refused)?.ino();
        // `-F` of mke2fs is `-f` of the others: the device is a file.
        let force = if options.kind == FsKind::Ext4 { "-F" } else { "-f" };
        let args = [OsStr::new("-q"), OsStr::new(force), image.as_os_str()];
        run(options.kind.mkfs().0, args.into_iter())?;
        disk.sync_all();
        Ok(Self { options, disk, mounted, ino })
    }

    /// Mounts the file system at an existing directory.
    ///
    /// # Errors
    /// The output of `mount`.
    pub fn mount(&self, at: &Path) -> Result<Attached, MountError> {
        self.attach(IMAGE, at)?;
        Ok(Attached { at: at.to_owned(), state: None })
    }

    /// Starts the recording: the content of the mounted file system so far is on the device.
    ///
    /// # Errors
    /// The error of the sync.
    pub fn start_recording(&self, mounted: &Attached) -> Result<(), MountError> {
        let synced = File::open(&mounted.at).and_then(|file| Ok(syncfs(file)?));
        synced.map_err(|error| MountError::Refused(mounted.at.clone(), error))?;
        if let Ok(contents) = self.disk.state().tree.contents(self.ino) {
            contents.record();
        }
        Ok(())
    }

    /// Returns the number of recorded page changes and flushes so far.
    #[must_use]
    pub fn sequence(&self) -> usize {
        self.disk.state().tree.contents(self.ino).map_or(0, |contents| contents.recorded())
    }

    /// Mounts the file system as a power cut after `position` records would have left it.
    ///
    /// The device has everything before the last flush, and of the later page changes what
    /// `survival` leaves. The mount replays the journal.
    ///
    /// # Errors
    /// The output of `mount`, if the file system refuses this state.
    pub fn restore(
        &self,
        position: usize,
        survival: Survival,
        at: &Path,
    ) -> Result<Attached, MountError> {
        let name = {
            let tree = &mut self.disk.state().tree;
            let contents = tree.contents(self.ino).map_err(|error| self.refused(error))?;
            let state = contents.restored(position, &|record| survival.draw(0, record));
            let name = format!("state-{}.img", tree.next_cookie);
            let owner = Owner { perm: 0o600, uid: 0, gid: 0 };
            let at = Name { dir: ROOT, name: name.clone().into() };
            tree.make(&at, Body::File(state), owner).map_err(|error| self.refused(error))?;
            name
        };
        let attached = Attached { at: at.to_owned(), state: Some(self.mounted.path().join(&name)) };
        self.attach(&name, at)?;
        Ok(attached)
    }

    /// Attaches a loop device to an image and mounts it.
    fn attach(&self, image: &str, at: &Path) -> Result<(), MountError> {
        let kind = self.options.kind;
        let mut options = vec!["loop"];
        // A state has the UUID of the image, which may be mounted, too.
        options.extend(Some("nouuid").filter(|_| kind == FsKind::Xfs));
        options.extend(self.options.mount.iter().map(String::as_str));
        let (options, image) = (options.join(","), self.mounted.path().join(image));
        let args = ["-t", kind.name(), "-o", &options].map(OsStr::new);
        run("mount", args.into_iter().chain([image.as_os_str(), at.as_os_str()]))
    }

    /// Returns the error of an image that cannot be read or made.
    fn refused(&self, error: fuser::Errno) -> MountError {
        MountError::Refused(
            self.mounted.path().to_owned(),
            std::io::Error::from_raw_os_error(error.code()),
        )
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // The unmount of a busy file system ends when the last of its files is closed.
        unmount(&self.at, UnmountFlags::empty())
            .or_else(|_busy| unmount(&self.at, UnmountFlags::DETACH))
            .ok();
        if let Some(state) = &self.state {
            fs::remove_file(state).ok();
        }
    }
}

/// Runs a program to its end.
fn run<'a>(program: &'static str, args: impl Iterator<Item = &'a OsStr>) -> Result<(), MountError> {
    let failed = |text: String| MountError::Program(program, text.trim().to_owned());
    let output = child::command(Role::Program, program).args(args).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
}
