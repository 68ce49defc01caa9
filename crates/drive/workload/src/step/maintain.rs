//! Steps without clients: they bring the engine to a state.
//!
//! Source: RocksDB, tools/benchmark.sh, `flush_mt_l0` (flush, wait, compact level 0, wait);
//! [Callaghan mytools], Insert Benchmark scripts (vacuum and checkpoint after l.i2).

use engine::Maintenance;
use model::step::name;

use super::recipe::{Recipe, Stage};

pub(super) const SETTLE: Recipe = Recipe {
    name: name::SETTLE,
    about: "flushes what is in memory and compacts level 0, waiting each time; a server first \
            reclaims what deleted rows have left",
    stages: &[
        Stage::Do(Maintenance::Clean),
        Stage::Do(Maintenance::Flush),
        Stage::WaitIdle,
        Stage::Do(Maintenance::CompactLevel0),
        Stage::WaitIdle,
    ],
    ..Recipe::EMPTY
};

pub(super) const COMPACT: Recipe = Recipe {
    name: name::COMPACT,
    about: "compacts everything and waits",
    stages: &[Stage::Do(Maintenance::CompactAll), Stage::WaitIdle],
    ..Recipe::EMPTY
};
