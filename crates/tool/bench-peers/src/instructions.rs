//! Counts instructions per operation.

use std::fs;
use std::path::Path;
use std::thread;

use crate::callgrind::Counts;
use crate::peer;
use crate::setting::{Setting, Side, run};
use crate::task::Work;

/// Operations of the two processes whose difference counts: start-up, opening, the misses of an
/// empty cache and the end cancel.
const FEW: u64 = 5_000;
const MANY: u64 = 25_000;
/// How the names of its functions begin. Source: RocksDB `monitoring/histogram.h`.
const HISTOGRAM: &str = "rocksdb::Histogram";

/// Instructions per operation of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerOp {
    /// All of the client's thread and of the engine's.
    pub(crate) total: f64,
    /// Those that lie in the client's own program, not in RocksDB or another library.
    pub(crate) own: f64,
    /// Those of RocksDB's histogram, which `db_bench` uses for its own; ours is in its program.
    pub(crate) histogram: f64,
}

/// Instructions per operation of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) peer: PerOp,
    pub(crate) ours: PerOp,
}

/// A client whose instructions are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe<'a> {
    /// File that callgrind writes to.
    pub(crate) file: &'a Path,
    /// The first thread that counts, from 1.
    ///
    /// Where 2: the first thread starts and ends the others and merges what they recorded, nothing
    /// of it per operation; our clock's calibration there spins for a time, not for a count.
    pub(crate) first_thread: u32,
    /// File name of the client's own program.
    pub(crate) program: &'a str,
}

/// Counts one work with values of one size; both clients at the same time, since counts do not
/// care.
pub(crate) fn count(setting: &Setting, work: &Work) -> Result<Counted, String> {
    let each = |side: Side| {
        let file = setting.file(&format!("{side:?}.callgrind"));
        let program = match side {
            Side::Peer => peer::PROGRAM,
            Side::Ours => env!("CARGO_PKG_NAME"),
        };
        let probe = Probe { file: &file, first_thread: 2, program };
        slope(probe, [FEW, MANY], |operations| setting.words(side, work, operations))
    };
    thread::scope(|scope| {
        let peer = scope.spawn(|| each(Side::Peer));
        let ours = each(Side::Ours);
        let peer = peer.join().map_err(|_panic| "counting panicked".to_owned())?;
        Ok(Counted { peer: peer?, ours: ours? })
    })
}

/// Returns the slope between two numbers of operations, for each of which `words` starts the
/// client.
///
/// # Errors
/// When valgrind or the client fails.
#[expect(clippy::cast_precision_loss, reason = "instructions are far below 2^53")]
pub(crate) fn slope(
    probe: Probe<'_>,
    [few, many]: [u64; 2],
    words: impl Fn(u64) -> Result<Vec<String>, String>,
) -> Result<PerOp, String> {
    let operations = (many - few) as f64;
    let (few, many) = (counts(probe, words(few)?)?, counts(probe, words(many)?)?);
    let each = |of: &dyn Fn(&Counts) -> u64| (of(&many) as f64 - of(&few) as f64) / operations;
    let own = each(&|counts| counts.within(|object, _| is_client(probe.program, object)));
    let histogram = each(&|counts| counts.within(|_, name| name.starts_with(HISTOGRAM)));
    Ok(PerOp { total: each(&Counts::total), own, histogram })
}

/// Returns whether an object file is the client's program.
fn is_client(program: &str, object: &str) -> bool {
    Path::new(object).file_name().is_some_and(|name| name == program)
}

/// Returns what the threads of a process execute, the first one that counts and those after it.
fn counts(probe: Probe<'_>, client: Vec<String>) -> Result<Counts, String> {
    let mut words =
        ["valgrind", "--tool=callgrind", "--separate-threads=yes"].map(str::to_owned).to_vec();
    words.push(format!("--callgrind-out-file={}", probe.file.display()));
    words.extend(client);
    run(&words)?;
    let mut counts = Counts::default();
    for thread in probe.first_thread.. {
        let mut part = probe.file.as_os_str().to_owned();
        part.push(format!("-{thread:02}"));
        // Threads are numbered without a gap.
        let Ok(text) = fs::read_to_string(&part) else { break };
        fs::remove_file(&part).map_err(|error| error.to_string())?;
        counts.add(&Counts::parse(&text)?);
    }
    if counts.total() == 0 { Err("callgrind saw no client".to_owned()) } else { Ok(counts) }
}
