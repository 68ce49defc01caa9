//! The question of a comparison.

use std::collections::BTreeMap;

use model::Experiment;

use crate::noise::Noise;

/// Experiment, base and prior noise of a comparison.
pub(crate) struct Question<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) base: &'a str,
    pub(crate) noise: &'a BTreeMap<String, Noise>,
}
