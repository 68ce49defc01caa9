//! Parser of the property `leveldb.stats`.

use model::state::LevelShape;

/// The table of levels; sizes are rounded to a MiB per level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Levels that hold files or were compacted, shallowest first.
    pub(crate) levels: Vec<LevelShape>,
    /// Seconds of flushes and compactions, each level rounded.
    pub(crate) compaction_seconds: u64,
    /// Bytes read by compactions.
    pub(crate) read_bytes: u64,
}

impl Statistics {
    /// Parses the table: level, files, size, seconds, read and written.
    pub(crate) fn parse(text: &str) -> Self {
        let mut statistics = Self::default();
        for line in text.lines() {
            let numbers: Vec<u64> =
                line.split_whitespace().map_while(|field| field.parse().ok()).collect();
            let &[level, files, size, seconds, read, _written] = &numbers[..] else { continue };
            let Ok(level) = level.try_into() else { continue };
            statistics.levels.push(LevelShape { level, files, bytes: size << 20 });
            statistics.compaction_seconds += seconds;
            statistics.read_bytes += read << 20;
        }
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
                               Compactions
Level  Files Size(MB) Time(sec) Read(MB) Write(MB)
--------------------------------------------------
  0        2        5         1        0        71
  1        8       16         2       60        55
";

    #[test]
    fn table_of_levels_is_parsed() {
        let statistics = Statistics::parse(TEXT);
        let level = |level, files, size: u64| LevelShape { level, files, bytes: size << 20 };
        assert_eq!(statistics.levels, [level(0, 2, 5), level(1, 8, 16)]);
        assert_eq!((statistics.compaction_seconds, statistics.read_bytes), (3, 60 << 20));
        assert_eq!(Statistics::parse("Compactions\n"), Statistics::default());
    }
}
