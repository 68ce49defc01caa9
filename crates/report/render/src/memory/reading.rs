//! One sentence on an allocator's utilisation.

use model::{Bin, StepRecord, Unit};

use super::classes::Sum;
use crate::figure::{figure, percent};

/// Returns the utilisation at a step's end as a clause after a comma.
///
/// Of the size classes where they are recorded, else allocated of mapped bytes; `None` without
/// both.
///
/// Source: [Callaghan 2022-09-19].
pub(crate) fn reading(step: &StepRecord) -> Option<String> {
    let of_classes = step.malloc.as_ref().and_then(|malloc| of_classes(&malloc.bins));
    of_classes.or_else(|| {
        let gauge = |name: &str| step.gauges_end.get(name).copied();
        let (allocated, mapped) = (gauge("malloc_allocated_bytes")?, gauge("malloc_mapped_bytes")?);
        Some(format!(
            "{} of the {} mapped is allocated, {}.",
            figure(Unit::Bytes, allocated),
            figure(Unit::Bytes, mapped),
            percent(allocated / mapped)
        ))
    })
}

fn of_classes(bins: &[Bin]) -> Option<String> {
    let all = Sum::of(bins);
    (all.mapped > 0.0).then(|| {
        format!(
            "the size classes are {} used: {} of their {} is fragmentation.",
            percent(all.used_share()),
            figure(Unit::Bytes, all.unused),
            figure(Unit::Bytes, all.mapped)
        )
    })
}
