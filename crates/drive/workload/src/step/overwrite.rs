//! Steps that write rows of the key space again.
//!
//! Source: RocksDB, tools/benchmark.sh and tools/benchmark_compare.sh (`overwrite`,
//! `overwritesome` with a tenth of the keys, `overwriteandwait`).

use model::StepRole;

use super::recipe::{AccessPattern, Order, Recipe, Stage};
use crate::stream::Action;

pub(super) const OVERWRITE: Recipe = Recipe {
    name: "overwrite",
    about: "writes rows again",
    role: StepRole::Write,
    clients: Some(AccessPattern { action: Action::Put, order: Order::ByDistribution }),
    ..Recipe::EMPTY
};

pub(super) const OVERWRITESOME: Recipe = Recipe {
    name: "overwritesome",
    about: "writes rows again, a tenth as many times as there are rows, \
            to randomise what lies above the last level",
    share_of_rows: Some(0.1),
    ..OVERWRITE
};

pub(super) const OVERWRITEANDWAIT: Recipe = Recipe {
    name: "overwriteandwait",
    about: "writes rows again, then waits until the engine has done the deferred work",
    stages: &[Stage::WaitIdle],
    ..OVERWRITE
};
