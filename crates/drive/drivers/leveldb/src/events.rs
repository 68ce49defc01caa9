//! Background work, from the lines of the engine's LOG.
//!
//! LevelDB writes a line when a flush or a compaction begins and one with its bytes when it ends,
//! each written to the operating system at once, so totals are exact. Its printed totals are whole
//! MiB.
//!
//! Source: [LevelDB source] 1.23, `db/db_impl.cc`, the calls of `Log`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Lines that are counted, by their start, under names of the driver.
const COUNTED: [(&str, &str); 5] = [
    ("Level-0 table #", "flushes"),
    ("Compacted ", "compactions"),
    ("Moved #", "moves"),
    ("Current memtable full; waiting", "waits.memtable_full"),
    ("Too many L0 files; waiting", "waits.level0_files"),
];

/// Background work at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Table bytes written by flushes since the database was opened, replay of its log included.
    pub(crate) flush_write: u64,
    /// Table bytes written by compactions.
    pub(crate) compaction_write: u64,
    /// Flushes, compactions and moves that ended, and times that a writer waited.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// Flushes and compactions running now: at most one of each.
    pub(crate) running: u64,
    /// Whether nothing runs and nothing was written to the LOG since the previous sample.
    pub(crate) is_quiet: bool,
}

/// Follows the LOG of an open database.
pub(crate) struct Events {
    log: BufReader<File>,
    line: Vec<u8>,
    sample: Sample,
    is_flushing: bool,
    is_compacting: bool,
}

impl Events {
    /// Starts at the beginning of the LOG in `dir`, which is made anew at each open.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let log = BufReader::new(File::open(dir.join("LOG"))?);
        let counts = COUNTED.map(|(_, name)| (name, 0)).into();
        let sample =
            Sample { flush_write: 0, compaction_write: 0, counts, running: 0, is_quiet: true };
        Ok(Self { log, line: Vec::new(), sample, is_flushing: false, is_compacting: false })
    }

    /// Reads what was added.
    pub(crate) fn sample(&mut self) -> io::Result<&Sample> {
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
        self.sample.running = running;
        self.sample.is_quiet = running == 0 && !has_lines;
        Ok(&self.sample)
    }

    fn take_line(&mut self, line: &str) {
        // Date and time, and the thread, each without a blank.
        let Some(text) = line.splitn(3, ' ').nth(2) else { return };
        let mut is_end = true;
        if text.starts_with("Level-0 table #") {
            let Some((_, end)) = text.split_once(": ") else { return };
            self.is_flushing = end.starts_with("started");
            let bytes = number(end);
            self.sample.flush_write += bytes.unwrap_or(0);
            is_end = bytes.is_some();
        } else if text.starts_with("Compacting ") {
            self.is_compacting = true;
        } else if text.starts_with("compacted to: ") {
            self.is_compacting = false;
        } else if text.starts_with("Compacted ") {
            let bytes = text.rsplit_once("=> ").and_then(|(_, end)| number(end));
            self.sample.compaction_write += bytes.unwrap_or(0);
        }
        let counted = COUNTED.iter().find(|(start, _)| text.starts_with(start));
        if let Some((_, name)) = counted.filter(|_| is_end) {
            *self.sample.counts.entry(name).or_default() += 1;
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
        assert_eq!((sample.flush_write, sample.counts["flushes"]), (2145, 1));
        let waits = ["waits.memtable_full", "waits.level0_files"].map(|name| sample.counts[name]);
        assert_eq!(waits, [1, 1]);

        let mut log = fs::OpenOptions::new().append(true).open(&path).unwrap();
        log.write_all(tail.as_bytes()).unwrap();
        let sample = events.sample().unwrap();
        assert_eq!((sample.running, sample.is_quiet), (0, false), "lines were added");
        assert_eq!((sample.flush_write, sample.compaction_write), (3145, 7000));
        let ended = ["flushes", "compactions", "moves"].map(|name| sample.counts[name]);
        assert_eq!(ended, [2, 1, 1]);
        assert!(events.sample().unwrap().is_quiet);
    }
}
