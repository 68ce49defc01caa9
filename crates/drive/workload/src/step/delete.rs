//! Steps that delete rows.

use model::StepRole;
use model::step::name;

use super::recipe::{AccessPattern, Order, Recipe};
use crate::request::Presence;
use crate::stream::Action;

pub(super) const DELETERANDOM: Recipe = Recipe {
    name: name::DELETERANDOM,
    about: "deletes rows, a tenth as many times as there are rows; one may be drawn twice",
    role: StepRole::Write,
    clients: Some(AccessPattern { action: Action::Delete, order: Order::ByDistribution }),
    share_of_rows: Some(0.1),
    leaves: Some(Presence::Some),
    ..Recipe::EMPTY
};
