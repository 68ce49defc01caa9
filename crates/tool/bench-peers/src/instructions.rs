//! Instructions per operation, counted by callgrind.

use std::fs;
use std::path::Path;
use std::thread;

use crate::callgrind::Counts;
use crate::environment::{Environment, Side, run};
use crate::peer;
use crate::task::Work;

/// Operations of the two processes whose difference is taken: start-up, opening, cold misses and
/// shutdown cancel.
const FEW: u64 = 5_000;
const MANY: u64 = 25_000;
/// Prefix of RocksDB's histogram functions. Source: RocksDB `monitoring/histogram.h`.
const HISTOGRAM: &str = "rocksdb::Histogram";

/// Instructions per operation of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerOp {
    /// All, of the client's and the engine's threads.
    pub(crate) total: f64,
    /// Those in the client's own program, not in RocksDB or another library.
    pub(crate) own: f64,
    /// Those in RocksDB's histogram, which `db_bench` uses as its own.
    pub(crate) histogram: f64,
}

/// Instructions per operation of both clients.
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
    /// The first counted thread, from 1.
    ///
    /// From 2: the first thread starts and ends the others and merges their results, nothing per
    /// operation; our clock's calibration there spins for a time, not for a count.
    pub(crate) first_thread: u32,
    /// File name of the client's own program.
    pub(crate) program: &'a str,
}

/// Counts one work, both clients at the same time: counts do not depend on load.
pub(crate) fn count(environment: &Environment, work: &Work) -> Result<Counted, String> {
    let each = |side: Side| {
        let file = environment.file(&format!("{side:?}.callgrind"));
        let program = match side {
            Side::Peer => peer::PROGRAM,
            Side::Ours => env!("CARGO_PKG_NAME"),
        };
        let probe = Probe { file: &file, first_thread: 2, program };
        slope(probe, [FEW, MANY], |operations| environment.args(side, work, operations))
    };
    thread::scope(|scope| {
        let peer = scope.spawn(|| each(Side::Peer));
        let ours = each(Side::Ours);
        let peer = peer.join().map_err(|_panic| "counting panicked".to_owned())?;
        Ok(Counted { peer: peer?, ours: ours? })
    })
}

/// Returns the slope between two operation counts; `args` returns the client's command line.
///
/// # Errors
/// When valgrind or the client fails.
pub(crate) fn slope(
    probe: Probe<'_>,
    [few, many]: [u64; 2],
    args: impl Fn(u64) -> Result<Vec<String>, String>,
) -> Result<PerOp, String> {
    let operations = (many - few) as f64;
    let (few, many) = (counts(probe, args(few)?)?, counts(probe, args(many)?)?);
    let each = |of: &dyn Fn(&Counts) -> u64| (of(&many) as f64 - of(&few) as f64) / operations;
    let own = each(&|counts| counts.within(|object, _| is_client(probe.program, object)));
    let histogram = each(&|counts| counts.within(|_, name| name.starts_with(HISTOGRAM)));
    Ok(PerOp { total: each(&Counts::total), own, histogram })
}

/// Returns whether an object file is the client's program.
fn is_client(program: &str, object: &str) -> bool {
    Path::new(object).file_name().is_some_and(|name| name == program)
}

/// Runs a client under callgrind and sums its counted threads.
fn counts(probe: Probe<'_>, client: Vec<String>) -> Result<Counts, String> {
    let mut args =
        ["valgrind", "--tool=callgrind", "--separate-threads=yes"].map(str::to_owned).to_vec();
    args.push(format!("--callgrind-out-file={}", probe.file.display()));
    args.extend(client);
    run(&args)?;
    let mut counts = Counts::default();
    for thread in probe.first_thread.. {
        let mut part = probe.file.as_os_str().to_owned();
        part.push(format!("-{thread:02}"));
        // Threads are numbered without a gap.
        let Ok(text) = fs::read_to_string(&part) else { break };
        fs::remove_file(&part).map_err(|error| error.to_string())?;
        counts.add(&Counts::parse(&text)?);
    }
    if counts.total() == 0 {
        Err("callgrind counted no client thread".to_owned())
    } else {
        Ok(counts)
    }
}
