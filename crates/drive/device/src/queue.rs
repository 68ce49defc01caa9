//! Directory and queue settings of a block device in `/sys`.

use std::path::{Path, PathBuf};

/// The settings that decide which requests a device gets.
///
/// Source: Linux, Documentation/ABI/stable/sysfs-block.
const SETTINGS: [&str; 10] = [
    "logical_block_size",
    "physical_block_size",
    "minimum_io_size",
    "optimal_io_size",
    "max_sectors_kb",
    "nr_requests",
    "scheduler",
    "rotational",
    "write_cache",
    "discard_granularity",
];

/// Returns the directory of a block device by its name: `vda`.
pub fn directory(name: &str) -> PathBuf {
    Path::new("/sys/class/block").join(name)
}

/// Returns the queue's settings by name; those that the kernel lacks are left out.
pub fn settings(sys_dir: &Path) -> Vec<(String, String)> {
    let read = |dir: &Path, name: &str| {
        let text = std::fs::read_to_string(dir.join("queue").join(name)).ok()?;
        Some((name.to_owned(), text.trim().to_owned()))
    };
    // A partition has the queue of its disk, one directory up.
    let disk = sys_dir.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let own = |name: &str| read(sys_dir, name).or_else(|| read(disk.as_deref()?, name));
    SETTINGS.into_iter().filter_map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_has_the_settings_of_its_disk() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("sda");
        std::fs::create_dir_all(disk.join("sda1")).unwrap();
        std::fs::create_dir_all(disk.join("queue")).unwrap();
        std::fs::write(disk.join("queue/scheduler"), "[none] mq-deadline\n").unwrap();
        let expected = [("scheduler".to_owned(), "[none] mq-deadline".to_owned())];
        assert_eq!(settings(&disk), expected);
        assert_eq!(settings(&disk.join("sda1")), expected);
        assert!(settings(sys.path()).is_empty());
    }
}
