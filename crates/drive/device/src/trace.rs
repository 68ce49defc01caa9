//! Tracepoints of the block layer: how long requests are queued, and in the device.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use model::{Privilege, TracedTimes};

/// Where the kernel shows its tracer; the second is the place of older mounts.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The events: a request enters the block layer, is given to the device, is completed.
///
/// Source: Linux, include/trace/events/block.h.
const EVENTS: [&str; 3] = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];

/// Size of each CPU's buffer, in KiB: the newest 20,000 events of each. Our choice.
const BUFFER_KIB: u32 = 2048;

/// A buffer of the kernel's tracer for the requests of one device; removed when dropped.
#[derive(Debug)]
pub struct Tracer {
    dir: PathBuf,
}

/// A direction of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Tracer {
    /// Prepares the tracer for the device with this directory in `/sys`.
    ///
    /// # Errors
    /// Why it is not possible here, with the remedy where there is one.
    pub fn open(sys_dir: &Path) -> Result<Self, String> {
        let root = PLACES.map(Path::new).into_iter().find(|place| place.join("instances").is_dir());
        // A tracer that is not mounted, or closed to this account, refuses the directory.
        let root = root.unwrap_or(Path::new(PLACES[0]));
        let [own, disk] = numbers(sys_dir)?;
        let dir = root.join("instances").join(format!("assay-{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| of_tracer("make", &dir, &error))?;
        let tracer = Self { dir };
        tracer.set("tracing_on", "0")?;
        tracer.set("buffer_size_kb", &BUFFER_KIB.to_string())?;
        for event in EVENTS {
            // What enters carries the number of its partition, what is issued that of the disk.
            let filter = format!("dev == {own} || dev == {disk}");
            tracer.set(&format!("events/block/{event}/filter"), &filter)?;
            tracer.set(&format!("events/block/{event}/enable"), "1")?;
        }
        Ok(tracer)
    }

    /// Traces the requests while `run` runs.
    ///
    /// Each request costs three entries, less than a microsecond in all.
    ///
    /// # Errors
    /// Why the tracer could not be started or read.
    pub fn trace<T>(
        &self,
        direction: Direction,
        run: impl FnOnce() -> T,
    ) -> Result<(T, Option<TracedTimes>), String> {
        self.set("trace", "")?;
        self.set("tracing_on", "1")?;
        let done = run();
        self.set("tracing_on", "0")?;
        let path = self.dir.join("trace");
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| of_tracer("read", &path, &error))?;
        Ok((done, times(&text, direction)))
    }

    fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let path = self.dir.join(name);
        fs::write(&path, value).map_err(|error| of_tracer("write", &path, &error))
    }
}

/// Returns the error of a file of the tracer.
fn of_tracer(action: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {action} {}: {error}; this {}", path.display(), Privilege::TRACER)
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // The directory is the kernel's: what remains of it after a failure ends with the boot.
        drop(fs::remove_dir(&self.dir));
    }
}

/// Returns the kernel's numbers of a device and of the disk that it is a partition of, or is.
///
/// Source: Linux, include/linux/kdev_t.h: 20 bits for the minor number.
fn numbers(sys_dir: &Path) -> Result<[u64; 2], String> {
    let own = sys_dir.canonicalize().map_err(|error| error.to_string())?;
    let number = |dir: &Path| {
        let path = dir.join("dev");
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let number = text.trim().split_once(':').and_then(|(major, minor)| {
            Some(major.parse::<u64>().ok()? << 20 | minor.parse::<u64>().ok()?)
        });
        number.ok_or_else(|| format!("{} has no numbers: {text}", path.display()))
    };
    let is_partition = own.join("partition").exists();
    let disk = if is_partition { own.parent().unwrap_or(&own) } else { &own };
    Ok([number(&own)?, number(disk)?])
}

/// One entry of the trace.
struct Entry<'a> {
    at_us: u64,
    event: &'a str,
    is_write: bool,
    sector: u64,
}

/// Returns an entry; `None` for other lines and for requests without data.
///
/// Source: Linux, Documentation/trace/ftrace.rst, "Output format"; include/trace/events/block.h.
fn entry(line: &str) -> Option<Entry<'_>> {
    let (head, rest) = line.split_once(": block_")?;
    let (seconds, micros) = head.rsplit(' ').next()?.split_once('.')?;
    let at_us = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
    let (name, rest) = rest.split_once(": ")?;
    let event = EVENTS.into_iter().find(|event| &event["block_".len()..] == name)?;
    let (place, size) = rest.split_once(" + ")?;
    let is_empty = size.split(' ').next()? == "0";
    let kind = place.split(' ').nth(1)?;
    let sector = place.rsplit(' ').next()?.parse().ok()?;
    let is_write = kind.contains('W');
    (!is_empty && (is_write || kind.contains('R'))).then_some(Entry {
        at_us,
        event,
        is_write,
        sector,
    })
}

/// Returns the mean times of the requests that were neither merged nor split.
fn times(text: &str, direction: Direction) -> Option<TracedTimes> {
    // By first sector: when it entered, and when it was issued.
    let mut open: BTreeMap<u64, (u64, Option<u64>)> = BTreeMap::new();
    let (mut requests, mut queue_us, mut device_us) = (0_u64, 0_u64, 0_u64);
    for entry in text.lines().filter_map(entry) {
        if entry.is_write != (direction == Direction::Write) {
            continue;
        }
        if entry.event == EVENTS[0] {
            open.insert(entry.sector, (entry.at_us, None));
        } else if entry.event == EVENTS[1] {
            if let Some((_, issued)) = open.get_mut(&entry.sector) {
                *issued = Some(entry.at_us);
            }
        } else if let Some((entered, Some(issued))) = open.remove(&entry.sector) {
            requests += 1;
            queue_us += issued.saturating_sub(entered);
            device_us += entry.at_us.saturating_sub(issued);
        }
    }
    let mean_ns = |sum_us: u64| sum_us as f64 * 1e3 / requests as f64;
    (requests > 0).then(|| TracedTimes {
        requests,
        queue_ns: mean_ns(queue_us),
        device_ns: mean_ns(device_us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = include_str!("../tests/data/block.trace");

    #[test]
    fn requests_are_paired_by_sector_and_their_times_are_split() {
        let read = times(TRACE, Direction::Read).unwrap();
        assert_eq!(read.requests, 2, "the merged and the unfinished one are left out");
        assert_eq!((read.queue_ns, read.device_ns), (3_000.0, 90_000.0));
        let write = times(TRACE, Direction::Write).unwrap();
        assert_eq!((write.requests, write.queue_ns, write.device_ns), (1, 1_000.0, 40_000.0));
        assert_eq!(times("# tracer: nop\n", Direction::Read), None);
    }

    #[test]
    fn a_partition_has_the_number_of_its_disk() {
        let sys = tempfile::tempdir().unwrap();
        let part = sys.path().join("vda/vda1");
        fs::create_dir_all(&part).unwrap();
        fs::write(sys.path().join("vda/dev"), "254:3\n").unwrap();
        fs::write(part.join("dev"), "254:4\n").unwrap();
        fs::write(part.join("partition"), "1\n").unwrap();
        let [first, second] = [3, 4].map(|minor| (254 << 20) + minor);
        assert_eq!(numbers(&part), Ok([second, first]));
        assert_eq!(numbers(&sys.path().join("vda")), Ok([first; 2]));
        assert!(numbers(&sys.path().join("vdb")).is_err());
    }
}
