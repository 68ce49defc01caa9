//! Uses of a block device that the kernel counts as none: it opens for them without a claim.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Files below a device of `/sys/block` that name the file or device behind it.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-block-loop, and sysfs-block-zram.
const BEHIND: [&str; 2] = ["loop/backing_file", "backing_dev"];
/// Bits of the flags of an open file that are set when it may be written. Source: open(2).
const ACCESS: u32 = 0o3;

/// Returns the other use of a device by its numbers, and those of the disk that it is a part of.
///
/// A device that is behind another one, and one that a process may write (a database on a raw
/// device, a virtual machine). Only root sees processes of other accounts.
pub(crate) fn other_use(numbers: &[u64]) -> Option<String> {
    behind_another(numbers).or_else(|| written_by_a_process(numbers))
}

fn behind_another(numbers: &[u64]) -> Option<String> {
    entries(Path::new("/sys/block")).find_map(|dir| {
        let is_it = |file: &str| {
            let text = fs::read(dir.join(file)).unwrap_or_default();
            let path = String::from_utf8_lossy(&text).trim_end_matches('\n').to_owned();
            is_device(Path::new(&path), numbers)
        };
        BEHIND.into_iter().find(|file| is_it(file))?;
        let name = dir.file_name()?.to_string_lossy().into_owned();
        Some(format!("/dev/{name} keeps its data on it; detach /dev/{name} first"))
    })
}

fn written_by_a_process(numbers: &[u64]) -> Option<String> {
    let own = std::process::id();
    let pid = |dir: &PathBuf| dir.file_name()?.to_str()?.parse::<u32>().ok();
    entries(Path::new("/proc")).filter_map(|dir| pid(&dir)).filter(|pid| *pid != own).find_map(
        |pid| {
            let dir = PathBuf::from(format!("/proc/{pid}"));
            let may_write = |file: &PathBuf| {
                let number = file.file_name().unwrap_or_default();
                let info = fs::read_to_string(dir.join("fdinfo").join(number)).unwrap_or_default();
                let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
                let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
                flags.is_none_or(|flags| flags & ACCESS != 0)
            };
            entries(&dir.join("fd")).find(|file| is_device(file, numbers) && may_write(file))?;
            let name = child::process_file(pid, "comm").unwrap_or_default();
            Some(format!("end process {pid} ({}), which has the device open to write", name.trim()))
        },
    )
}

fn is_device(path: &Path, numbers: &[u64]) -> bool {
    let found = path.metadata();
    found.is_ok_and(|it| it.file_type().is_block_device() && numbers.contains(&it.rdev()))
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}
