//! Job files of fio.

use std::os::fd::RawFd;
use std::path::Path;

use model::{Access, Bytes, IoPattern, IoTest};

/// Unit of the regions that sequential jobs write: larger than any request.
const REGION_UNIT: u64 = 1 << 20;

/// The file or device that jobs use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the file in fio's working directory, or path of the device.
    pub file: String,
    /// Its open descriptor, which children inherit.
    pub descriptor: Option<RawFd>,
    /// The range used, from its start.
    pub size: Bytes,
}

/// Where jobs write, and how.
#[derive(Debug, Clone, Copy)]
pub struct WriteTarget<'a> {
    /// The file or device.
    pub place: &'a Place,
    /// How it is written.
    pub access: Access,
    /// fio's working directory.
    pub dir: &'a Path,
}

/// What the jobs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A test for so many seconds.
    Test(IoTest, u64),
    /// Random writes for at most so many seconds and bytes.
    Round(u64, Bytes),
    /// Sequential writes of data that cannot be compressed: offset and length; synced at the end.
    Fill(Bytes, Bytes),
}

/// One run of fio.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Where.
    pub place: &'a Place,
    /// How.
    pub access: Access,
    /// What.
    pub work: Work,
    /// Jobs at once, >= 1.
    pub jobs: u32,
    /// Seed of random offsets.
    pub seed: u64,
}

impl Job<'_> {
    /// Returns the job file.
    ///
    /// Jobs are threads that wait for each request (`psync`), as the threads of an engine do.
    /// Source: fio's manual, "I/O engine", "Measurements and reporting".
    pub fn text(&self) -> String {
        let direct = u8::from(self.access != Access::Buffered);
        let mut lines = vec![
            "[global]".to_owned(),
            format!("filename={}", self.place.file),
            "ioengine=psync".to_owned(),
            "thread=1".to_owned(),
            format!("direct={direct}"),
            "group_reporting=1".to_owned(),
            "lat_percentiles=1".to_owned(),
            "clat_percentiles=0".to_owned(),
            "percentile_list=50:90:99:99.9:99.99".to_owned(),
            "norandommap=1".to_owned(),
            // Its numbers are signed.
            format!("randseed={}", self.seed >> 1),
            format!("numjobs={}", self.jobs),
            String::new(),
        ];
        let own = match self.work {
            Work::Test(test, seconds) => self.test(test, seconds),
            Work::Round(seconds, bytes) => vec![
                "[round]".to_owned(),
                "rw=randwrite".to_owned(),
                "bs=4k".to_owned(),
                "refill_buffers=1".to_owned(),
                format!("size={}", self.place.size.0),
                format!("io_size={}", bytes.0 / u64::from(self.jobs)),
                format!("runtime={seconds}"),
            ],
            Work::Fill(offset, length) => vec![
                "[fill]".to_owned(),
                "rw=write".to_owned(),
                "bs=1m".to_owned(),
                "refill_buffers=1".to_owned(),
                "end_fsync=1".to_owned(),
                format!("offset={}", offset.0),
                format!("size={}", length.0),
            ],
        };
        lines.extend(own);
        lines.join("\n") + "\n"
    }

    fn test(&self, test: IoTest, seconds: u64) -> Vec<String> {
        let is_synced = test.pattern == IoPattern::Fdatasync;
        let pattern = if is_synced { IoPattern::Write } else { test.pattern };
        let mut lines = vec![
            format!("[{test}]"),
            format!("rw={pattern}"),
            format!("bs={}", test.block_bytes),
            "time_based=1".to_owned(),
            format!("runtime={seconds}"),
        ];
        if pattern == IoPattern::Write {
            // A region per job: several logs, not one.
            let region = self.place.size.0 / u64::from(self.jobs);
            let region = (region / REGION_UNIT).max(1) * REGION_UNIT;
            lines.extend([format!("size={region}"), format!("offset_increment={region}")]);
        } else {
            lines.push(format!("size={}", self.place.size.0));
        }
        if test.pattern == IoPattern::RandRw {
            lines.push("rwmixread=70".to_owned());
        }
        if is_synced {
            lines.push("fdatasync=1".to_owned());
        } else if self.access == Access::Buffered && !test.is_read_only() {
            // What is counted as written has left the page cache.
            lines.push("end_fsync=1".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(access: Access, test: IoTest, jobs: u32) -> String {
        let place = Place { file: "data".to_owned(), descriptor: None, size: Bytes(64 << 20) };
        let work = Work::Test(test, 3);
        Job { place: &place, access, work, jobs, seed: u64::MAX - 1 }.text()
    }

    #[test]
    fn a_read_is_random_over_the_whole_range() {
        let text = text(Access::Direct, IoTest::RANDREAD_16K, 4);
        for line in [
            "filename=data",
            "direct=1",
            "randseed=9223372036854775807",
            "numjobs=4",
            "rw=randread",
            "bs=16384",
            "runtime=3",
            "size=67108864",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert!(!text.contains("fsync"), "{text}");
    }

    #[test]
    fn logs_are_written_in_regions_of_their_own_and_synced() {
        let log = text(Access::Buffered, IoTest::FDATASYNC_4K, 3);
        for line in ["fdatasync=1", "size=22020096", "offset_increment=22020096", "direct=0"] {
            assert!(log.lines().any(|other| other == line), "{line}: {log}");
        }
        let buffered = text(Access::Buffered, IoTest::PROFILE[2], 1);
        assert!(buffered.contains("end_fsync=1"), "{buffered}");
    }
}
