//! Every step of keys and values.
//!
//! Source: RocksDB, tools/benchmark.sh and tools/benchmark_compare.sh: `fillseq` and
//! `filluniquerandom` run with one thread; `overwritesome` writes a tenth of the keys; `settle` is
//! `flush_mt_l0` (flush, wait, compact level 0, wait) with the vacuum of [Callaghan mytools],
//! Insert Benchmark scripts, after l.i2. As there, the writer of `*whilewriting` draws rows
//! uniformly, whatever the readers do: with a hot spot of readers and writer alike every read would
//! end in the newest writes, which is bogus [Callaghan 2022-10-19].

use engine::Maintenance;
use model::step::name;
use model::{Direction, StepRole};

use super::mix::Mix;
use super::recipe::{AccessPattern, Order, Recipe, Stage};
use crate::request::Presence;
use crate::stream::Action;

/// The stages of `settle`.
pub(super) const SETTLE: &[Stage] = &[
    Stage::Do(Maintenance::Clean),
    Stage::Do(Maintenance::Flush),
    Stage::WaitIdle,
    Stage::Do(Maintenance::CompactLevel0),
    Stage::WaitIdle,
];

const FILL: Recipe = Recipe { role: StepRole::Load, share_of_rows: Some(1.0), ..Recipe::EMPTY };

const OVERWRITE: Recipe = Recipe {
    role: StepRole::Write,
    clients: clients(Action::Put, Order::ByDistribution),
    ..Recipe::EMPTY
};

const READ: Recipe = Recipe { role: StepRole::Read, ..Recipe::EMPTY };

const WHILEWRITING: Recipe =
    Recipe { role: StepRole::ReadWrite, has_writer: true, ..Recipe::EMPTY };

const fn clients(action: Action, order: Order) -> Option<AccessPattern> {
    Some(AccessPattern { action, order })
}

const fn by_distribution(action: Action) -> Option<AccessPattern> {
    clients(action, Order::ByDistribution)
}

/// Every step, in the order of lists.
pub(super) const STEPS: &[Recipe] = &[
    Recipe {
        name: name::FILLSEQ,
        about: "inserts every row once in key order",
        clients: clients(Action::Put, Order::Ascending),
        is_single_client: true,
        leaves: Some(Presence::All),
        ..FILL
    },
    Recipe {
        name: "fillrandom",
        about: "inserts a uniformly drawn row as many times as there are rows, so that about 63 % \
                of the rows are present afterwards",
        clients: clients(Action::Put, Order::Uniform),
        ..FILL
    },
    Recipe {
        name: "filluniquerandom",
        about: "inserts every row once in a random order",
        clients: clients(Action::Put, Order::Shuffled),
        is_single_client: true,
        leaves: Some(Presence::All),
        ..FILL
    },
    Recipe { name: "overwrite", about: "writes rows again", ..OVERWRITE },
    Recipe {
        name: "overwritesome",
        about: "writes rows again, a tenth as many times as there are rows, to randomise the \
                levels above the last level",
        share_of_rows: Some(0.1),
        ..OVERWRITE
    },
    Recipe {
        name: "overwriteandwait",
        about: "writes rows again, then waits until the engine has done the deferred work",
        stages: &[Stage::WaitIdle],
        ..OVERWRITE
    },
    Recipe {
        name: name::DELETERANDOM,
        about: "deletes rows, a tenth as many times as there are rows; a row may be drawn twice",
        role: StepRole::Write,
        clients: by_distribution(Action::Delete),
        share_of_rows: Some(0.1),
        leaves: Some(Presence::Some),
        ..Recipe::EMPTY
    },
    Recipe {
        name: "readrandom",
        about: "reads one row per operation",
        clients: by_distribution(Action::Get),
        ..READ
    },
    Recipe {
        name: name::READMISSING,
        about: "reads keys that were never written and lie between written keys",
        clients: by_distribution(Action::GetAbsent),
        ..READ
    },
    Recipe {
        name: "multireadrandom",
        about: "reads several rows per operation in one call",
        clients: by_distribution(Action::MultiGet),
        ..READ
    },
    Recipe {
        name: "fwdrange",
        about: "reads a few rows per operation in key order",
        clients: by_distribution(Action::Scan(Direction::Forward)),
        ..READ
    },
    Recipe {
        name: "revrange",
        about: "reads a few rows per operation against the key order",
        clients: by_distribution(Action::Scan(Direction::Reverse)),
        ..READ
    },
    Recipe {
        name: "partialupdate",
        about: "replaces a few bytes of a row's value, which keeps its length",
        role: StepRole::Write,
        clients: by_distribution(Action::PartialUpdate),
        ..Recipe::EMPTY
    },
    Recipe {
        name: "fieldread",
        about: "reads a few bytes of a row's value",
        clients: by_distribution(Action::FieldRead),
        ..READ
    },
    Recipe {
        name: "append",
        about: "lengthens values, a tenth as many times as there are rows, so that their growth has \
                a limit",
        role: StepRole::Write,
        clients: by_distribution(Action::Append),
        share_of_rows: Some(0.1),
        ..Recipe::EMPTY
    },
    Recipe {
        name: name::READSEQNO,
        about: "reads a few rows per operation in the order of their newest writes",
        clients: by_distribution(Action::ScanSequence),
        ..READ
    },
    Recipe {
        name: "readwhilewriting",
        about: "reads one row per operation while a background writer overwrites rows",
        clients: by_distribution(Action::Get),
        ..WHILEWRITING
    },
    Recipe {
        name: "fwdrangewhilewriting",
        about: "reads a few rows in key order while a background writer overwrites rows",
        clients: by_distribution(Action::Scan(Direction::Forward)),
        ..WHILEWRITING
    },
    Recipe {
        name: "revrangewhilewriting",
        about: "reads a few rows against the key order while a background writer overwrites rows",
        clients: by_distribution(Action::Scan(Direction::Reverse)),
        ..WHILEWRITING
    },
    Recipe {
        name: "ycsb-a",
        about: "YCSB A, update heavy: half reads, half updates of rows by scrambled zipf",
        role: StepRole::ReadWrite,
        mix: Some(Mix::A),
        ..Recipe::EMPTY
    },
    Recipe {
        name: "ycsb-b",
        about: "YCSB B, read mostly: 95 % reads, 5 % updates of rows by scrambled zipf",
        role: StepRole::ReadWrite,
        mix: Some(Mix::B),
        ..Recipe::EMPTY
    },
    Recipe {
        name: name::YCSB_C,
        about: "YCSB C, read only: reads of rows by scrambled zipf",
        mix: Some(Mix::C),
        ..READ
    },
    Recipe {
        name: "ycsb-d",
        about: "YCSB D, read latest: 95 % reads of the newest rows, 5 % inserts of new rows",
        role: StepRole::ReadWrite,
        mix: Some(Mix::D),
        leaves: Some(Presence::Some),
        ..Recipe::EMPTY
    },
    Recipe {
        name: "ycsb-e",
        about: "YCSB E, short ranges: 95 % range reads of 1 to 100 rows, 5 % inserts of new rows",
        role: StepRole::ReadWrite,
        mix: Some(Mix::E),
        leaves: Some(Presence::Some),
        ..Recipe::EMPTY
    },
    Recipe {
        name: "ycsb-f",
        about: "YCSB F, read-modify-write: half reads, half reads followed by a write of the row",
        role: StepRole::ReadWrite,
        mix: Some(Mix::F),
        ..Recipe::EMPTY
    },
    Recipe {
        name: name::SETTLE,
        about: "flushes what is in memory and compacts level 0, waiting each time; a server first \
                reclaims the space of deleted rows",
        stages: SETTLE,
        ..Recipe::EMPTY
    },
    Recipe {
        name: name::COMPACT,
        about: "compacts everything and waits",
        stages: &[Stage::Do(Maintenance::CompactAll), Stage::WaitIdle],
        ..Recipe::EMPTY
    },
];
