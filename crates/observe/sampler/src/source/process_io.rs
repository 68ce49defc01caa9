//! IO of the worker by calls and by storage, from `/proc/PID/io`.

use model::{Metric, Readings, metric};

use crate::error::SampleError;
use crate::kernel_file::{read_of_process, value_of};
use crate::sampler::Sampler;

/// Names of the readings, each with its key in the file.
///
/// `write_bytes` counts a page when it becomes dirty, so what is truncated or deleted before its
/// write-back is in it too; subtracting `cancelled_write_bytes` would make a counter that falls.
/// Source: Linux, Documentation/filesystems/proc.rst, section 3.3.
const KEYS: [(Metric, &str); 6] = [
    (metric::PROCESS_READ_CALL_BYTES, "rchar"),
    (metric::PROCESS_WRITE_CALL_BYTES, "wchar"),
    (metric::PROCESS_READ_CALLS, "syscr"),
    (metric::PROCESS_WRITE_CALLS, "syscw"),
    (metric::PROCESS_READ_BYTES, "read_bytes"),
    (metric::PROCESS_WRITE_BYTES, "write_bytes"),
];

/// Reads the worker's IO account.
pub(crate) struct ProcessIoSampler {
    pid: u32,
}

impl ProcessIoSampler {
    /// Returns the sampler of process `pid`.
    pub(crate) fn new(pid: u32) -> Self {
        Self { pid }
    }
}

impl Sampler for ProcessIoSampler {
    fn sample(&mut self) -> Result<Readings, SampleError> {
        Ok(read_of_process(self.pid, "io")?.map_or_else(Readings::new, |text| readings(&text)))
    }
}

/// Returns the readings in the text of `/proc/PID/io`.
fn readings(text: &str) -> Readings {
    let mut readings = Readings::new();
    for (name, key) in KEYS {
        readings.set(name, value_of(text, key));
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_storage_are_separate() {
        let text = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 3\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 4096\n";
        let readings = readings(text);
        assert_eq!(readings.len(), KEYS.len());
        assert_eq!(readings.value(metric::PROCESS_READ_BYTES), Some(4096.0));
        assert_eq!(readings.value(metric::PROCESS_WRITE_BYTES), Some(8192.0));
        assert_eq!(readings.value(metric::PROCESS_READ_CALL_BYTES), Some(6976.0));
        assert_eq!(readings.value(metric::PROCESS_WRITE_CALLS), Some(3.0));
    }
}
