//! A raw block device, opened exclusively.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use model::{Access, Bytes, Privilege};
use rustix::fs::{OFlags, major, minor};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::error::DeviceError;
use crate::file::fill;
use crate::fio::Fio;
use crate::job::{Place, WriteTarget};
use crate::other_users::other_use;

/// Places that are read to find what was never written.
///
/// Our choice: a share of 1 % is then found within 0.6 % (two standard errors).
const SAMPLES: u64 = 1000;

/// Bytes read at each place: a page.
const SAMPLE_BYTES: usize = 4096;

/// A block device that nothing else uses; it stays so while this exists.
#[derive(Debug)]
pub struct RawDevice {
    file: File,
    name: String,
    place: Place,
    is_writable: bool,
}

impl RawDevice {
    /// Opens a device exclusively: for reads, or also for writes that destroy what is on it.
    ///
    /// # Errors
    /// When it is not a block device, is mounted, swap, has partitions, or is held by another; for
    /// writes also when it is behind another one, or a process has it open to write.
    pub fn open(path: &Path, is_writable: bool) -> Result<Self, DeviceError> {
        let path = path.canonicalize().map_err(DeviceError::file(path))?;
        let refuse = |reason: String| DeviceError::Refused(path.clone(), reason);
        let metadata = path.metadata().map_err(DeviceError::file(&path))?;
        if !metadata.file_type().is_block_device() {
            return Err(refuse("it is not a block device; give a directory to --path".to_owned()));
        }
        let number = format!("{}:{}", major(metadata.rdev()), minor(metadata.rdev()));
        let sys_dir = Path::new("/sys/dev/block").join(&number);
        let mounts = std::fs::read_to_string("/proc/self/mountinfo")
            .map_err(|error| refuse(format!("its mounts cannot be read: {error}; mount /proc")))?;
        let use_of = Use {
            sys_dir: &sys_dir,
            number: &number,
            path: &path,
            mounts: &mounts,
            swaps: &std::fs::read_to_string("/proc/swaps").unwrap_or_default(),
        };
        let of_disk = std::fs::read_to_string(sys_dir.join("../dev")).unwrap_or_default();
        let of_disk = sys_dir.join("partition").exists().then_some(of_disk);
        let of_disk = of_disk.as_deref().and_then(|text| device_number(text.trim()));
        let numbers: Vec<u64> = of_disk.into_iter().chain([metadata.rdev()]).collect();
        let other_use = || is_writable.then(|| other_use(&numbers)).flatten();
        if let Some(reason) = use_of.reason().or_else(other_use) {
            return Err(refuse(reason));
        }
        let flags = OFlags::EXCL.union(OFlags::CLOEXEC).bits().cast_signed();
        let file = OpenOptions::new().read(true).write(is_writable).custom_flags(flags).open(&path);
        let file = file.map_err(|error| match error.kind() == ErrorKind::ResourceBusy {
            // Also of a mount in another namespace.
            true => refuse("the kernel reports that it is in use".to_owned()),
            false if error.kind() == ErrorKind::PermissionDenied => {
                let needed = Privilege::BLOCK_DEVICE.to_string();
                let needed = needed.replace("DEVICE", &path.to_string_lossy());
                refuse(format!("{error}; this {needed}"))
            }
            false => DeviceError::File(path.clone(), error),
        })?;
        if file.metadata().map_err(DeviceError::file(&path))?.rdev() != metadata.rdev() {
            return Err(refuse("another device has its name now".to_owned()));
        }
        let sectors = std::fs::read_to_string(sys_dir.join("size")).unwrap_or_default();
        let size = sectors.trim().parse::<u64>().unwrap_or(0).saturating_mul(512);
        if size == 0 {
            return Err(refuse("its size is 0: no medium or no file is attached".to_owned()));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // fio inherits it, so the device stays taken for as long as fio writes.
        fcntl_setfd(&file, FdFlags::empty())
            .map_err(|errno| DeviceError::File(path.clone(), errno.into()))?;
        let descriptor = Some(file.as_raw_fd());
        let place =
            Place { file: path.to_string_lossy().into_owned(), descriptor, size: Bytes(size) };
        Ok(Self { file, name, place, is_writable })
    }

    /// Limits the range used, from the device's start.
    #[must_use]
    pub fn limited(mut self, size: Bytes) -> Self {
        self.place.size = self.place.size.min(size);
        self
    }

    /// Returns its name: `sdb`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Returns the device as jobs name it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Writes a range of it with data that cannot be compressed.
    ///
    /// # Errors
    /// When it may not be written, or those of fio.
    pub fn fill(
        &self,
        fio: &Fio,
        place: &Place,
        goes_on: &mut dyn FnMut(Bytes) -> bool,
    ) -> Result<(), DeviceError> {
        if !self.is_writable {
            let reason = "only reads are permitted: repeat the name after --destroy".to_owned();
            return Err(DeviceError::Refused(self.place.file.clone().into(), reason));
        }
        fill(fio, WriteTarget { place, access: Access::Raw, dir: Path::new("/") }, goes_on)
    }

    /// Returns the share of places in the range that read as zeros, of a thousand.
    ///
    /// A solid state drive returns zeros for what was never written or was discarded. Zeros that
    /// were written count too.
    ///
    /// # Errors
    /// When a place cannot be read.
    pub fn reads_as_zeros(&self) -> Result<f64, DeviceError> {
        zeros(&self.file, self.place.size).map_err(DeviceError::file(Path::new(&self.place.file)))
    }
}

/// Returns the number of a device in a text `major:minor`.
fn device_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the share of places that read as zeros.
fn zeros(file: &File, size: Bytes) -> std::io::Result<f64> {
    let blocks = (size.0 / SAMPLE_BYTES as u64).max(1);
    let mut buffer = [0; SAMPLE_BYTES];
    let (mut zeros, samples) = (0_u32, SAMPLES.min(blocks));
    for at in 0..samples {
        let block = u128::from(at) * u128::from(blocks) / u128::from(samples);
        let offset = u64::try_from(block).unwrap_or(0) * SAMPLE_BYTES as u64;
        let read = file.read_at(&mut buffer, offset)?;
        zeros += u32::from(buffer[..read].iter().all(|byte| *byte == 0));
    }
    Ok(f64::from(zeros) / samples as f64)
}

/// What the kernel reports of a device's use.
struct Use<'a> {
    sys_dir: &'a Path,
    number: &'a str,
    path: &'a Path,
    mounts: &'a str,
    swaps: &'a str,
}

impl Use<'_> {
    /// Returns why it must not be touched; `None` when nothing uses it.
    ///
    /// Source: Linux, Documentation/filesystems/proc.rst, 3.5; Documentation/ABI, `holders`.
    fn reason(&self) -> Option<String> {
        for line in self.mounts.lines() {
            let (place, system) = line.split_once(" - ").unwrap_or((line, ""));
            let place: Vec<&str> = place.split(' ').collect();
            let is_source = system.split(' ').nth(1).is_some_and(|it| Path::new(it) == self.path);
            if place.get(2) == Some(&self.number) || is_source {
                let point = place.get(4).unwrap_or(&"?");
                return Some(format!("it is mounted on {point}; measure there with --path"));
            }
        }
        let swap = |line: &str| line.split_whitespace().next().map(PathBuf::from);
        if self.swaps.lines().filter_map(swap).any(|path| path == self.path) {
            return Some("it is swap space; switch it off with swapoff".to_owned());
        }
        let names = |dir: &Path| {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            let mut names: Vec<String> =
                entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            names
        };
        let holders = names(&self.sys_dir.join("holders"));
        if !holders.is_empty() {
            let holders = holders.join(", ");
            return Some(format!("it is held by {holders} (RAID, LVM or encryption)"));
        }
        let is_partition = |name: &&String| self.sys_dir.join(name).join("partition").exists();
        let partitions: Vec<String> =
            names(self.sys_dir).iter().filter(is_partition).cloned().collect();
        (!partitions.is_empty()).then(|| {
            format!("it has partitions ({}); name an unused partition", partitions.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MOUNTS: &str = "27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw,discard\n\
                          40 27 0:40 / /data rw - btrfs /dev/sdc rw\n";
    const SWAPS: &str = "Filename Type Size Used Priority\n/dev/sdd partition 1024 0 -2\n";

    #[test]
    fn mounted_swapped_held_and_partitioned_devices_are_refused() {
        let sys = tempfile::tempdir().unwrap();
        for dir in ["free", "held/holders/dm-0", "parted/sde1", "parted/queue"] {
            fs::create_dir_all(sys.path().join(dir)).unwrap();
        }
        fs::write(sys.path().join("parted/sde1/partition"), "1\n").unwrap();
        let reason = |dir: &str, number: &str, path: &str| {
            let (sys_dir, path) = (sys.path().join(dir), Path::new(path));
            let (mounts, swaps) = (MOUNTS, SWAPS);
            Use { sys_dir: &sys_dir, number, path, mounts, swaps }.reason()
        };
        assert_eq!(reason("free", "8:16", "/dev/sdb"), None);
        for (dir, number, path, expected) in [
            ("free", "254:0", "/dev/vda", "mounted on /;"),
            ("free", "8:32", "/dev/sdc", "mounted on /data;"),
            ("free", "8:48", "/dev/sdd", "swapoff"),
            ("held", "8:64", "/dev/sde", "held by dm-0"),
            ("parted", "8:64", "/dev/sde", "partitions (sde1)"),
        ] {
            let reason = reason(dir, number, path).unwrap();
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn files_are_no_devices() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refusal = RawDevice::open(file.path(), false).unwrap_err().to_string();
        assert!(refusal.contains("not a block device"), "{refusal}");
    }

    #[test]
    fn zeros_are_found_by_their_share() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![1; 1 << 20], 3 << 20).unwrap();
        let share = zeros(&file, Bytes(4 << 20)).unwrap();
        assert!((share - 0.75).abs() < 0.002, "{share}");
    }
}
