//! CPU, IO and memory of a server, from its control group or its processes.

use std::path::Path;

use model::{Metric, Readings, metric};

use crate::control_group::{CgroupDir, Version};
use crate::kernel_file::{micros, read, value_of};
use crate::process_tree::{cpu_of, process_tree};
use crate::server_group::Accounts;
use crate::source::server_processes::ServerProcesses;
use crate::targets::{RunTargets, Sampler, ServerTargets};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let mut sampler = ServerSampler::new(*targets.server.as_ref()?);
    Some(Box::new(move |is_boundary| sampler.sample(is_boundary)))
}

/// Reads the accounts of a server's control group.
///
/// What the group does not count is a sum over the processes: CPU in ticks, and no CPU of a process
/// that has ended and whose parent did not wait for it.
struct ServerSampler {
    /// The first process.
    pid: u32,
    accounts: Accounts,
    cpu: Cpu,
    processes: ServerProcesses,
}

impl ServerSampler {
    /// Returns the sampler of a server.
    fn new(server: ServerTargets<'_>) -> Self {
        let (cpu, processes) = (Cpu::default(), ServerProcesses::default());
        Self { pid: server.pid, accounts: server.group.accounts(), cpu, processes }
    }

    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut readings = Readings::new();
        let listed =
            self.accounts.processes.as_ref().and_then(|dir| read(dir.join("cgroup.procs")));
        let pids = listed.map_or_else(
            || process_tree(self.pid),
            |text| text.lines().filter_map(|line| line.trim().parse().ok()).collect(),
        );
        let cpu = match &self.accounts.cpu {
            Some(dir) => cpu_us(dir),
            None => cpu_of_processes(&pids),
        };
        if let Some((all_us, user, kernel)) = cpu {
            self.cpu.update(all_us, user, kernel);
            readings.set(metric::SERVER_CPU_USER_US, self.cpu.user_us);
            readings.set(metric::SERVER_CPU_KERNEL_US, self.cpu.kernel_us);
        }
        self.processes.sample(&pids, is_boundary, &mut readings);
        if let Some((CgroupDir { version, dir }, device)) = &self.accounts.io {
            let io = match version {
                Version::V1 => io_v1(dir, device),
                Version::V2 => io_v2(&read(dir.join("io.stat")), device),
            };
            for (name, value) in IO.into_iter().zip(io.unwrap_or_default()) {
                readings.set(name, value);
            }
        }
        if let Some(memory) = &self.accounts.memory {
            readings.set(metric::SERVER_MEMORY_BYTES, memory.memory_bytes());
        }
        readings
    }
}

/// Readings of IO, in the order they are found.
const IO: [Metric; 4] = [
    metric::SERVER_READS,
    metric::SERVER_WRITES,
    metric::SERVER_READ_BYTES,
    metric::SERVER_WRITE_BYTES,
];

/// A group's CPU so far: an exact sum, divided in the ratio of ticks.
#[derive(Default)]
struct Cpu {
    user_us: u64,
    kernel_us: u64,
}

impl Cpu {
    /// Adds the sum, divided in the ratio of user and kernel ticks, in any unit.
    ///
    /// In version 1 the parts are counted in ticks, and fall short of the sum by a sixth where
    /// work comes in short bursts: the sum is what counts. Neither part ever falls.
    fn update(&mut self, all_us: u64, user: u64, kernel: u64) {
        let grown = all_us.saturating_sub(self.user_us + self.kernel_us);
        let share = u128::from(all_us) * u128::from(user) / u128::from(user + kernel).max(1);
        let wanted = u64::try_from(share).unwrap_or(u64::MAX);
        let more = wanted.clamp(self.user_us, self.user_us + grown) - self.user_us;
        self.user_us += more;
        self.kernel_us += grown - more;
    }
}

/// Returns the CPU of a group, us, and how ticks part it in user and kernel, in any unit.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v1/cpuacct.rst (ns) and cgroup-v2.rst (us).
fn cpu_us(cpu: &CgroupDir) -> Option<(u64, u64, u64)> {
    match cpu.version {
        Version::V1 => {
            let ns: u64 = read(cpu.dir.join("cpuacct.usage"))?.trim().parse().ok()?;
            let parts = read(cpu.dir.join("cpuacct.stat"))?;
            Some((ns / 1000, value_of(&parts, "user")?, value_of(&parts, "system")?))
        }
        Version::V2 => {
            let text = read(cpu.dir.join("cpu.stat"))?;
            let (user, kernel) = (value_of(&text, "user_usec")?, value_of(&text, "system_usec")?);
            Some((value_of(&text, "usage_usec")?, user, kernel))
        }
    }
}

/// Returns the CPU of processes, as [`cpu_us`]; `None` for a server that has ended.
fn cpu_of_processes(pids: &[u32]) -> Option<(u64, u64, u64)> {
    let [user, kernel] = cpu_of(pids);
    (!pids.is_empty()).then_some((micros(user + kernel), user, kernel))
}

/// Returns the user CPU of a group as the host's account of all processes counts it, us.
///
/// Version 1 has it in ticks next to the exact figure; what is subtracted from ticks must be ticks.
pub(crate) fn user_cpu_like_host_us(cpu: &CgroupDir) -> Option<u64> {
    let (_, user, _) = cpu_us(cpu)?;
    Some(if cpu.version == Version::V2 { user } else { micros(user) })
}

/// Values in the order of [`IO`].
type Io = [Option<u64>; 4];

/// Returns requests and bytes read from a device in version 1.
///
/// Writes are not counted: see [`ServerGroup::writes_counted`].
///
/// Source: Linux, Documentation/admin-guide/cgroup-v1/blkio-controller.rst.
fn io_v1(dir: &Path, device: &str) -> Option<Io> {
    let requests = read(dir.join("blkio.throttle.io_serviced"))?;
    let bytes = read(dir.join("blkio.throttle.io_service_bytes"))?;
    // A device without requests has no line.
    let read_of = |text: &str| Some(read_v1(text, device).unwrap_or(0));
    Some([read_of(&requests), None, read_of(&bytes), None])
}

/// Returns the number of a line `254:0 Read 17`.
fn read_v1(text: &str, device: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(device)?.trim_start().strip_prefix("Read")?.trim().parse().ok()
    })
}

/// Returns requests and bytes of a device in the text of `io.stat`.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files".
fn io_v2(text: &Option<String>, device: &str) -> Option<Io> {
    let text = text.as_deref()?;
    let line = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' '));
    let of = |key: &str| {
        let fields = line.unwrap_or_default().split_ascii_whitespace();
        let value = fields.filter_map(|field| field.split_once('=')).find(|(name, _)| *name == key);
        Some(value.and_then(|(_, value)| value.parse().ok()).unwrap_or(0))
    };
    Some([of("rios"), of("wios"), of("rbytes"), of("wbytes")])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::control_group::tests::is_writable;
    use crate::server_group::ServerGroup;

    #[test]
    fn both_versions_report_the_cpu_in_one_unit() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let read = |version| cpu_us(&CgroupDir { version, dir: dir.path().to_owned() });
        assert_eq!((read(Version::V1), read(Version::V2)), (None, None));
        write("cpuacct.usage", "249708006\n");
        write("cpuacct.stat", "user 15\nsystem 9\n");
        write("cpu.stat", "usage_usec 250\nuser_usec 150\nsystem_usec 100\n");
        assert_eq!(read(Version::V1), Some((249_708, 15, 9)));
        assert_eq!(read(Version::V2), Some((250, 150, 100)));
    }

    #[test]
    fn requests_are_those_of_the_data_s_device() {
        let v2 = "8:0 rbytes=5 wbytes=6 rios=7 wios=8 dbytes=0 dios=0\n\
                  8:01 rbytes=9 wbytes=9 rios=9 wios=9\n";
        let some = |numbers: [u64; 4]| Some(numbers.map(Some));
        assert_eq!(io_v2(&Some(v2.to_owned()), "8:0"), some([7, 8, 5, 6]));
        assert_eq!(io_v2(&Some(String::new()), "8:0"), some([0; 4]));
        assert_eq!(io_v2(&None, "8:0"), None);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(io_v1(dir.path(), "254:0"), None);
        let counts = "254:0 Read 3\n254:0 Write 4\n254:0 Total 7\nTotal 7\n";
        fs::write(dir.path().join("blkio.throttle.io_serviced"), counts).unwrap();
        fs::write(dir.path().join("blkio.throttle.io_service_bytes"), "Total 0\n").unwrap();
        let reads_only = Some([Some(3), None, Some(0), None]);
        assert_eq!(io_v1(dir.path(), "254:0"), reads_only, "writes are not counted");
    }

    #[test]
    fn the_parts_of_the_cpu_sum_up_and_never_fall() {
        let mut cpu = Cpu::default();
        for (all, user, kernel, parted) in [
            (100, 3, 1, (75, 25)),
            (110, 3, 3, (75, 35)),
            (110, 0, 9, (75, 35)),
            (10, 1, 1, (75, 35)),
        ] {
            cpu.update(all, user, kernel);
            assert_eq!((cpu.user_us, cpu.kernel_us), parted);
        }
        cpu.update(210, 0, 0);
        assert_eq!(cpu.user_us + cpu.kernel_us, 210);
    }

    /// Goal: CPU of a process that has ended stays in the account.
    /// Method: a shell in the group works and ends; the readings are taken before and after.
    #[test]
    fn a_group_s_account_outlives_its_processes() {
        let dir = tempfile::tempdir().unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        let server = ServerTargets { pid: std::process::id(), group: &group };
        let mut sampler = ServerSampler::new(server);
        let before = sampler.sample(false);
        if !before.has(metric::SERVER_CPU_USER_US) {
            assert!(!is_writable("cpuacct"), "{:?}", group.absence());
            println!("skipped: {}", group.absence().unwrap_or("no control groups here"));
            return;
        }
        let script = "read line; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        let mut child =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        for dir in group.dirs() {
            fs::write(dir.join("cgroup.procs"), child.id().to_string()).unwrap();
        }
        let during = sampler.sample(false);
        assert_eq!(during.value(metric::SERVER_PROCESSES), Some(1.0));
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        child.wait().unwrap();
        let after = sampler.sample(false);
        let cpu = |readings: &Readings| readings[metric::SERVER_CPU_USER_US];
        assert!(cpu(&after) - cpu(&before) > 1_000.0, "{before:?} {after:?}");
        assert!(after[metric::SERVER_CONTEXT_SWITCHES] >= during[metric::SERVER_CONTEXT_SWITCHES]);
        assert_eq!(after.value(metric::SERVER_PROCESSES), Some(0.0));
    }
}
