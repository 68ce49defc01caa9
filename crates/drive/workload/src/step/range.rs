//! Steps of range reads.

use model::{Direction, StepRole};

use super::recipe::{AccessPattern, Order, Recipe};
use crate::stream::Action;

pub(super) const FWDRANGE: Recipe = Recipe {
    name: "fwdrange",
    about: "reads a few rows per operation in key order",
    role: StepRole::Read,
    clients: Some(AccessPattern {
        action: Action::Scan(Direction::Forward),
        order: Order::ByDistribution,
    }),
    ..Recipe::EMPTY
};

pub(super) const REVRANGE: Recipe = Recipe {
    name: "revrange",
    about: "reads a few rows per operation against the key order",
    clients: Some(AccessPattern {
        action: Action::Scan(Direction::Reverse),
        order: Order::ByDistribution,
    }),
    ..FWDRANGE
};
