//! `/proc/PID/status` and `smaps_rollup`: the worker's memory and threads.

use model::Readings;

use crate::error::SampleError;
use crate::kernel_file::{bytes_of, put, read_of_process, value_of};
use crate::sampler::Sampler;

/// Reads the worker's memory; the proportional share only at boundaries.
pub(crate) struct ProcessMemorySampler {
    pid: u32,
}

impl ProcessMemorySampler {
    /// Returns the sampler of process `pid`.
    pub(crate) fn new(pid: u32) -> Self {
        Self { pid }
    }
}

impl Sampler for ProcessMemorySampler {
    fn metrics(&self) -> &'static [&'static str] {
        &[
            "rss_bytes",
            "rss_anon_bytes",
            "rss_file_bytes",
            "rss_shmem_bytes",
            "vsz_bytes",
            "swap_bytes",
            "threads",
            "pss_bytes",
        ]
    }

    fn sample(&mut self) -> Result<Readings, SampleError> {
        let mut readings = Readings::new();
        if let Some(text) = read_of_process(self.pid, "status")? {
            add_status(&mut readings, &text);
        }
        Ok(readings)
    }

    fn sample_boundary(&mut self) -> Result<Readings, SampleError> {
        let mut readings = self.sample()?;
        // The kernel walks every page table for it and delays the worker's page faults.
        if let Some(text) = read_of_process(self.pid, "smaps_rollup")? {
            put(&mut readings, "pss_bytes", bytes_of(&text, "Pss"));
        }
        Ok(readings)
    }
}

/// Adds the readings in the text of `/proc/PID/status`.
///
/// Source: proc(5), `/proc/pid/status`; the three parts of the resident memory since Linux 4.5.
fn add_status(readings: &mut Readings, text: &str) {
    put(readings, "rss_bytes", bytes_of(text, "VmRSS"));
    put(readings, "rss_anon_bytes", bytes_of(text, "RssAnon"));
    put(readings, "rss_file_bytes", bytes_of(text, "RssFile"));
    put(readings, "rss_shmem_bytes", bytes_of(text, "RssShmem"));
    put(readings, "vsz_bytes", bytes_of(text, "VmSize"));
    put(readings, "swap_bytes", bytes_of(text, "VmSwap"));
    put(readings, "threads", value_of(text, "Threads"));
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIVE: &str = "Name:\tassay\nState:\tS (sleeping)\nVmPeak:\t  228940 kB\n\
        VmSize:\t  163404 kB\nVmHWM:\t   90112 kB\nVmRSS:\t   20480 kB\n\
        RssAnon:\t   16384 kB\nRssFile:\t    4096 kB\nRssShmem:\t       0 kB\n\
        VmSwap:\t   64 kB\nThreads:\t5\n";
    const ZOMBIE: &str = "Name:\tassay\nState:\tZ (zombie)\nPid:\t17\nThreads:\t1\n";

    #[test]
    fn memory_is_in_bytes() {
        let mut readings = Readings::new();
        add_status(&mut readings, ALIVE);
        assert_eq!(readings.get("rss_bytes"), Some(&20_971_520.0));
        assert_eq!(readings.get("rss_anon_bytes"), Some(&16_777_216.0));
        assert_eq!(readings.get("rss_file_bytes"), Some(&4_194_304.0));
        assert_eq!(readings.get("rss_shmem_bytes"), Some(&0.0));
        assert_eq!(readings.get("vsz_bytes"), Some(&167_325_696.0));
        assert_eq!(readings.get("swap_bytes"), Some(&65_536.0));
        assert_eq!(readings.get("threads"), Some(&5.0));
    }

    #[test]
    fn a_process_that_died_has_no_memory_rather_than_zero() {
        let mut readings = Readings::new();
        add_status(&mut readings, ZOMBIE);
        assert_eq!(readings.keys().collect::<Vec<_>>(), ["threads"]);
    }
}
