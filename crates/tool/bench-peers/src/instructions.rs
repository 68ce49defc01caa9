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

/// Counts one work with values of one size; both clients at the same time, since counts do not
/// care.
pub(crate) fn count(setting: &Setting, work: &Work) -> Result<Counted, String> {
    thread::scope(|scope| {
        let peer = scope.spawn(|| slope(setting, Side::Peer, work));
        let ours = slope(setting, Side::Ours, work);
        let peer = peer.join().map_err(|_panic| "counting panicked".to_owned())?;
        Ok(Counted { peer: peer?, ours: ours? })
    })
}

/// Returns the slope between two numbers of operations.
#[expect(clippy::cast_precision_loss, reason = "instructions are far below 2^53")]
fn slope(setting: &Setting, side: Side, work: &Work) -> Result<PerOp, String> {
    let few = counts(setting, side, work, FEW)?;
    let many = counts(setting, side, work, MANY)?;
    let each =
        |of: &dyn Fn(&Counts) -> u64| (of(&many) as f64 - of(&few) as f64) / (MANY - FEW) as f64;
    let own = each(&|counts| counts.within(|object, _| is_client(side, object)));
    let histogram = each(&|counts| counts.within(|_, name| name.starts_with(HISTOGRAM)));
    Ok(PerOp { total: each(&Counts::total), own, histogram })
}

/// Returns whether an object file is the client's program.
fn is_client(side: Side, object: &str) -> bool {
    let file = Path::new(object).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match side {
        Side::Peer => file == peer::PROGRAM,
        Side::Ours => file == env!("CARGO_PKG_NAME"),
    }
}

/// Returns what all threads of a process execute, but for the first.
///
/// On both sides that one starts and ends the others and merges what they recorded: nothing of it
/// is done per operation, and our clock's calibration spins for a time, not for a count.
fn counts(setting: &Setting, side: Side, work: &Work, operations: u64) -> Result<Counts, String> {
    let file = setting.file(&format!("{side:?}.callgrind"));
    let mut words =
        ["valgrind", "--tool=callgrind", "--separate-threads=yes"].map(str::to_owned).to_vec();
    words.push(format!("--callgrind-out-file={}", file.display()));
    words.extend(setting.words(side, work, operations)?);
    run(&words)?;
    let mut counts = Counts::default();
    for thread in 2.. {
        let part = file.with_extension(format!("callgrind-{thread:02}"));
        // Threads are numbered without a gap.
        let Ok(text) = fs::read_to_string(&part) else { break };
        fs::remove_file(&part).map_err(|error| error.to_string())?;
        counts.add(&Counts::parse(&text)?);
    }
    if counts.total() == 0 { Err("callgrind saw no client".to_owned()) } else { Ok(counts) }
}
