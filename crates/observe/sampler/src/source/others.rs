//! CPU of the other processes of the host.

use model::{Readings, metric};

use super::server::user_cpu_like_host_us;
use crate::control_group::CgroupDir;
use crate::kernel_file::{micros, read, read_of_process};
use crate::process_tree::{cpu_of, process_tree};
use crate::targets::{Foreign, RunTargets, Sampler, ServerTargets};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let mut sampler = OthersSampler::new(targets.pid, targets.server.as_ref());
    let is_countable = targets.foreign != Foreign::Here;
    is_countable.then(|| -> Sampler { Box::new(move |_| sampler.sample()) })
}

/// Reads what is left of the host's user CPU when that of the worker, of its server and our own
/// are taken away.
///
/// User CPU only: kernel threads have none, and what they do (write-back, block layer) is mostly
/// work that the engine has caused. Accounts of processes are rounded down to whole ticks, so a
/// growth may be off by a few of them.
struct OthersSampler {
    worker: Option<u32>,
    server: Option<Server>,
    /// The largest value so far: a counter does not fall because a tick was rounded off.
    largest_us: u64,
}

/// Where a server's CPU is found.
enum Server {
    /// In its control group.
    Group(CgroupDir),
    /// In the accounts of a process and of its descendants, if no control group counts them alone.
    Tree(u32),
}

impl Server {
    /// Returns its user CPU, us; 0 for one that has ended.
    fn user_us(&self) -> u64 {
        match self {
            Self::Group(cpu) => user_cpu_like_host_us(cpu).unwrap_or(0),
            Self::Tree(pid) => micros(cpu_of(&process_tree(*pid))[0]),
        }
    }
}

impl OthersSampler {
    /// Returns the sampler of all processes but process `worker`, its server and this process.
    fn new(worker: Option<u32>, server: Option<&ServerTargets<'_>>) -> Self {
        let server = server.map(|server| match server.group.accounts().cpu {
            Some(cpu) => Server::Group(cpu),
            None => Server::Tree(server.pid),
        });
        Self { worker, server, largest_us: 0 }
    }

    fn sample(&mut self) -> Readings {
        let mut readings = Readings::new();
        // The processes first: what they use until the host's account is read is theirs, so that
        // the difference errs by counting too much for an instant, never by falling.
        let own = [Some(std::process::id()), self.worker].into_iter().flatten();
        let own: Option<u64> = own.map(|pid| user_ticks(&read_of_process(pid, "stat")?)).sum();
        let server = self.server.as_ref().map_or(0, Server::user_us);
        let host = read("/proc/stat");
        let host = host.and_then(|text| host_user_ticks(&text));
        if let Some((host, own)) = host.zip(own) {
            let others_us = micros(host.saturating_sub(own)).saturating_sub(server);
            self.largest_us = self.largest_us.max(others_us);
            readings.set(metric::OTHERS_CPU_US, self.largest_us);
        }
        readings
    }
}

/// Returns the user CPU in the text of `/proc/PID/stat`, ticks, ended threads included.
///
/// Source: proc(5), `/proc/PID/stat`, field 14; the second field may hold blanks and brackets.
fn user_ticks(text: &str) -> Option<u64> {
    let (_, after_name) = text.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(11)?.parse().ok()
}

/// Returns the user CPU in the text of `/proc/stat`, ticks, that of niced processes included.
///
/// Source: Linux, Documentation/filesystems/proc.rst, section 1.8.
fn host_user_ticks(text: &str) -> Option<u64> {
    let cpu = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut ticks = cpu.split_ascii_whitespace().map(str::parse);
    let (user, nice): (u64, u64) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(user + nice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_time_is_found_behind_any_name() {
        let text = "17 (a) b (c) S 1 17 17 0 -1 4194560 900 0 3 0 230 41 0 0 20 0 9 0 100 5 6";
        assert_eq!(user_ticks(text), Some(230));
        assert_eq!(user_ticks("17 (short) S 1"), None);
    }

    #[test]
    fn niced_processes_are_others_too() {
        let text = "intr 5\ncpu  43770 1048 8243 288239 1272 5 169 140 60 0\ncpu0 1 1 1 1\n";
        assert_eq!(host_user_ticks(text), Some(44_818));
        assert_eq!(host_user_ticks("cpu0 1 1 1 1\n"), None);
    }

    /// Goal: the worker's own CPU is not counted. Method: this process stands for both, so its work
    /// is subtracted twice, and the second reading is the first or larger.
    #[test]
    fn the_reading_never_falls() {
        let mut sampler = OthersSampler::new(Some(std::process::id()), None);
        let first = sampler.sample();
        let sum = (0..20_000_000_u64).fold(0, |sum, n| std::hint::black_box(n ^ sum));
        let second = sampler.sample();
        assert!(second[metric::OTHERS_CPU_US] >= first[metric::OTHERS_CPU_US], "{sum}");
    }
}
