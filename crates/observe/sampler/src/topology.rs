//! CPU cores and their threads, from `/sys`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::kernel_file::read_trimmed;

/// Returns the number of cores under `/sys/devices/system/cpu`; `None` where it is not reported.
///
/// CPUs of one core name the same list of CPUs: each list is a core. Of CPUs that are offline there
/// is no list.
///
/// Source: Linux, Documentation/admin-guide/cputopology.rst (`core_cpus_list`, before Linux 5.3
/// `thread_siblings_list`).
pub(crate) fn cores(sys_cpu: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(sys_cpu).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_cpu = |name: &String| {
        name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let siblings = |name: String| {
        let dir = sys_cpu.join(name).join("topology");
        read_trimmed(dir.join("core_cpus_list"))
            .or_else(|| read_trimmed(dir.join("thread_siblings_list")))
    };
    let cores: BTreeSet<String> = names.filter(is_cpu).filter_map(siblings).collect();
    u32::try_from(cores.len()).ok().filter(|count| *count > 0)
}

/// Returns how many numbers a list of the kernel names: 5 in `0-3,8`.
///
/// Source: Linux, Documentation/core-api/printk-formats.rst, `%*pbl`.
pub(crate) fn listed(text: &str) -> Option<u32> {
    let of_part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    text.trim().split(',').try_fold(0_u32, |sum, part| sum.checked_add(of_part(part)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn cpus_that_name_the_same_siblings_are_one_core() {
        let sys = tempfile::tempdir().unwrap();
        assert_eq!(cores(sys.path()), None);
        let file = |cpu: &str, name: &str, text: &str| {
            let dir = sys.path().join(cpu).join("topology");
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(name), text).unwrap();
        };
        for (cpu, siblings) in [("cpu0", "0,2\n"), ("cpu1", "1,3\n"), ("cpu2", "0,2\n")] {
            file(cpu, "core_cpus_list", siblings);
        }
        file("cpu3", "thread_siblings_list", "1,3\n");
        file("cpufreq", "core_cpus_list", "7\n");
        fs::create_dir(sys.path().join("cpu4")).unwrap();
        assert_eq!(cores(sys.path()), Some(2));
        assert_eq!(cores(&sys.path().join("not there")), None);
    }

    #[test]
    fn lists_of_the_kernel_are_counted() {
        assert_eq!(listed("0\n"), Some(1));
        assert_eq!(listed("0-3,8"), Some(5));
        assert_eq!(listed("3-0"), None);
        assert_eq!(listed(""), None);
    }
}
