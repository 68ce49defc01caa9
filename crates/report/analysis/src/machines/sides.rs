//! Values of both sides of a comparison, by machine.

use std::collections::BTreeMap;

use stats::machines::MachineMean;

use crate::samples::{Origin, by_machine, numbers, same_blocks};

/// Values of a metric of one variant, with their origins.
type Values<'a> = Vec<(Origin<'a>, f64)>;

/// Values of both sides on each machine, by name.
pub(crate) struct OnMachines<'a> {
    by_name: BTreeMap<Option<&'a str>, [Values<'a>; 2]>,
}

impl<'a> OnMachines<'a> {
    /// Returns the values of base and variant by machine.
    pub(crate) fn of(base: &[(Origin<'a>, f64)], own: &[(Origin<'a>, f64)]) -> Self {
        let mut by_name: BTreeMap<_, [Values<'a>; 2]> = BTreeMap::new();
        for (side, values) in [base, own].into_iter().enumerate() {
            for value in values {
                by_name.entry(value.0.machine).or_default()[side].push(*value);
            }
        }
        Self { by_name }
    }

    /// Returns whether values come from several machines.
    pub(crate) fn are_several(&self) -> bool {
        self.by_name.len() > 1
    }

    /// Returns the values of the machines that have both sides.
    ///
    /// A machine with one side shows no difference: it is part of every machine's level.
    pub(crate) fn shared(&self) -> Vec<(Option<&'a str>, &[Values<'a>; 2])> {
        let has_both = |(_, sides): &(_, &[Values<'a>; 2])| sides.iter().all(|it| !it.is_empty());
        self.by_name.iter().map(|(name, sides)| (*name, sides)).filter(has_both).collect()
    }

    /// Returns the difference on each machine with both sides; `None` where one has no ratio.
    pub(crate) fn means(&self) -> Option<Vec<MachineMean>> {
        let mean = |(_, [base, own]): (_, &[Values<'a>; 2])| {
            MachineMean::of(&numbers(base), &numbers(own), same_blocks(base, own))
        };
        self.shared().into_iter().map(mean).collect()
    }
}

/// Returns the geometric mean of each machine's values; `None` below two machines.
pub(crate) fn means_of_machines(values: &[(Origin<'_>, f64)]) -> Option<Vec<f64>> {
    let machines = by_machine(values);
    let mean = |own: Vec<f64>| stats::geometric_mean(&own);
    if machines.len() > 1 { machines.into_values().map(mean).collect() } else { None }
}
