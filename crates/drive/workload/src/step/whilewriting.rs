//! Steps that read while a rate-limited background writer overwrites rows.
//!
//! Source: RocksDB, tools/benchmark.sh (`readwhilewriting`, `fwdrangewhilewriting`,
//! `revrangewhilewriting`). Like there the writer draws rows uniformly, whatever the readers do:
//! with a hot spot of readers and writer alike every read would end in the newest writes, which
//! is bogus [Callaghan 2022-10-19].

use model::StepRole;

use super::range::{FWDRANGE, REVRANGE};
use super::read::READRANDOM;
use super::recipe::Recipe;

const WHILEWRITING: Recipe =
    Recipe { role: StepRole::ReadWrite, has_writer: true, ..Recipe::EMPTY };

pub(super) const READWHILEWRITING: Recipe = Recipe {
    name: "readwhilewriting",
    about: "reads one row per operation while a background writer overwrites rows",
    clients: READRANDOM.clients,
    ..WHILEWRITING
};

pub(super) const FWDRANGEWHILEWRITING: Recipe = Recipe {
    name: "fwdrangewhilewriting",
    about: "reads a few rows in key order while a background writer overwrites rows",
    clients: FWDRANGE.clients,
    ..WHILEWRITING
};

pub(super) const REVRANGEWHILEWRITING: Recipe = Recipe {
    name: "revrangewhilewriting",
    about: "reads a few rows against the key order while a background writer overwrites rows",
    clients: REVRANGE.clients,
    ..WHILEWRITING
};
