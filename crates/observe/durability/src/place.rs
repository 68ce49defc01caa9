//! Where the data of a store are while it is cut: a directory, or the file system that forgets.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crashfs::{
    Attached, BlockDisk, BlockOptions, Disk, FsKind, Loss, LossKind, Mounted, Names, Survival,
};
use model::{CutFileSystem, CutKind, CutLevel, Forgotten, Survivors};

/// Largest data of a store, bytes.
///
/// Our choice: five times the largest new server (MySQL 8, 200 MB), and what a second of writes
/// adds. All of it is memory.
const BYTES_MAX: u64 = 2 << 30;
/// Size of a disk; the image is sparse.
const IMAGE_BYTES: u64 = 1 << 30;
/// Most forgotten changes that are recorded of a cut.
const FORGOTTEN_MAX: usize = 5;

/// The place of a store's data.
pub(crate) struct Place {
    kind: CutKind,
    /// The directory.
    pub(crate) dir: PathBuf,
    store: Store,
}

/// What holds the data. A mount is dropped before what it mounts.
enum Store {
    Directory,
    Files { mounted: Option<Mounted>, disk: Disk },
    Blocks { attached: Option<Attached>, disk: BlockDisk },
}

impl Place {
    /// Makes an empty one in a directory.
    pub(crate) fn new(kind: CutKind, parent: &Path) -> io::Result<Self> {
        let dir = parent.join("store");
        fs::create_dir(&dir)?;
        let store = match kind.level {
            CutLevel::Process => Store::Directory,
            CutLevel::File => {
                let names = if kind.is_strict { Names::Strict } else { Names::Own };
                let disk = Disk::new(names, BYTES_MAX);
                let mounted = Some(disk.mount(&dir).map_err(io::Error::other)?);
                Store::Files { mounted, disk }
            }
            CutLevel::Block => {
                let images = parent.join("images");
                fs::create_dir(&images)?;
                let options = block_options(kind.file_system.unwrap_or_default());
                let disk = BlockDisk::create(&images, options).map_err(io::Error::other)?;
                let attached = Some(disk.mount(&dir).map_err(io::Error::other)?);
                Store::Blocks { attached, disk }
            }
        };
        Ok(Self { kind, dir, store })
    }

    /// Makes what is there survive every cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match &self.store {
            Store::Directory => {}
            Store::Files { disk, .. } => disk.sync_all(),
            Store::Blocks { attached, disk } => {
                let started = attached.as_ref().map(|it| disk.start_recording(it));
                started.transpose().map_err(io::Error::other)?;
            }
        }
        Ok(())
    }

    /// Returns how often something was synced; `None` where it is not observed.
    pub(crate) fn syncs(&self) -> Option<u64> {
        match &self.store {
            Store::Files { disk, .. } => Some(disk.syncs()),
            Store::Directory | Store::Blocks { .. } => None,
        }
    }

    /// Lets the next sync of a file with unsynced data fail once.
    pub(crate) fn fail_fsync(&self) {
        if let Store::Files { disk, .. } = &self.store {
            disk.fail_fsync();
        }
    }

    /// Returns whether a sync is still to fail.
    pub(crate) fn is_fsync_to_fail(&self) -> bool {
        matches!(&self.store, Store::Files { disk, .. } if disk.is_fsync_to_fail())
    }

    /// Returns what survives of changes that were not synced.
    const fn survival(&self, seed: u64) -> Survival {
        match self.kind.survivors {
            Survivors::Nothing => Survival::Nothing,
            Survivors::Half => Survival::Subset { seed },
            Survivors::Everything => Survival::Everything,
        }
    }

    /// Returns the number of changes that a recorded disk has so far.
    pub(crate) fn position(&self) -> usize {
        match &self.store {
            Store::Blocks { disk, .. } => disk.sequence(),
            Store::Directory | Store::Files { .. } => 0,
        }
    }

    /// Takes what was not synced, and refuses every later change; returns what was forgotten.
    ///
    /// Every process that writes has been stopped. What mapped memory holds is written before,
    /// where some of it may survive. A recorded disk is not changed.
    pub(crate) fn cut(&self, seed: u64) -> io::Result<Vec<Forgotten>> {
        let survives = self.survival(seed);
        match &self.store {
            Store::Directory | Store::Blocks { .. } => Ok(Vec::new()),
            Store::Files { disk, .. } => {
                if self.kind.survivors != Survivors::Nothing {
                    write_back_all(&self.dir)?;
                }
                let mut forgotten: Vec<_> = disk.cut(survives).losses.iter().map(record).collect();
                forgotten.sort_by_key(|change| std::cmp::Reverse(change.bytes));
                forgotten.truncate(FORGOTTEN_MAX);
                Ok(forgotten)
            }
        }
    }

    /// Lets the state after the cut be opened: the kernel's caches of the one before are gone.
    ///
    /// A disk has the state after a cut at this position of its recording.
    pub(crate) fn restore(&mut self, position: usize, seed: u64) -> io::Result<()> {
        let survival = self.survival(seed);
        match &mut self.store {
            Store::Directory => {}
            Store::Files { mounted, disk } => {
                *mounted = None;
                disk.thaw();
                *mounted = Some(disk.mount(&self.dir).map_err(io::Error::other)?);
            }
            Store::Blocks { attached, disk } => {
                *attached = None;
                let restored = disk.restore(position, survival, &self.dir);
                *attached = Some(restored.map_err(io::Error::other)?);
            }
        }
        Ok(())
    }
}

/// Returns the kind of a file system.
pub(crate) const fn fs_kind(file_system: CutFileSystem) -> FsKind {
    match file_system {
        CutFileSystem::Ext4 | CutFileSystem::Ext4Nobarrier => FsKind::Ext4,
        CutFileSystem::Xfs => FsKind::Xfs,
        CutFileSystem::Btrfs => FsKind::Btrfs,
    }
}

fn block_options(file_system: CutFileSystem) -> BlockOptions {
    let nobarrier = (file_system == CutFileSystem::Ext4Nobarrier).then(|| "nobarrier".to_owned());
    BlockOptions {
        kind: fs_kind(file_system),
        mount: nobarrier.into_iter().collect(),
        size_bytes: IMAGE_BYTES,
        limit_bytes: BYTES_MAX,
    }
}

/// Returns the record of a lost change.
fn record(loss: &Loss) -> Forgotten {
    let path = loss.path.display().to_string();
    let (what, offset, bytes) = match &loss.kind {
        LossKind::Data { offset, bytes } => ("data".to_owned(), Some(*offset), Some(*bytes)),
        LossKind::Size { bytes } => ("the size of a file".to_owned(), None, Some(*bytes)),
        LossKind::Created => ("the name of a new file".to_owned(), None, None),
        LossKind::Removed => ("the removal of a file".to_owned(), None, None),
        LossKind::Renamed { from } => (format!("the rename from {}", from.display()), None, None),
    };
    Forgotten { path, what, offset, bytes }
}

/// Writes the dirty pages of every file below a directory, without a sync.
///
/// Source: Linux, fs/fuse/file.c, `fuse_flush`.
fn write_back_all(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            write_back_all(&path)?;
        } else if path.is_file() {
            // The kernel writes the pages of a file when a descriptor of it is closed.
            drop(File::open(&path)?);
        }
    }
    Ok(())
}
