//! The block device a directory lies on, found through `/sys`.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::kernel_file::read_trimmed;
use crate::mount::{Mount, holding, mounts};

/// Links in one path. Source: Linux, include/linux/namei.h, `MAXSYMLINKS`.
const LINKS_MAX: u32 = 40;
/// Stacked devices are followed down this far: RAID below LVM below encryption is three.
const MAX_DEPTH: u32 = 8;

/// A whole disk, or a volume stacked on disks (LVM, RAID, encryption).
///
/// Of a partition it is the disk: other partitions' traffic competes for the same device. A
/// stacked volume stands for itself: its counters hold every request, on however many disks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Name: `nvme0n1`, `dm-0`.
    pub name: String,
    /// Its directory in `/sys`.
    pub sys_dir: PathBuf,
}

impl BlockDevice {
    /// Returns the device under a directory, or the reason for none.
    pub(crate) fn under(dir: &Path) -> Result<Self, String> {
        let sys = Path::new("/sys");
        let dir = nearest_existing(dir);
        let number = std::fs::metadata(&dir)
            .map_err(|error| format!("cannot read {}: {error}", dir.display()))?
            .dev();
        // Major number 0 is for file systems that are not one device's.
        if rustix::fs::major(number) != 0 {
            return whole_disk(sys, &number_text(number));
        }
        let mounts = mounts();
        let mount =
            holding(&mounts, &dir).ok_or_else(|| format!("no mount holds {}", dir.display()))?;
        Self::of_mount(sys, mount)
    }

    /// Returns the one device of a file system with an anonymous number, as of btrfs.
    fn of_mount(sys: &Path, mount: &Mount) -> Result<Self, String> {
        let kind = &mount.kind;
        let Some(number) = rdev_of(&mount.source) else {
            return Err(format!(
                "the data is on {kind}, which has no block device: for device counters, put the \
                 data on a file system of a disk"
            ));
        };
        let node = sys.join("dev/block").join(number_text(number));
        let name = node.canonicalize().ok().and_then(|path| file_name(&path));
        let count = name.map_or(0, |name| btrfs_members(sys, &name));
        if count > 1 {
            return Err(format!("the data is on {kind} over {count} devices"));
        }
        whole_disk(sys, &number_text(number))
    }

    /// Returns the device of a mount under this `/sys`, by the mount's number.
    ///
    /// # Errors
    /// When the file system is not one device's, or the device is not there.
    pub fn numbered(sys: &Path, number: &str) -> Result<Self, String> {
        whole_disk(sys, number)
    }

    /// Returns its number as control groups write it: `254:0`.
    pub(crate) fn number(&self) -> Option<String> {
        read_trimmed(self.sys_dir.join("dev"))
    }

    /// Returns the model or kind: `Samsung SSD 990`, `virtio`, `device mapper over virtio`.
    pub fn model(&self) -> Option<String> {
        model_of(&self.sys_dir, MAX_DEPTH)
    }
}

/// Returns the path without links, or that of its nearest ancestor that exists.
///
/// A link to what does not exist yet leads to where that will be made.
pub fn nearest_existing(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_unusable| path.to_owned());
    for _ in 0..LINKS_MAX {
        let ancestor = path.ancestors().find(|it| it.symlink_metadata().is_ok());
        let Some(ancestor) = ancestor else { break };
        match (ancestor.canonicalize(), ancestor.read_link()) {
            (Err(_absent), Ok(target)) => {
                let above = ancestor.parent().and_then(|it| it.canonicalize().ok());
                path = above.unwrap_or_default().join(target);
            }
            (found, _) => return found.unwrap_or_else(|_unusable| ancestor.to_owned()),
        }
    }
    path
}

/// Returns the device number of a block device's file.
fn rdev_of(source: &str) -> Option<u64> {
    if !source.starts_with("/dev/") {
        return None;
    }
    let number = std::fs::metadata(source).ok()?.rdev();
    (number != 0).then_some(number)
}

/// Returns a device number as `/sys` writes it: `254:0`.
fn number_text(number: u64) -> String {
    format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number))
}

/// Returns the disk of a device number: itself, or the disk the partition is on.
fn whole_disk(sys: &Path, number: &str) -> Result<BlockDevice, String> {
    let node = sys.join("dev/block").join(number);
    let sys_dir =
        node.canonicalize().map_err(|error| format!("cannot read {}: {error}", node.display()))?;
    let sys_dir = disk_of(&sys_dir);
    let name = file_name(sys_dir).ok_or_else(|| format!("{} has no name", node.display()))?;
    Ok(BlockDevice { name, sys_dir: sys_dir.to_owned() })
}

/// Returns the directory of the disk a partition's directory lies in.
fn disk_of(sys_dir: &Path) -> &Path {
    let is_partition = sys_dir.join("partition").exists();
    sys_dir.parent().filter(|_| is_partition).unwrap_or(sys_dir)
}

/// Returns how many devices the btrfs file system with a member of this name has.
fn btrfs_members(sys: &Path, name: &str) -> usize {
    let systems = names_in(&sys.join("fs/btrfs"));
    systems
        .iter()
        .map(|id| names_in(&sys.join("fs/btrfs").join(id).join("devices")))
        .find(|members| members.contains(name))
        .map_or(0, |members| members.len())
}

/// Returns the model of the disk in `sys_dir`, or what it is stacked on.
fn model_of(sys_dir: &Path, depth: u32) -> Option<String> {
    let below = names_in(&sys_dir.join("slaves"));
    if below.is_empty() || depth == 0 {
        let driver = sys_dir.join("device/driver").canonicalize().ok();
        let driver = driver.and_then(|path| file_name(&path));
        let driver = driver.map(|name| name.trim_end_matches("_blk").to_owned());
        return read_trimmed(sys_dir.join("device/model")).or(driver);
    }
    let kind = match read_trimmed(sys_dir.join("md/level")) {
        Some(level) => format!("md {level}"),
        None => "device mapper".to_owned(),
    };
    let models: BTreeSet<String> = below
        .iter()
        .filter_map(|name| sys_dir.join("slaves").join(name).canonicalize().ok())
        .filter_map(|path| model_of(disk_of(&path), depth - 1))
        .collect();
    if models.is_empty() {
        return Some(kind);
    }
    let models: Vec<String> = models.into_iter().collect();
    Some(format!("{kind} over {}", models.join(" and ")))
}

/// Returns the names in a directory; none when it is not there.
pub(crate) fn names_in(dir: &Path) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return BTreeSet::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// Returns the last part of a path as text.
pub(crate) fn file_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A made-up `/sys` with a disk of two partitions and an encrypted volume on the second.
    fn made_up_sys() -> tempfile::TempDir {
        let sys = tempfile::tempdir().expect("a temporary directory");
        let make = |path: &str| fs::create_dir_all(sys.path().join(path)).expect("a directory");
        let write =
            |path: &str| fs::write(sys.path().join(path), "Fast Disk 9 \n").expect("a file");
        let link = |to: &str, path: &str| symlink(to, sys.path().join(path)).expect("a link");
        make("dev/block");
        make("devices/pci/block/sda/device");
        make("devices/pci/block/sda/sda1");
        make("devices/pci/block/sda/sda2");
        make("devices/virtual/block/dm-0/slaves");
        write("devices/pci/block/sda/device/model");
        write("devices/pci/block/sda/sda1/partition");
        write("devices/pci/block/sda/sda2/partition");
        link("../../../../pci/block/sda/sda2", "devices/virtual/block/dm-0/slaves/sda2");
        link("../../devices/pci/block/sda", "dev/block/8:0");
        link("../../devices/pci/block/sda/sda1", "dev/block/8:1");
        link("../../devices/virtual/block/dm-0", "dev/block/253:0");
        for (id, members) in [("one", &["sda1"][..]), ("two", &["sdb", "sdc"])] {
            for member in members {
                make(&format!("fs/btrfs/{id}/devices/{member}"));
            }
        }
        sys
    }

    #[test]
    fn a_partition_stands_for_its_disk_and_a_volume_for_itself() {
        let sys = made_up_sys();
        let disk = |major: u32, minor: u32| whole_disk(sys.path(), &format!("{major}:{minor}"));
        let partition = disk(8, 1).unwrap();
        assert_eq!(partition, disk(8, 0).unwrap());
        assert_eq!(partition.name, "sda");
        assert_eq!(partition.model().unwrap(), "Fast Disk 9");
        let volume = disk(253, 0).unwrap();
        assert_eq!(volume.name, "dm-0");
        assert_eq!(volume.model().unwrap(), "device mapper over Fast Disk 9");
        assert!(disk(9, 9).unwrap_err().contains("dev/block/9:9"));
    }

    #[test]
    fn file_systems_without_a_device_are_reported_with_a_remedy() {
        let sys = made_up_sys();
        for (kind, source) in [("tmpfs", "tmpfs"), ("overlay", "overlay"), ("nfs4", "host:/x")] {
            let mount = Mount {
                number: "0:22".to_owned(),
                root: "/".into(),
                point: "/".into(),
                kind: kind.to_owned(),
                source: source.to_owned(),
                mount_options: Vec::new(),
                options: Vec::new(),
            };
            let reason = BlockDevice::of_mount(sys.path(), &mount).unwrap_err();
            assert!(
                reason.contains(kind) && reason.contains("put the data on a file system of a disk"),
                "{reason}"
            );
        }
    }

    #[test]
    fn a_btrfs_over_several_devices_is_counted() {
        let sys = made_up_sys();
        assert_eq!(btrfs_members(sys.path(), "sda1"), 1);
        assert_eq!(btrfs_members(sys.path(), "sdc"), 2);
        assert_eq!(btrfs_members(sys.path(), "sdx"), 0);
    }

    #[test]
    fn a_directory_that_is_not_made_yet_lies_where_it_will_be() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        assert_eq!(nearest_existing(&dir.path().join("a/b/c")), real);
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
        };
        link("/proc/absent", "there");
        link("there/too", "link");
        assert_eq!(nearest_existing(&dir.path().join("link/below")), Path::new("/proc"));
        link("loop", "loop");
        assert!(nearest_existing(&dir.path().join("loop")).ends_with("loop"));
    }
}
