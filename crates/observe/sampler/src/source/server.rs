//! A server's control group: its CPU, IO and memory, whoever of its processes caused them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::Readings;

use crate::control_group::{CpuDir, Version};
use crate::error::SampleError;
use crate::kernel_file::{put, read_if_there, value_of};
use crate::sampler::Sampler;
use crate::server_group::{Accounts, ServerGroup};

/// Reads the accounts of a server's control group.
///
/// A group's account survives the processes that come and go in it, which a sum over living ones
/// does not.
pub(crate) struct ServerSampler {
    accounts: Accounts,
    absence: Option<String>,
    switches: Switches,
}

impl ServerSampler {
    /// Returns the sampler of a server's group.
    pub(crate) fn new(group: &ServerGroup) -> Self {
        let absence = group.absence().map(str::to_owned);
        Self { accounts: group.accounts(), absence, switches: Switches::default() }
    }
}

impl Sampler for ServerSampler {
    fn metrics(&self) -> &'static [&'static str] {
        &[
            "server_cpu_user_us",
            "server_cpu_kernel_us",
            "server_context_switches",
            "server_reads",
            "server_read_bytes",
            "server_writes",
            "server_write_bytes",
            "server_memory_bytes",
            "server_processes",
        ]
    }

    fn sample(&mut self) -> Result<Readings, SampleError> {
        let mut readings = Readings::new();
        if let Some(cpu) = &self.accounts.cpu {
            let (user, kernel) = cpu_us(cpu)?;
            put(&mut readings, "server_cpu_user_us", user);
            put(&mut readings, "server_cpu_kernel_us", kernel);
        }
        if let Some((version, dir, device)) = &self.accounts.io {
            let io = match version {
                Version::V1 => io_v1(dir, device)?,
                Version::V2 => io_v2(&read_if_there(&dir.join("io.stat"))?, device),
            };
            for (name, value) in IO.iter().zip(io.unwrap_or_default()) {
                put(&mut readings, name, value);
            }
        }
        if let Some(memory) = &self.accounts.memory {
            put(&mut readings, "server_memory_bytes", memory.memory_bytes()?);
        }
        if let Some(dir) = &self.accounts.processes {
            let text = read_if_there(&dir.join("cgroup.procs"))?.unwrap_or_default();
            put(&mut readings, "server_processes", Some(text.lines().count() as u64));
            put(&mut readings, "server_context_switches", self.switches.look(&text));
        }
        Ok(readings)
    }

    fn absence(&self) -> Option<&str> {
        // What can be read is read: a reason is only given when nothing can.
        self.absence.as_deref().filter(|_| self.accounts.processes.is_none())
    }
}

/// Readings of IO, in the order they are found.
const IO: [&str; 4] = ["server_reads", "server_writes", "server_read_bytes", "server_write_bytes"];

/// Returns user and kernel CPU of a group, us.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v1/cpuacct.rst (ns) and cgroup-v2.rst (us).
pub(crate) fn cpu_us(cpu: &CpuDir) -> Result<(Option<u64>, Option<u64>), SampleError> {
    let number = |name: &str| -> Result<Option<u64>, SampleError> {
        let text = read_if_there(&cpu.dir.join(name))?;
        Ok(text.and_then(|text| text.trim().parse().ok()))
    };
    Ok(match cpu.version {
        Version::V1 => {
            let (user, kernel) = (number("cpuacct.usage_user")?, number("cpuacct.usage_sys")?);
            (user.map(|ns| ns / 1000), kernel.map(|ns| ns / 1000))
        }
        Version::V2 => {
            let text = read_if_there(&cpu.dir.join("cpu.stat"))?.unwrap_or_default();
            (value_of(&text, "user_usec"), value_of(&text, "system_usec"))
        }
    })
}

/// Returns the user CPU of a group as the host's account of all processes counts it, us.
///
/// Version 1 has it in ticks beside the exact figure: what is taken from ticks must be ticks.
pub(crate) fn user_cpu_like_host_us(cpu: &CpuDir) -> Result<Option<u64>, SampleError> {
    if cpu.version == Version::V2 {
        return Ok(cpu_us(cpu)?.0);
    }
    let text = read_if_there(&cpu.dir.join("cpuacct.stat"))?.unwrap_or_default();
    let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
    Ok(value_of(&text, "user").map(|ticks| ticks * 1_000_000 / ticks_per_s))
}

/// Values in the order of [`IO`].
type Io = [Option<u64>; 4];

/// Returns requests and bytes of a device in version 1.
///
/// What the kernel writes back later is nobody's there; direct writes and those of a sync count.
/// Source: Linux, Documentation/admin-guide/cgroup-v1/blkio-controller.rst.
fn io_v1(dir: &Path, device: &str) -> Result<Option<Io>, SampleError> {
    let read = |name: &str| read_if_there(&dir.join(name));
    let requests = read("blkio.throttle.io_serviced")?;
    let bytes = read("blkio.throttle.io_service_bytes")?;
    let (Some(requests), Some(bytes)) = (requests, bytes) else { return Ok(None) };
    // A device that nothing was asked of has no line.
    let of = |text: &str, word: &str| Some(value_v1(text, device, word).unwrap_or(0));
    Ok(Some([
        of(&requests, "Read"),
        of(&requests, "Write"),
        of(&bytes, "Read"),
        of(&bytes, "Write"),
    ]))
}

/// Returns the number of a line `254:0 Read 17`.
fn value_v1(text: &str, device: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(device)?.trim_start().strip_prefix(word)?.trim().parse().ok()
    })
}

/// Returns requests and bytes of a device in the text of `io.stat`.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files".
fn io_v2(text: &Option<String>, device: &str) -> Option<Io> {
    let text = text.as_deref()?;
    let line = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' '));
    let of = |key: &str| {
        let words = line.unwrap_or_default().split_ascii_whitespace();
        let value = words.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key);
        Some(value.and_then(|(_, value)| value.parse().ok()).unwrap_or(0))
    };
    Some([of("rios"), of("wios"), of("rbytes"), of("wbytes")])
}

/// Context switches of a group's threads; what threads counted that have ended stays in the sum.
#[derive(Default)]
struct Switches {
    /// What each thread had counted at the last look.
    last: BTreeMap<u32, u64>,
    total: u64,
}

impl Switches {
    /// Returns the switches so far of the processes listed, one id a line.
    fn look(&mut self, processes: &str) -> Option<u64> {
        let pids = processes.lines().filter_map(|line| line.trim().parse().ok());
        self.add(pids.flat_map(threads).filter_map(|(thread, status)| {
            let text = fs::read_to_string(status).ok()?;
            let voluntary = value_of(&text, "voluntary_ctxt_switches")?;
            Some((thread, voluntary + value_of(&text, "nonvoluntary_ctxt_switches")?))
        }))
    }

    fn add(&mut self, threads: impl Iterator<Item = (u32, u64)>) -> Option<u64> {
        let now: BTreeMap<u32, u64> = threads.collect();
        for (thread, count) in &now {
            let before = self.last.get(thread).copied().unwrap_or(0);
            // A thread that counts less than it did is another one of the same id.
            self.total += count.checked_sub(before).unwrap_or(*count);
        }
        self.last = now;
        Some(self.total)
    }
}

/// Returns the threads of a process, each with its status file; none of one that has ended.
fn threads(pid: u32) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let thread = |entry: fs::DirEntry| {
        Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("status")))
    };
    entries.filter_map(thread).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn requests_are_those_of_the_data_s_device() {
        let v2 = "8:0 rbytes=5 wbytes=6 rios=7 wios=8 dbytes=0 dios=0\n\
                  8:01 rbytes=9 wbytes=9 rios=9 wios=9\n";
        let some = |numbers: [u64; 4]| Some(numbers.map(Some));
        assert_eq!(io_v2(&Some(v2.to_owned()), "8:0"), some([7, 8, 5, 6]));
        assert_eq!(io_v2(&Some(String::new()), "8:0"), some([0; 4]));
        assert_eq!(io_v2(&None, "8:0"), None);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(io_v1(dir.path(), "254:0").unwrap(), None);
        let counts = "254:0 Read 3\n254:0 Write 4\n254:0 Total 7\nTotal 7\n";
        fs::write(dir.path().join("blkio.throttle.io_serviced"), counts).unwrap();
        fs::write(dir.path().join("blkio.throttle.io_service_bytes"), "Total 0\n").unwrap();
        assert_eq!(io_v1(dir.path(), "254:0").unwrap(), some([3, 4, 0, 0]));
    }

    #[test]
    fn switches_of_threads_that_ended_stay_in_the_sum() {
        let mut switches = Switches::default();
        assert_eq!(switches.add([(1, 10), (2, 5)].into_iter()), Some(15));
        assert_eq!(switches.add([(1, 12)].into_iter()), Some(17));
        assert_eq!(switches.add([(1, 13), (2, 1)].into_iter()), Some(19));
    }

    /// Goal: CPU of a process that has ended stays in the account.
    /// Method: a shell in the group works and ends; the readings are taken before and after.
    #[test]
    fn a_group_s_account_outlives_its_processes() {
        let dir = tempfile::tempdir().unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        let mut sampler = ServerSampler::new(&group);
        let before = sampler.sample().unwrap();
        if !before.contains_key("server_cpu_user_us") {
            println!("skipped: {}", group.absence().unwrap_or("no control groups here"));
            return;
        }
        let script = "read line; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        let mut child =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        for dir in group.dirs() {
            fs::write(dir.join("cgroup.procs"), child.id().to_string()).unwrap();
        }
        let during = sampler.sample().unwrap();
        assert_eq!(during.get("server_processes"), Some(&1.0));
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        child.wait().unwrap();
        let after = sampler.sample().unwrap();
        let cpu = |readings: &Readings| readings["server_cpu_user_us"];
        assert!(cpu(&after) - cpu(&before) > 1_000.0, "{before:?} {after:?}");
        assert!(after["server_context_switches"] >= during["server_context_switches"]);
        assert_eq!(after.get("server_processes"), Some(&0.0));
    }
}
