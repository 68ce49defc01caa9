//! The comparison with `db_bench`, on the RocksDB library that it loads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::ours::{CACHE_BYTES, KEY_BYTES, MEMTABLE_BYTES, RANGE_ROWS, ROWS, Task, VALUE_BYTES};
use crate::pairs::{Case, Done, OWN, Side, WALL, print_head};
use crate::process::{Result, own_args, path_of, pin_to_one_core, run};

/// Its program.
pub(crate) const PROGRAM: &str = "db_bench";
/// Debian's package that has it.
pub(crate) const PACKAGE: &str = "rocksdb-tools";

/// The compared steps: our name, `db_bench`'s, operations of a timed process.
const WORKS: [(&str, &str, u64); 3] = [
    ("readrandom", "readrandom", 1_200_000),
    ("fwdrange", "seekrandom", 500_000),
    (WRITES, "fillrandom", 800_000),
];
/// The step that writes.
const WRITES: &str = "fillrandom";
/// Targets: throughput at least as high, and at most this share of its own instructions.
const TARGETS: [(&str, f64); 2] = [(WALL, 1.0), (OWN, 0.3)];

/// Prints the table, or why it is skipped.
pub(crate) fn compare() -> Result<()> {
    let library = match path_of(PROGRAM, PACKAGE) {
        Ok(path) => library_of(&path)?,
        Err(lack) => {
            println!("\nskipped {PROGRAM}: {lack}");
            return Ok(());
        }
    };
    pin_to_one_core()?;
    let scratch = tempfile::tempdir()?;
    let scratch = scratch.path();
    print_head(
        PROGRAM,
        &format!(
            "on `{}`: profile rocksdb-dbbench, no WAL, no compression, {ROWS} rows,\nkeys of \
             {KEY_BYTES} and values of {VALUE_BYTES} bytes, block cache {} MiB (holds all), one \
             client, db_bench with histogram=1.",
            library.display(),
            CACHE_BYTES >> 20
        ),
    );
    for (step, benchmark, operations) in WORKS {
        let args = |side: Side, operations: u64| {
            let dir = ready_dir(scratch, side, step, &library)?;
            match side {
                Side::Peer => Ok(peer_args(benchmark, operations, &dir)),
                Side::Ours => {
                    let (step, library) = (step.to_owned(), library.clone());
                    own_args(&Task::Rows { step, operations, dir, library }, scratch)
                }
            }
        };
        let (args, targets) = (&args, &TARGETS);
        Case { name: step, peer: PROGRAM, operations, args, parse, targets, scratch }.compare()?;
    }
    let texts =
        [Side::Peer, Side::Ours].map(|side| newest_options(&data_dir(scratch, side, WRITES)));
    let [peer, ours] = texts;
    println!(
        "\nDifferences of the two OPTIONS files: {}.\nA range of {RANGE_ROWS} rows: db_bench steps \
         {RANGE_ROWS} times, beyond the last row it reads; ours {} times. Ours\ntakes two stamps, \
         records to 0.1 % and checks one answer in 64; db_bench takes one, to 1 us, and checks that \
         the\nkey is there; its histogram lies in RocksDB's library, ours in our own program.",
        differences(&peer?, &ours?),
        RANGE_ROWS - 1
    );
    Ok(())
}

/// Returns the RocksDB library that a program loads.
fn library_of(program: &Path) -> Result<PathBuf> {
    let list = run(&["ldd".to_owned(), program.display().to_string()])?;
    let line = list.lines().find(|line| line.contains("librocksdb"));
    let library = line.and_then(|line| line.split_whitespace().nth(2));
    Ok(library.ok_or("db_bench is linked statically: no driver can use the same library")?.into())
}

/// Returns the data directory of one side: they are equal and separate.
fn data_dir(scratch: &Path, side: Side, step: &str) -> PathBuf {
    scratch.join(format!("{side:?}-{step}"))
}

/// Returns that directory, empty before writes and filled before reads.
///
/// Our client fills both: `db_bench` reads any rows with keys of its layout, while ours checks
/// values.
fn ready_dir(scratch: &Path, side: Side, step: &str, library: &Path) -> Result<PathBuf> {
    let dir = data_dir(scratch, side, step);
    if dir.exists() && step == WRITES {
        fs::remove_dir_all(&dir)?;
    }
    if !dir.exists() {
        fs::create_dir(&dir)?;
        if step != WRITES {
            let (step, library) = ("fillseq".to_owned(), library.to_owned());
            let task = Task::Rows { step, operations: ROWS, dir: dir.clone(), library };
            run(&own_args(&task, scratch)?)?;
        }
    }
    Ok(dir)
}

fn peer_args(benchmark: &str, operations: u64, dir: &Path) -> Vec<String> {
    let is_write = benchmark == WRITES;
    let count = if is_write { "writes" } else { "reads" };
    let more = [
        (count, operations),
        ("use_existing_db", u64::from(!is_write)),
        ("seek_nexts", u64::from(RANGE_ROWS)),
    ];
    args(benchmark, dir, &more)
}

/// Returns its command line, with the histogram on, as ours cannot be switched off.
pub(crate) fn args(benchmark: &str, dir: &Path, more: &[(&str, u64)]) -> Vec<String> {
    let common = [
        ("num", ROWS),
        ("key_size", KEY_BYTES.into()),
        ("value_size", VALUE_BYTES.into()),
        ("threads", 1),
        ("histogram", 1),
        ("disable_wal", 1),
        ("cache_size", CACHE_BYTES),
        ("write_buffer_size", MEMTABLE_BYTES),
        ("seed", 1),
    ];
    let mut args = vec![
        PROGRAM.to_owned(),
        format!("--benchmarks={benchmark}"),
        format!("--db={}", dir.display()),
        "--compression_type=none".to_owned(),
    ];
    args.extend(common.iter().chain(more).map(|(name, value)| format!("--{name}={value}")));
    args
}

/// Parses `650128 ops/sec 0.461 seconds 300000 operations; ... (300000 of 300000 found)`.
///
/// # Errors
/// When it printed none, or did not find every key.
fn parse(printed: &str) -> Result<Done> {
    let line = printed.lines().find(|line| line.contains("micros/op"));
    let line = line.ok_or_else(|| format!("{PROGRAM} printed no result: {printed}"))?;
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let before = |name: &str| tokens.windows(2).find(|pair| pair[1] == name).map(|pair| pair[0]);
    let found =
        line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(" found")?.0.split_once(" of "));
    if let Some((found, all)) = found.filter(|(found, all)| found != all) {
        return Err(format!("{PROGRAM} found {found} of {all} keys").into());
    }
    let per_s = before("ops/sec").and_then(|token| token.parse().ok());
    let operations = before("operations;").and_then(|token| token.parse().ok());
    let done = operations.zip(per_s).map(|(operations, per_s)| Done { operations, per_s });
    done.ok_or_else(|| format!("{PROGRAM}'s result cannot be parsed: {line}").into())
}

/// Returns the text of the newest OPTIONS file of a database.
fn newest_options(dir: &Path) -> Result<String> {
    let paths = fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_options = |path: &PathBuf| path.to_string_lossy().contains("/OPTIONS-");
    Ok(fs::read_to_string(paths.filter(is_options).max().ok_or("no OPTIONS file")?)?)
}

/// Returns the options in which two databases differ, as `name=value` of either side.
fn differences(peer: &str, ours: &str) -> String {
    let [peer, ours] = [peer, ours].map(|text| -> BTreeSet<&str> {
        text.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect()
    });
    let theirs = peer.difference(&ours).map(|line| format!("db_bench {line}"));
    let all: Vec<_> =
        theirs.chain(ours.difference(&peer).map(|line| format!("ours {line}"))).collect();
    if all.is_empty() { "none".to_owned() } else { all.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_parsed_and_a_missing_key_is_an_error() {
        let line = "Read rate:  0 ops/second\nreadrandom   :       1.538 micros/op 650128 ops/sec 0.461 seconds \
                    300000 operations;   74.4 MB/s (300000 of 300000 found)";
        let done = Done { operations: 300_000, per_s: 650_128.0 };
        assert_eq!(parse(line).unwrap(), done);
        let lacking = line.replace("(300000 of", "(189000 of");
        let error = parse(&lacking).unwrap_err().to_string();
        assert_eq!(error, "db_bench found 189000 of 300000 keys");
        assert!(parse("Unknown flag").is_err());
    }

    #[test]
    fn only_differences_are_reported() {
        let (peer, ours) = ("# db_bench\n  a=1\n  b=2\n", "# us\na=1\nb=3\n");
        assert_eq!(differences(peer, ours), "db_bench b=2; ours b=3");
        assert_eq!(differences(peer, peer), "none");
    }
}
