//! IO of the worker by calls and by storage, from `/proc/PID/io`.

use model::Readings;

use crate::error::SampleError;
use crate::kernel_file::{put, read_of_process, value_of};
use crate::sampler::Sampler;

/// Names of the readings, each with its key in the file.
///
/// `write_bytes` counts a page when it becomes dirty, so what is truncated or deleted before its
/// write-back is in it too; subtracting `cancelled_write_bytes` would make a counter that falls.
/// Source: Linux, Documentation/filesystems/proc.rst, section 3.3.
const KEYS: [(&str, &str); 6] = [
    ("process_read_call_bytes", "rchar"),
    ("process_write_call_bytes", "wchar"),
    ("process_read_calls", "syscr"),
    ("process_write_calls", "syscw"),
    ("process_read_bytes", "read_bytes"),
    ("process_write_bytes", "write_bytes"),
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
    fn metrics(&self) -> &'static [&'static str] {
        const NAMES: [&str; KEYS.len()] =
            [KEYS[0].0, KEYS[1].0, KEYS[2].0, KEYS[3].0, KEYS[4].0, KEYS[5].0];
        &NAMES
    }

    fn sample(&mut self) -> Result<Readings, SampleError> {
        Ok(read_of_process(self.pid, "io")?.map_or_else(Readings::new, |text| readings(&text)))
    }
}

/// Returns the readings in the text of `/proc/PID/io`.
fn readings(text: &str) -> Readings {
    let mut readings = Readings::new();
    for (name, key) in KEYS {
        put(&mut readings, name, value_of(text, key));
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
        assert_eq!(readings.get("process_read_bytes"), Some(&4096.0));
        assert_eq!(readings.get("process_write_bytes"), Some(&8192.0));
        assert_eq!(readings.get("process_read_call_bytes"), Some(&6976.0));
        assert_eq!(readings.get("process_write_calls"), Some(&3.0));
    }
}
