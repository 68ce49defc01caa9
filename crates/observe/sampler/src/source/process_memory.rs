//! `/proc/PID/status` and `smaps_rollup`: the worker's memory and threads.

use model::{Readings, metric};

use crate::error::SampleError;
use crate::kernel_file::{bytes_of, read_of_process, value_of};
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
            readings.set(metric::PSS_BYTES, bytes_of(&text, "Pss"));
        }
        Ok(readings)
    }
}

/// Adds the readings in the text of `/proc/PID/status`.
///
/// Source: proc(5), `/proc/pid/status`; the three parts of the resident memory since Linux 4.5.
fn add_status(readings: &mut Readings, text: &str) {
    readings.set(metric::RSS_BYTES, bytes_of(text, "VmRSS"));
    readings.set(metric::RSS_ANON_BYTES, bytes_of(text, "RssAnon"));
    readings.set(metric::RSS_FILE_BYTES, bytes_of(text, "RssFile"));
    readings.set(metric::RSS_SHMEM_BYTES, bytes_of(text, "RssShmem"));
    readings.set(metric::VSZ_BYTES, bytes_of(text, "VmSize"));
    readings.set(metric::SWAP_BYTES, bytes_of(text, "VmSwap"));
    readings.set(metric::THREADS, value_of(text, "Threads"));
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
        assert_eq!(readings.value(metric::RSS_BYTES), Some(20_971_520.0));
        assert_eq!(readings.value(metric::RSS_ANON_BYTES), Some(16_777_216.0));
        assert_eq!(readings.value(metric::RSS_FILE_BYTES), Some(4_194_304.0));
        assert_eq!(readings.value(metric::RSS_SHMEM_BYTES), Some(0.0));
        assert_eq!(readings.value(metric::VSZ_BYTES), Some(167_325_696.0));
        assert_eq!(readings.value(metric::SWAP_BYTES), Some(65_536.0));
        assert_eq!(readings.value(metric::THREADS), Some(5.0));
    }

    #[test]
    fn a_process_that_died_has_no_memory_rather_than_zero() {
        let mut readings = Readings::new();
        add_status(&mut readings, ZOMBIE);
        assert_eq!(readings.keys().collect::<Vec<_>>(), [metric::THREADS.name]);
    }
}
