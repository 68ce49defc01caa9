//! Steps of point reads.

use model::StepRole;
use model::step::name;

use super::recipe::{AccessPattern, Order, Recipe};
use crate::stream::Action;

const READ: Recipe = Recipe { role: StepRole::Read, ..Recipe::EMPTY };

pub(super) const READRANDOM: Recipe = Recipe {
    name: "readrandom",
    about: "reads one row per operation",
    clients: Some(AccessPattern { action: Action::Get, order: Order::ByDistribution }),
    ..READ
};

pub(super) const READMISSING: Recipe = Recipe {
    name: name::READMISSING,
    about: "reads keys that were never written and lie between those that were",
    clients: Some(AccessPattern { action: Action::GetAbsent, order: Order::ByDistribution }),
    ..READ
};

pub(super) const MULTIREADRANDOM: Recipe = Recipe {
    name: "multireadrandom",
    about: "reads several rows per operation in one call",
    clients: Some(AccessPattern { action: Action::MultiGet, order: Order::ByDistribution }),
    ..READ
};
