//! The intervals of a run in progress, as they are appended.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use model::IntervalRecord;

use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::INTERVALS;
use crate::limits::JSON_BYTES_MAX;
use crate::regular::{self, check_run_dir};
use crate::run::parse_interval;

/// Reads what is appended to a run's intervals from one reading to the next.
#[derive(Debug)]
pub struct IntervalTail {
    path: PathBuf,
    read_bytes: u64,
}

impl ExperimentDir {
    /// Returns a tail that begins with a run's first interval.
    pub fn tail(&self, cell_id: &str) -> IntervalTail {
        IntervalTail { path: self.run_dir(cell_id).join(INTERVALS), read_bytes: 0 }
    }
}

impl IntervalTail {
    /// Returns the intervals since the last reading; none when the run was not begun.
    ///
    /// A last line that is not complete is read the next time.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn read(&mut self) -> Result<Vec<IntervalRecord>, ArchiveError> {
        let mut text = Vec::new();
        let read = || -> std::io::Result<File> {
            check_run_dir(self.path.parent().unwrap_or(&self.path))?;
            let mut file = regular::open(&self.path)?;
            file.seek(SeekFrom::Start(self.read_bytes))?;
            Ok(file)
        };
        let read = read().and_then(|file| file.take(JSON_BYTES_MAX).read_to_end(&mut text));
        match read.map_err(ArchiveError::read(&self.path)) {
            Err(error) if error.is_absence() => return Ok(Vec::new()),
            other => other?,
        };
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.read_bytes += whole as u64;
        let lines = text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let parsed = lines.map(parse_interval).collect::<Result<_, String>>();
        parsed.map_err(|reason| ArchiveError::Damaged(self.path.clone(), reason))
    }
}
