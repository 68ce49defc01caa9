//! CPUs that this process may use: its affinity, and the quotas of its control groups.

use std::thread::available_parallelism;

use model::CpuCount;
use rustix::thread::sched_getaffinity;

use crate::control_group::own_groups;
use crate::kernel_file::read;

/// Returns the CPUs that this process may use.
///
/// These are the ones it may run on, or what the tightest quota of its control groups leaves of
/// them: 1.5 CPUs where it may use them for 150 ms in each 100 ms.
pub fn usable_cpus() -> CpuCount {
    let dirs = own_groups("cpu").unwrap_or_default();
    let quotas = dirs.iter().filter_map(|dir| quota_cpus(|file| read(dir.join(file))));
    quotas.fold(allowed(), CpuCount::min)
}

/// Returns the CPUs that this process may run on.
fn allowed() -> CpuCount {
    let count = match sched_getaffinity(None) {
        Ok(set) => set.count(),
        // More than the set has room for.
        Err(_) => available_parallelism()
            .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
    };
    CpuCount::of(count.max(1))
}

/// Returns the CPUs that a control group's quota leaves, in either version; `None` without one.
///
/// `read` returns the text of a file of the group.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst (`cpu.max`) and
/// Documentation/scheduler/sched-bwc.rst (version 1).
pub fn quota_cpus(read: impl Fn(&str) -> Option<String>) -> Option<CpuCount> {
    let text = read("cpu.max").or_else(|| {
        Some(format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim()))
    })?;
    // Without a quota it is `max` or -1.
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let (quota_us, period_us) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(CpuCount::of_quota(quota_us, period_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_of_either_version_is_a_number_of_cpus() {
        let of = |files: &[(&str, &str)]| {
            let file = |name: &str| files.iter().find(|(known, _)| *known == name);
            quota_cpus(|name| file(name).map(|(_, text)| (*text).to_owned()))
        };
        let half_of_three = Some(CpuCount::of_quota(3, 2));
        assert_eq!(of(&[("cpu.max", "150000 100000\n")]), half_of_three);
        let version_1 = [("cpu.cfs_quota_us", "75000\n"), ("cpu.cfs_period_us", "50000\n")];
        assert_eq!(of(&version_1), half_of_three);
        assert_eq!(of(&[("cpu.max", "max 100000\n")]), None);
        assert_eq!(of(&[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]), None);
        assert_eq!((of(&[]), of(&[("cpu.max", "")]), of(&[("cpu.max", "5")])), (None, None, None));
    }

    #[test]
    fn this_process_may_use_a_cpu_and_no_more_than_there_are() {
        let usable = usable_cpus();
        assert!(usable > CpuCount::default() && usable <= allowed(), "{usable}");
        // The standard library rounds a quota down.
        let std = available_parallelism().map_or(1, std::num::NonZero::get);
        assert_eq!(usable.whole() as usize, std);
    }
}
