//! Counters of the block layer, and their growth during a run.

use std::path::Path;

use model::IssuedRequests;

/// Bytes of a sector in the block layer's counters, whatever the device's own.
/// Source: Linux, Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// One reading of a block device's `stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockStat(IssuedRequests);

/// Reads the counters in a device's directory of `/sys`; `None` where there are none.
pub fn read_stat(sys_dir: &Path) -> Option<BlockStat> {
    parse(&std::fs::read_to_string(sys_dir.join("stat")).ok()?)
}

impl BlockStat {
    /// Returns the growth since an earlier reading; `None` when a counter was reset.
    pub fn since(self, earlier: Self) -> Option<IssuedRequests> {
        let (now, then) = (self.0, earlier.0);
        let optional = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Some(IssuedRequests {
            reads: now.reads.checked_sub(then.reads)?,
            read_bytes: now.read_bytes.checked_sub(then.read_bytes)?,
            read_merges: now.read_merges.checked_sub(then.read_merges)?,
            read_ms: now.read_ms.checked_sub(then.read_ms)?,
            writes: now.writes.checked_sub(then.writes)?,
            write_bytes: now.write_bytes.checked_sub(then.write_bytes)?,
            write_merges: now.write_merges.checked_sub(then.write_merges)?,
            write_ms: now.write_ms.checked_sub(then.write_ms)?,
            flushes: optional(now.flushes, then.flushes),
            flush_ms: optional(now.flush_ms, then.flush_ms),
        })
    }
}

/// Returns the counters in the text of `stat`; `None` unless it has the eleven of Linux 2.6.
///
/// Source: Linux, Documentation/block/stat.rst.
fn parse(text: &str) -> Option<BlockStat> {
    let fields: Vec<u64> =
        text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let [reads, read_merges, read_sectors, read_ms, writes, write_merges, write_sectors, write_ms] =
        *fields.first_chunk()?;
    Some(BlockStat(IssuedRequests {
        reads,
        read_bytes: read_sectors.saturating_mul(SECTOR_BYTES),
        read_merges,
        read_ms,
        writes,
        write_bytes: write_sectors.saturating_mul(SECTOR_BYTES),
        write_merges,
        write_ms,
        flushes: fields.get(15).copied(),
        flush_ms: fields.get(16).copied(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str = "  350137    34674 26379986   647490    81295    59967 15675240    88614 \
                           0    46360   743827    24368       37  7466640     5248    15515     2473";

    #[test]
    fn growth_of_requests_is_in_bytes_and_milliseconds() {
        let later = "350237 34675 26380786 647500 81295 59967 15675240 88614 0 46360 743827 24368 \
                     37 7466640 5248 15517 2480";
        let growth = parse(later).unwrap().since(parse(EARLIER).unwrap()).unwrap();
        let expected = IssuedRequests {
            reads: 100,
            read_bytes: 800 * 512,
            read_merges: 1,
            read_ms: 10,
            flushes: Some(2),
            flush_ms: Some(7),
            ..IssuedRequests::default()
        };
        assert_eq!(growth, expected);
    }

    #[test]
    fn reset_and_missing_counters_are_unknown() {
        assert_eq!(parse("1 2 3 4 5 6 7 8").unwrap().since(parse(EARLIER).unwrap()), None);
        assert_eq!(parse("1 2 3"), None);
        let old = parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!(old.since(old).unwrap().flushes, None);
    }
}
