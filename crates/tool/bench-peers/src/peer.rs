//! The peer `db_bench`: command line and result.

use crate::task::{
    CACHE_BYTES, KEY_BYTES, MEMTABLE_BYTES, RANGE_ROWS, ROWS, Task, VALUE_BYTES, Work,
};

/// Its program.
pub(crate) const PROGRAM: &str = "db_bench";

/// Returns the command line of a task, with the histogram on, as ours cannot be switched off.
pub(crate) fn args(work: &Work, task: &Task) -> Vec<String> {
    let is_write = work.kind.is_write();
    let count = if is_write { "writes" } else { "reads" };
    let flags = [
        ("benchmarks", work.peer.to_owned()),
        ("db", task.dir.display().to_string()),
        ("use_existing_db", u8::from(!is_write).to_string()),
        ("num", ROWS.to_string()),
        (count, task.operations.to_string()),
        ("key_size", KEY_BYTES.to_string()),
        ("value_size", VALUE_BYTES.to_string()),
        ("seek_nexts", RANGE_ROWS.to_string()),
        ("threads", 1.to_string()),
        ("histogram", 1.to_string()),
        ("disable_wal", 1.to_string()),
        ("cache_size", CACHE_BYTES.to_string()),
        ("write_buffer_size", MEMTABLE_BYTES.to_string()),
        ("compression_type", "none".to_owned()),
        ("seed", 1.to_string()),
    ];
    let flags = flags.map(|(name, value)| format!("--{name}={value}"));
    std::iter::once(PROGRAM.to_owned()).chain(flags).collect()
}

/// Parses the operations per second.
///
/// # Errors
/// When it printed none, or did not find every key.
pub(crate) fn ops_per_s(work: &Work, printed: &str) -> Result<f64, String> {
    let line = printed.lines().find(|line| line.starts_with(work.peer) && line.contains("ops/sec"));
    let line = line.ok_or_else(|| format!("{PROGRAM} printed no result: {printed}"))?;
    let tokens: Vec<_> = line.split_whitespace().collect();
    let at = tokens.iter().position(|token| *token == "ops/sec").unwrap_or_default();
    let rate = tokens.get(at.saturating_sub(1)).and_then(|token| token.parse().ok());
    if let Some((found, all)) = found(line)
        && found != all
    {
        return Err(format!("{PROGRAM} found {found} of {all} keys"));
    }
    rate.ok_or_else(|| format!("{PROGRAM}'s result cannot be parsed: {line}"))
}

/// Returns the counts of `(N of M found)`.
fn found(line: &str) -> Option<(&str, &str)> {
    line.rsplit_once('(')?.1.split_once(" found")?.0.split_once(" of ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::WORKS;

    #[test]
    fn rate_is_parsed_and_a_missing_key_is_an_error() {
        let line = "readrandom   :       1.538 micros/op 650128 ops/sec 0.461 seconds \
                    300000 operations;   74.4 MB/s (300000 of 300000 found)";
        assert_eq!(ops_per_s(&WORKS[0], line), Ok(650_128.0));
        let lacking = line.replace("(300000 of", "(189000 of");
        let error = ops_per_s(&WORKS[0], &lacking).unwrap_err();
        assert_eq!(error, "db_bench found 189000 of 300000 keys");
        assert!(ops_per_s(&WORKS[1], line).is_err());
    }
}
