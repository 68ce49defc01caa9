//! The strongest durability class that a file system allows.

use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use model::{Durability, DurabilityBasis};

use crate::block_device::{BlockDevice, file_name, names_in, nearest_existing};
use crate::kernel_file::read_trimmed;
use crate::mount::{Mount, holding, mounts};

/// File systems in memory.
///
/// Source: Linux, Documentation/filesystems/tmpfs.rst and ramfs-rootfs-initramfs.rst.
const IN_MEMORY: [&str; 5] = ["devtmpfs", "hugetlbfs", "ramfs", "rootfs", "tmpfs"];
/// Prefixes of the names of block devices in memory, before their number.
///
/// Source: Linux, Documentation/admin-guide/blockdev/{ramdisk,zram}.rst.
const MEMORY_DEVICES: [&str; 2] = ["ram", "zram"];
/// Mount options with which a sync does not reach the medium.
///
/// Source: Linux, Documentation/admin-guide/ext4.rst (`nobarrier`), filesystems/overlayfs.rst
/// (`volatile`, which newer kernels report as `fsync=volatile`), filesystems/f2fs.rst
/// (`fsync_mode`); btrfs(5).
const UNSYNCED: [&str; 5] =
    ["barrier=0", "fsync=volatile", "fsync_mode=nobarrier", "nobarrier", "volatile"];
/// Layers of file systems and devices that are followed: a loop device over an overlay is four.
const MAX_DEPTH: u32 = 8;

/// Returns the file system of a data directory with the strongest class that it allows.
///
/// `None` where the kernel reports no mounts.
pub fn storage_basis(dir: &Path) -> Option<DurabilityBasis> {
    let below = Storage::of_this_machine().below(dir, MAX_DEPTH)?;
    Some(DurabilityBasis { evidence: format!("data on {}", below.evidence), ..below })
}

/// Returns the file system that a directory, or its nearest parent, lies on: `ext4 /dev/vda at /`.
pub fn file_system(dir: &Path) -> Option<String> {
    let mounts = mounts();
    let Mount { kind, source, point, .. } = holding(&mounts, &nearest_existing(dir))?;
    Some(format!("{kind} {source} at {}", point.display()))
}

/// The mounts and devices of a machine.
struct Storage<'s> {
    mounts: Vec<Mount>,
    sys: &'s Path,
}

impl Storage<'_> {
    fn of_this_machine() -> Self {
        Self { mounts: mounts(), sys: Path::new("/sys") }
    }

    /// Returns what the file system of a path allows.
    fn below(&self, path: &Path, depth: u32) -> Option<DurabilityBasis> {
        let path = nearest_existing(path);
        let mount = holding(&self.mounts, &path)?;
        let kind = &mount.kind;
        if IN_MEMORY.contains(&kind.as_str()) {
            return Some(in_memory(kind));
        }
        // Source: crashfs, `mount.rs`.
        if kind == "fuse.crashfs" {
            let name = "crashfs (a disk simulated in memory: its throughput is not this machine's)";
            return Some(DurabilityBasis { class: Durability::None, ..durable(name.to_owned()) });
        }
        let all = || mount.options.iter().chain(&mount.mount_options);
        let upper = all().find_map(|option| option.strip_prefix("upperdir=")).map(Path::new);
        // A relative one begins where it was mounted, which is not known.
        let layer = upper.filter(|it| depth > 0 && it.is_absolute() && it.exists());
        let layer = layer.and_then(|upper| self.below(upper, depth - 1));
        let is_overlay = kind.contains("overlay");
        let device = layer.or_else(|| {
            (!is_overlay).then_some(())?;
            let device = BlockDevice::numbered(self.sys, &mount.number);
            let device = device.or_else(|_unnumbered| BlockDevice::under(&path)).ok()?;
            Some(self.device(&device.sys_dir, depth))
        });
        let unsynced = all().find(|option| UNSYNCED.contains(&option.as_str()));
        let found = match device {
            Some(below) => on(kind, below),
            None if is_overlay => {
                let upper = upper.unwrap_or(Path::new("(unnamed)")).display();
                let name = format!("{kind}, whose upper directory {upper} is not visible here");
                DurabilityBasis { is_assumed: true, ..durable(name) }
            }
            None => durable(kind.clone()),
        };
        let Some(option) = unsynced.filter(|_| found.class > Durability::Os) else {
            return Some(found);
        };
        let name = &found.evidence;
        let evidence = format!("{name} mounted with {option} (syncs are not carried out)");
        Some(DurabilityBasis { class: Durability::Os, evidence, ..found })
    }

    /// Returns what a block device allows: the weakest of what it is stacked on.
    fn device(&self, sys_dir: &Path, depth: u32) -> DurabilityBasis {
        let name = file_name(sys_dir).unwrap_or_default();
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if MEMORY_DEVICES.contains(&kind) {
            return in_memory(&name);
        }
        if depth == 0 {
            return durable(name);
        }
        let file = read_trimmed(sys_dir.join("loop/backing_file"));
        let file = file.and_then(|file| self.below(Path::new(&file), depth - 1));
        let slaves = sys_dir.join("slaves");
        let slaves = names_in(&slaves).into_iter().filter_map(|slave| {
            let slave = slaves.join(slave).canonicalize().ok()?;
            Some(self.device(&slave, depth - 1))
        });
        let below = file.into_iter().chain(slaves).min_by_key(|it| (it.class, !it.is_assumed));
        match below.filter(|it| it.class < Durability::Sync || it.is_assumed) {
            Some(below) => on(&name, below),
            None => durable(name),
        }
    }
}

fn in_memory(name: &str) -> DurabilityBasis {
    DurabilityBasis { class: Durability::None, ..durable(format!("{name} (in memory)")) }
}

/// Returns a file system or device that allows every class.
const fn durable(evidence: String) -> DurabilityBasis {
    DurabilityBasis { evidence, class: Durability::Sync, is_assumed: false }
}

/// Returns a file system or device that allows what the one below it allows.
fn on(name: &str, below: DurabilityBasis) -> DurabilityBasis {
    DurabilityBasis { evidence: format!("{name} on {}", below.evidence), ..below }
}

/// The files that this process has open.
#[derive(Debug, Default)]
pub struct OpenFiles(BTreeSet<(RawFd, PathBuf)>);

impl OpenFiles {
    /// Returns those that are open now.
    pub fn now() -> Self {
        let file = |name: String| {
            let link = std::fs::read_link(Path::new("/proc/self/fd").join(&name)).ok()?;
            Some((name.parse().ok()?, link))
        };
        // A removed file, a pipe and a socket have no path that exists.
        let is_file = |(_, path): &(RawFd, PathBuf)| path.is_absolute() && path.is_file();
        Self(
            names_in(Path::new("/proc/self/fd"))
                .into_iter()
                .filter_map(file)
                .filter(is_file)
                .collect(),
        )
    }

    /// Returns the places outside of the data directory where a file was opened since, which allow
    /// less than a sync: a log there is lost, whatever the data directory allows.
    pub fn weak_places_since(&self, dir: &Path) -> Vec<DurabilityBasis> {
        let storage = Storage::of_this_machine();
        let opened = Self::now().0.into_iter().filter(|file| !self.0.contains(file));
        let places: BTreeSet<PathBuf> = opened
            .filter(|(_, path)| !path.starts_with(dir))
            .filter_map(|(_, path)| path.parent().map(Path::to_owned))
            .collect();
        let weak = |place: &PathBuf| {
            let below = storage.below(place, MAX_DEPTH)?;
            let name = format!("an open file in {}", place.display());
            (below.class < Durability::Sync).then(|| on(&name, below))
        };
        places.iter().filter_map(weak).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::mount::parse_mounts;

    /// Devices: a disk, a loop device over a file of each kind, memory, and volumes over them.
    fn made_up_sys() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let at = |path: &str| sys.path().join(path);
        let devices = [
            ("8:0", "sda", None),
            ("7:0", "loop0", Some("/dev/shm/disk.img")),
            ("7:1", "loop1", Some("/var/disk.img (deleted)")),
            ("1:0", "ram0", None),
            ("252:0", "zram0", None),
            ("253:0", "dm-0", None),
            ("253:1", "dm-1", None),
        ];
        fs::create_dir_all(at("dev/block")).unwrap();
        for (number, name, file) in devices {
            let dir = at("devices").join(name);
            fs::create_dir_all(dir.join("slaves")).unwrap();
            symlink(&dir, at("dev/block").join(number)).unwrap();
            if let Some(file) = file {
                fs::create_dir(dir.join("loop")).unwrap();
                fs::write(dir.join("loop/backing_file"), format!("{file}\n")).unwrap();
            }
        }
        for (volume, disk) in [("dm-0", "sda"), ("dm-1", "sda"), ("dm-1", "loop0")] {
            symlink(at("devices").join(disk), at("devices").join(volume).join("slaves").join(disk))
                .unwrap();
        }
        sys
    }

    /// Returns what a mount at `/` allows, next to the tmpfs that every machine has.
    fn allowed(mount: &str) -> (Durability, String) {
        let sys = made_up_sys();
        let text = format!("1 0 {mount}\n2 1 0:9 / /dev/shm rw - tmpfs tmpfs rw\n");
        let storage = Storage { mounts: parse_mounts(&text), sys: sys.path() };
        let found = storage.below(Path::new("/"), MAX_DEPTH).unwrap();
        assert_eq!(found.is_assumed, found.evidence.contains("not visible"), "{found:?}");
        (found.class, found.evidence)
    }

    #[test]
    fn a_drive_allows_every_class() {
        for (mount, name) in [
            ("8:0 / / rw - ext4 /dev/sda rw", "ext4 on sda"),
            ("253:0 / / rw - xfs /dev/dm-0 rw", "xfs on dm-0"),
            (
                "0:40 / / rw - overlay none rw,lowerdir=/a,upperdir=/no/such/dir",
                "overlay, whose upper directory /no/such/dir is not visible here",
            ),
            (
                "0:40 / / rw - overlay none rw,lowerdir=l,upperdir=src",
                "overlay, whose upper directory src is not visible here",
            ),
        ] {
            let (class, found) = allowed(mount);
            assert_eq!(class, Durability::Sync, "{mount}");
            assert!(found.starts_with(name), "{found}");
        }
    }

    #[test]
    fn memory_below_any_layer_allows_nothing() {
        for (mount, name) in [
            ("0:40 / / rw - tmpfs none rw", "tmpfs (in memory)"),
            (
                "0:41 / / rw - fuse.crashfs crashfs rw",
                "crashfs (a disk simulated in memory: its throughput is not this machine's)",
            ),
            ("0:40 / / rw - ramfs none rw", "ramfs (in memory)"),
            ("1:0 / / rw - ext4 /dev/ram0 rw", "ext4 on ram0 (in memory)"),
            ("252:0 / / rw - ext4 /dev/zram0 rw", "ext4 on zram0 (in memory)"),
            ("7:0 / / rw - xfs /dev/loop0 rw", "xfs on loop0 on tmpfs (in memory)"),
            ("253:1 / / rw - xfs /dev/dm-1 rw", "xfs on dm-1 on loop0 on tmpfs (in memory)"),
            ("0:40 / / rw - overlay none rw,upperdir=/dev/shm", "overlay on tmpfs (in memory)"),
        ] {
            assert_eq!(allowed(mount), (Durability::None, name.to_owned()), "{mount}");
        }
        // A loop device over a file of the file system that it holds ends.
        assert_eq!(allowed("7:1 / / rw - ext4 /dev/loop1 rw").0, Durability::Sync);
    }

    #[test]
    fn mounts_that_drop_syncs_survive_the_process_only() {
        for (mount, name) in [
            ("8:0 / / rw - ext4 /dev/sda rw,nobarrier", "ext4 on sda mounted with nobarrier"),
            ("0:40 / / rw - overlay none rw,volatile", "mounted with volatile"),
            ("0:40 / / rw - overlay none rw,fsync=volatile", "mounted with fsync=volatile"),
        ] {
            let (class, found) = allowed(mount);
            assert_eq!(class, Durability::Os, "{mount}");
            assert!(found.contains(name), "{found}");
        }
        assert_eq!(allowed("0:40 / / rw - tmpfs none rw,nobarrier").0, Durability::None);
    }

    #[test]
    fn files_opened_in_memory_outside_of_the_data_are_found() {
        let (Ok(shared), data) = (tempfile::tempdir_in("/dev/shm"), tempfile::tempdir().unwrap())
        else {
            return;
        };
        let file = |dir: &Path, name: &str| fs::File::create(dir.join(name)).unwrap();
        let _inherited = file(shared.path(), "before");
        let before = OpenFiles::now();
        let _own = file(data.path(), "rows");
        assert_eq!(before.weak_places_since(data.path()), []);
        let _log = file(shared.path(), "log");
        let [found] = &before.weak_places_since(data.path())[..] else { panic!("one place") };
        assert_eq!(found.class, Durability::None);
        assert!(found.evidence.contains(&shared.path().display().to_string()), "{found}");
        assert_eq!(before.weak_places_since(shared.path()), []);
    }
}
