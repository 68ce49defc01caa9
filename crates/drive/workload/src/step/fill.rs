//! Steps that fill an empty engine, in an order of their own.
//!
//! Source: RocksDB, tools/benchmark.sh: `fillseq` and `filluniquerandom` run with one thread.

use model::StepRole;
use model::step::name;

use super::recipe::{AccessPattern, Order, Recipe};
use crate::request::Presence;
use crate::stream::Action;

const FILL: Recipe = Recipe { role: StepRole::Load, share_of_rows: Some(1.0), ..Recipe::EMPTY };

pub(super) const FILLSEQ: Recipe = Recipe {
    name: name::FILLSEQ,
    about: "inserts every row once in key order",
    clients: Some(AccessPattern { action: Action::Put, order: Order::Ascending }),
    is_single_client: true,
    leaves: Some(Presence::All),
    ..FILL
};

pub(super) const FILLRANDOM: Recipe = Recipe {
    name: "fillrandom",
    about: "inserts as many times as there are rows, each time a uniformly drawn one, \
            so that about 63 % of them are present afterwards",
    clients: Some(AccessPattern { action: Action::Put, order: Order::Uniform }),
    ..FILL
};

pub(super) const FILLUNIQUERANDOM: Recipe = Recipe {
    name: "filluniquerandom",
    about: "inserts every row once in a random order",
    clients: Some(AccessPattern { action: Action::Put, order: Order::Shuffled }),
    is_single_client: true,
    leaves: Some(Presence::All),
    ..FILL
};
