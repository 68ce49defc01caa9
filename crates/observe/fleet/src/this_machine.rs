//! This machine as one of a fleet: its name, its job, and whether it is whole.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use rustix::process::getuid;
use rustix::thread::sched_getaffinity;

/// Variables with the name of a machine. Source: slurmd(8); Kubernetes' downward API, by our job.
const NAMES: [&str; 2] = ["SLURMD_NODENAME", "NODE_NAME"];
/// Variables that name an element of a job array. Source: sbatch(1), "OUTPUT ENVIRONMENT".
const ELEMENT: [&str; 2] = ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"];
/// Variable of a pod. The container limits the machine on purpose. Source: Kubernetes, "Jobs".
const POD: &str = "JOB_COMPLETION_INDEX";
/// CPUs of the host. Source: Linux, Documentation/admin-guide/cputopology.rst.
const ONLINE: &str = "/sys/devices/system/cpu/online";
/// Directory for data that outlives a restart and lies on a disk. Source: FHS 3.0, `/var/tmp`.
const DATA: &str = "/var/tmp";

/// Reads a variable of the environment.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Returns the scheduler's name of this machine, or the host name.
pub fn machine_name(variable: Variable<'_>) -> String {
    let text = |name: &&str| Some(variable(name)?.to_string_lossy().into_owned());
    let named = NAMES.iter().find_map(text).filter(|name| !name.is_empty());
    named.unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

/// Returns the scheduler's name of this element, such as `12_3`.
pub fn job_name(variable: Variable<'_>) -> Option<String> {
    let [job, element] = ELEMENT.map(variable);
    Some(format!("{}_{}", job?.to_string_lossy(), element?.to_string_lossy()))
}

/// Returns the directory for data of a machine, where the user names none.
pub fn default_data_dir() -> PathBuf {
    PathBuf::from(DATA).join(format!("assay-{}", getuid().as_raw()))
}

/// Checks that this process may use every CPU of the host, unless a container limits it.
///
/// # Errors
/// The reason, when a part of the machine was allocated: other jobs would share it.
pub fn check_cpus(variable: Variable<'_>) -> Result<(), String> {
    if variable(POD).is_some() {
        return Ok(());
    }
    let online = fs::read_to_string(ONLINE).ok().and_then(|text| count(&text));
    let allowed = sched_getaffinity(None).map(|set| set.count()).ok();
    match (online, allowed) {
        (Some(online), Some(allowed)) if allowed < online => Err(format!(
            "this process may use {allowed} of the {online} CPUs of the machine: let the scheduler \
             allocate whole machines (sbatch --exclusive), or remove the CPU mask"
        )),
        _ => Ok(()),
    }
}

/// Returns the number of CPUs in a list such as `0-3,8`.
fn count(list: &str) -> Option<u32> {
    let of = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (last + 1).checked_sub(first)
    };
    list.trim().split(',').map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_a_list_are_counted() {
        assert_eq!(count("0-3,8\n"), Some(5));
        assert_eq!(count("0"), Some(1));
        assert_eq!(count(""), None);
    }

    #[test]
    fn names_come_from_the_scheduler() {
        let slurm = |name: &str| match name {
            "SLURMD_NODENAME" => Some("n1".into()),
            "SLURM_ARRAY_JOB_ID" => Some("12".into()),
            "SLURM_ARRAY_TASK_ID" => Some("3".into()),
            _ => None,
        };
        assert_eq!(machine_name(&slurm), "n1");
        assert_eq!(job_name(&slurm).as_deref(), Some("12_3"));
        assert!(!machine_name(&|_| None).is_empty());
        assert_eq!(job_name(&|_| None), None);
    }
}
