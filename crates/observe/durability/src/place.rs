//! Where the data of a store are while it is cut: a directory, or the file system that forgets.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crashfs::{Disk, Loss, LossKind, Mounted, Names, Survival};
use model::{CutKind, CutLevel, Forgotten, Survivors};

/// Largest data of a store, bytes.
///
/// Our choice: five times the largest new server (MySQL 8, 200 MB), and what a second of writes
/// adds. All of it is memory.
const BYTES_MAX: u64 = 2 << 30;
/// Most forgotten changes that are recorded of a cut.
const FORGOTTEN_MAX: usize = 5;

/// The place of a store's data.
pub(crate) struct Place {
    kind: CutKind,
    /// The directory.
    pub(crate) dir: PathBuf,
    disk: Option<Disk>,
    mounted: Option<Mounted>,
}

impl Place {
    /// Makes an empty one in a directory.
    pub(crate) fn new(kind: CutKind, parent: &Path) -> io::Result<Self> {
        let dir = parent.join("store");
        fs::create_dir(&dir)?;
        let mut place = Self { kind, dir, disk: None, mounted: None };
        if kind.level != CutLevel::Process {
            let names = if kind.is_strict { Names::Strict } else { Names::Own };
            place.disk = Some(Disk::new(names, BYTES_MAX));
            place.mount()?;
        }
        Ok(place)
    }

    fn mount(&mut self) -> io::Result<()> {
        if let Some(disk) = &self.disk {
            self.mounted = Some(disk.mount(&self.dir).map_err(io::Error::other)?);
        }
        Ok(())
    }

    /// Makes what is there survive every cut.
    pub(crate) fn sync(&self) {
        self.disk.iter().for_each(Disk::sync_all);
    }

    /// Returns how often something was synced; `None` where it is not observed.
    pub(crate) fn syncs(&self) -> Option<u64> {
        self.disk.as_ref().map(Disk::syncs)
    }

    /// Takes what was not synced, and refuses every later change; returns what was forgotten.
    ///
    /// Every process that writes has been stopped. What mapped memory holds is written before,
    /// where some of it may survive.
    pub(crate) fn cut(&self, seed: u64) -> io::Result<Vec<Forgotten>> {
        let Some(disk) = &self.disk else { return Ok(Vec::new()) };
        let survival = match self.kind.survivors {
            Survivors::Nothing => Survival::Nothing,
            Survivors::Half => Survival::Subset { seed },
            Survivors::Everything => Survival::Everything,
        };
        if self.kind.survivors != Survivors::Nothing {
            write_back_all(&self.dir)?;
        }
        let mut forgotten: Vec<_> = disk.cut(survival).losses.iter().map(record).collect();
        forgotten.sort_by_key(|change| std::cmp::Reverse(change.bytes));
        forgotten.truncate(FORGOTTEN_MAX);
        Ok(forgotten)
    }

    /// Lets the state after the cut be opened: the kernel's caches of the one before are gone.
    pub(crate) fn restore(&mut self) -> io::Result<()> {
        self.mounted = None;
        self.disk.iter().for_each(Disk::thaw);
        self.mount()
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
