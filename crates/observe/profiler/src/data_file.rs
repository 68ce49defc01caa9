//! The file of samples that `perf` writes, read record by record.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use linux_perf_data::linux_perf_event_reader::RawEventRecord;
use linux_perf_data::{AttributeDescription, PerfFileReader, PerfFileRecord};
use model::profile::UNKNOWN;

use crate::error::ProfilerError;

/// Buffer of the reader, bytes. Our choice: 30 records with a copy of the stack.
const BUFFER_BYTES: usize = 1 << 20;

/// A file of samples, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct DataFile(pub(crate) PathBuf);

impl Drop for DataFile {
    fn drop(&mut self) {
        // perf has written none where it was refused.
        std::fs::remove_file(&self.0).ok();
    }
}

impl DataFile {
    /// Passes the records of the kernel to `visit` in the order of their time, and returns the name
    /// of the event that was sampled: the last of the file.
    ///
    /// # Errors
    /// Where the file is missing or damaged, or `visit` fails.
    pub(crate) fn read<F>(&self, mut visit: F) -> Result<String, ProfilerError>
    where
        F: FnMut(&RawEventRecord<'_>) -> std::io::Result<()>,
    {
        let file = File::open(&self.0).map_err(ProfilerError::file(&self.0))?;
        let reader = PerfFileReader::parse_file(BufReader::with_capacity(BUFFER_BYTES, file));
        let mut reader = reader.map_err(ProfilerError::file(&self.0))?;
        let event = reader.perf_file.event_attributes().last();
        let event = event.and_then(AttributeDescription::name).unwrap_or(UNKNOWN).to_owned();
        let records = &mut reader.record_iter;
        while let Some(record) =
            records.next_record(&mut reader.perf_file).map_err(ProfilerError::file(&self.0))?
        {
            match record {
                PerfFileRecord::EventRecord { record, .. } => {
                    visit(&record).map_err(ProfilerError::file(&self.0))?;
                }
                PerfFileRecord::UserRecord(_) => {}
            }
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_file_of_perf_is_an_error_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        for bytes in [&b""[..], b"PERFILE2", b"no file of perf but long enough for its header"] {
            let path = dir.path().join("perf.data");
            std::fs::write(&path, bytes).unwrap();
            let file = DataFile(path.clone());
            assert!(matches!(file.read(|_| Ok(())), Err(ProfilerError::File { .. })));
            drop(file);
            assert!(!path.exists());
        }
    }
}
