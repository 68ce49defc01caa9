//! Mounted file systems, from `/proc/PID/mountinfo`.

use std::path::{Path, PathBuf};

/// One mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Number of its device: `8:1`; major 0 where it is not one device's.
    pub number: String,
    /// The directory inside the file system that is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Kind of file system: `ext4`, `cgroup2`.
    pub kind: String,
    /// The mounted source: `/dev/sda1`, `tmpfs`.
    pub source: String,
    /// Options of this mount: `rw`, `noatime`.
    pub mount_options: Vec<String>,
    /// Options of the file system, as of which controllers a `cgroup` mount has.
    pub options: Vec<String>,
}

/// Returns the mounts of this thread, which can be in another namespace than the process.
///
/// None when the kernel does not report them.
pub(crate) fn mounts() -> Vec<Mount> {
    parse_mounts(&std::fs::read_to_string("/proc/thread-self/mountinfo").unwrap_or_default())
}

/// Returns the mount a path lies on; `path` is absolute and without links.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let holds = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // Of two at the same place, the later one hides the earlier: max_by_key takes the last.
    holds.max_by_key(|mount| mount.point.components().count())
}

/// Returns the mounts in the text of `mountinfo`.
///
/// Source: Linux, Documentation/filesystems/proc.rst, section 3.5.
pub fn parse_mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// Returns the mount a line describes.
fn parse_line(line: &str) -> Option<Mount> {
    let (place, system) = line.split_once(" - ")?;
    let place: Vec<&str> = place.split(' ').collect();
    let mut system = system.split(' ');
    let list = |text: &str| text.split(',').map(str::to_owned).collect();
    Some(Mount {
        number: (*place.get(2)?).to_owned(),
        root: unescape(place.get(3)?).into(),
        point: unescape(place.get(4)?).into(),
        kind: system.next()?.to_owned(),
        source: unescape(system.next()?),
        mount_options: list(place.get(5)?),
        options: list(system.next().unwrap_or_default()),
    })
}

/// Returns the text with its octal escapes resolved: `\040` is a space.
///
/// Source: Linux, fs/proc_namespace.c, `mangle`: white space, the backslash and `#`.
fn unescape(text: &str) -> String {
    let codes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")];
    codes.into_iter().fold(text.to_owned(), |text, (code, letter)| text.replace(code, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        40 27 8:17 /sub /mnt/big\\040disk rw - xfs /dev/sdb1 rw\n\
        41 27 0:50 / /mnt rw - tmpfs first rw\n\
        42 27 0:51 / /mnt rw - tmpfs second rw\n";

    #[test]
    fn the_deepest_and_latest_mount_holds_a_path() {
        let mounts = parse_mounts(TEXT);
        assert_eq!(mounts.len(), 6);
        let source = |path: &str| holding(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/home/x"), "/dev/vda");
        assert_eq!(source("/mnt/big disk/run"), "/dev/sdb1");
        assert_eq!(source("/mnt/other"), "second");
        assert_eq!(source("/mnt2"), "/dev/vda");
    }

    #[test]
    fn optional_fields_and_options_are_distinguished() {
        let mounts = parse_mounts(TEXT);
        assert_eq!(mounts[1].kind, "ext4");
        assert_eq!((&*mounts[1].number, &*mounts[1].mount_options[1]), ("254:0", "relatime"));
        assert_eq!(mounts[2].options, ["rw", "memory"]);
        assert_eq!(mounts[3].root, Path::new("/sub"));
    }

    #[test]
    fn a_backslash_that_is_no_escape_stays() {
        assert_eq!(unescape("a\\134b\\x\\04"), "a\\b\\x\\04");
    }
}
