//! Background work, from the lines of the engine's LOG.
//!
//! LevelDB writes a line when a flush or a compaction begins and one with its bytes when it ends,
//! each written to the operating system at once, so totals are exact. Its printed totals are whole
//! MiB.
//!
//! Source: [LevelDB source] 1.23, `db/db_impl.cc`, the calls of `Log`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Totals since the database was opened, replay of its log included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Table bytes written by flushes.
    pub(crate) flush_write: u64,
    /// Table bytes written by compactions.
    pub(crate) compaction_write: u64,
    /// Flushes that ended.
    pub(crate) flushes: u64,
    /// Compactions that ended.
    pub(crate) compactions: u64,
    /// Files moved to the next level unchanged.
    pub(crate) moves: u64,
    /// Times a writer waited for the previous memtable's flush.
    pub(crate) memtable_waits: u64,
    /// Times a writer waited because level 0 had too many files.
    pub(crate) level0_waits: u64,
}

/// Background work at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Totals so far.
    pub(crate) totals: Totals,
    /// Flushes and compactions running now: at most one of each.
    pub(crate) running: u64,
    /// Whether nothing runs and nothing was written to the LOG since the previous sample.
    pub(crate) is_quiet: bool,
}

/// Follows the LOG of an open database.
pub(crate) struct Events {
    log: BufReader<File>,
    line: Vec<u8>,
    totals: Totals,
    is_flushing: bool,
    is_compacting: bool,
}

impl Events {
    /// Starts at the beginning of the LOG in `dir`, which is made anew at each open.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let log = BufReader::new(File::open(dir.join("LOG"))?);
        let totals = Totals::default();
        Ok(Self { log, line: Vec::new(), totals, is_flushing: false, is_compacting: false })
    }

    /// Reads what was added.
    pub(crate) fn sample(&mut self) -> io::Result<Sample> {
        let mut has_lines = false;
        // An incomplete line is continued at the next sample.
        while self.log.read_until(b'\n', &mut self.line)? > 0 {
            has_lines = true;
            if self.line.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.line);
                self.take_line(&String::from_utf8_lossy(&line));
            }
        }
        let running = u64::from(self.is_flushing) + u64::from(self.is_compacting);
        Ok(Sample { totals: self.totals, running, is_quiet: running == 0 && !has_lines })
    }

    fn take_line(&mut self, line: &str) {
        // Date and time, and the thread, each without a blank.
        let Some(text) = line.splitn(3, ' ').nth(2) else { return };
        let totals = &mut self.totals;
        if let Some((_, end)) =
            text.strip_prefix("Level-0 table #").and_then(|rest| rest.split_once(": "))
        {
            self.is_flushing = end.starts_with("started");
            if let Some(bytes) = number(end) {
                totals.flush_write += bytes;
                totals.flushes += 1;
            }
        } else if text.starts_with("Compacting ") {
            self.is_compacting = true;
        } else if text.starts_with("compacted to: ") {
            self.is_compacting = false;
        } else if text.starts_with("Compacted ") {
            let bytes = text.rsplit_once("=> ").and_then(|(_, end)| number(end));
            totals.compaction_write += bytes.unwrap_or(0);
            totals.compactions += 1;
        } else if text.starts_with("Moved #") {
            totals.moves += 1;
        } else if text.starts_with("Current memtable full; waiting") {
            totals.memtable_waits += 1;
        } else if text.starts_with("Too many L0 files; waiting") {
            totals.level0_waits += 1;
        }
    }
}

/// Returns the number a text begins with.
fn number(text: &str) -> Option<u64> {
    text.split(' ').next()?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    /// Lines of LevelDB 1.23.
    const BEGUN: &str = "\
2026/11/21-19:00:00.000001 140737 Creating DB /tmp/x since it was missing.
2026/11/21-19:00:01.000001 140737 Level-0 table #5: started
2026/11/21-19:00:01.000002 140737 Level-0 table #5: 2145 bytes OK
2026/11/21-19:00:01.000003 140738 Current memtable full; waiting...
2026/11/21-19:00:01.000004 140738 Too many L0 files; waiting...
2026/11/21-19:00:02.000001 140737 Compacting 4@0 + 1@1 files
2026/11/21-19:00:02.000002 140737 Level-0 table #9: started
";
    const ENDED: &str = "\
2026/11/21-19:00:02.000003 140737 Level-0 table #9: 1000 bytes OK
2026/11/21-19:00:02.000004 140737 Generated table #10@0: 90 keys, 7000 bytes
2026/11/21-19:00:03.000001 140737 Compacted 4@0 + 1@1 files => 7000 bytes
2026/11/21-19:00:03.000002 140737 compacted to: files[ 1 1 0 0 0 0 0 ]
2026/11/21-19:00:03.000003 140737 Moved #10 to level-2 7000 bytes OK: files[ 1 0 1 0 0 0 0 ]
";

    #[test]
    fn work_is_reported_while_it_runs_and_counted_when_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("LOG");
        // The last line is half written.
        let (head, tail) = ENDED.split_at(30);
        fs::write(&path, format!("{BEGUN}{head}")).unwrap();
        let mut events = Events::open(dir.path()).unwrap();
        let sample = events.sample().unwrap();
        assert_eq!((sample.running, sample.is_quiet), (2, false));
        assert_eq!((sample.totals.flush_write, sample.totals.flushes), (2145, 1));
        assert_eq!((sample.totals.memtable_waits, sample.totals.level0_waits), (1, 1));

        let mut log = fs::OpenOptions::new().append(true).open(&path).unwrap();
        log.write_all(tail.as_bytes()).unwrap();
        let sample = events.sample().unwrap();
        assert_eq!((sample.running, sample.is_quiet), (0, false), "lines were added");
        assert_eq!((sample.totals.flush_write, sample.totals.compaction_write), (3145, 7000));
        assert_eq!(
            (sample.totals.flushes, sample.totals.compactions, sample.totals.moves),
            (2, 1, 1)
        );
        assert!(events.sample().unwrap().is_quiet);
    }
}
