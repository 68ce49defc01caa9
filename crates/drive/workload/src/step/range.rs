//! Steps of range reads.

use model::{Direction, StepRole};

use super::recipe::{Order, Recipe, TrafficSpec};
use crate::stream::Action;

pub(super) const FWDRANGE: Recipe = Recipe {
    name: "fwdrange",
    about: "reads a few rows per operation in key order",
    role: StepRole::Read,
    clients: Some(TrafficSpec { action: Action::Scan(Direction::Forward), order: Order::AsAsked }),
    ..Recipe::EMPTY
};

pub(super) const REVRANGE: Recipe = Recipe {
    name: "revrange",
    about: "reads a few rows per operation against the key order",
    clients: Some(TrafficSpec { action: Action::Scan(Direction::Reverse), order: Order::AsAsked }),
    ..FWDRANGE
};
