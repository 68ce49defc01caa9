//! The size classes of an allocator, the most mapped bytes first.

use model::{Bin, MallocRecord, RunRecord, StepRecord, Unit, float};

use super::table::is_served;
use crate::document::Table;
use crate::figure::{figure, percent};

/// Classes with a row of their own; the others share one.
const SHOWN: usize = 8;

/// Returns the step of a run at whose end its allocator wasted the most.
///
/// Waste is unused regions, or all mapped bytes where the allocator reports no regions. The fullest
/// step would hide it: classes fragment when their contents are freed. A server's allocator is not
/// recorded.
pub(crate) fn most_wasted(run: &RunRecord) -> Option<(&StepRecord, &MallocRecord)> {
    if is_served(run) {
        return None;
    }
    let wasted = |step: &StepRecord, malloc: &MallocRecord| match &malloc.bins[..] {
        [] => step.gauges_end.get("malloc_mapped_bytes").copied(),
        bins => Some(Sum::of(bins).unused),
    };
    let recorded = run.steps.iter().filter_map(|step| Some((step, step.malloc.as_ref()?)));
    let weighed = recorded.filter_map(|(step, malloc)| Some((wasted(step, malloc)?, step, malloc)));
    let most = weighed.max_by(|(one, ..), (other, ..)| one.total_cmp(other));
    most.map(|(_, step, malloc)| (step, malloc))
}

/// Returns the table of size classes: mapped bytes, share, utilisation.
///
/// Source: [jemalloc 5.3], `stats.c`: `curslabs` slabs of `pgs` pages, `util` of `curregs`.
pub(crate) fn classes(bins: &[Bin]) -> Table {
    let all = Sum::of(bins);
    let mut table = Table::new(["size class", "mapped", "share", "used", "unused"]);
    let mut row = |name: String, sum: &Sum| {
        table.push([
            name,
            figure(Unit::Bytes, sum.mapped),
            percent(sum.mapped / all.mapped),
            percent(sum.used_share()),
            figure(Unit::Bytes, sum.unused),
        ]);
    };
    for bin in &bins[..SHOWN.min(bins.len())] {
        row(size(bin.size), &Sum::of(std::slice::from_ref(bin)));
    }
    if let Some(others) = bins.get(SHOWN..).filter(|others| !others.is_empty()) {
        row(format!("{} others", others.len()), &Sum::of(others));
    }
    row("all".to_owned(), &all);
    table
}

/// Returns a size, in bytes up to four digits.
fn size(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { figure(Unit::Bytes, float(bytes)) }
}

/// Bytes that some classes map, and those of them that no allocation uses.
pub(super) struct Sum {
    pub(super) mapped: f64,
    pub(super) unused: f64,
}

impl Sum {
    pub(super) fn of<'a>(bins: impl IntoIterator<Item = &'a Bin>) -> Self {
        let mut sum = Self { mapped: 0.0, unused: 0.0 };
        for bin in bins {
            let mapped = float(bin.mapped_bytes());
            sum.mapped += mapped;
            sum.unused += mapped * (1.0 - bin.utilisation().unwrap_or(1.0));
        }
        sum
    }

    /// Returns the share of the mapped bytes in use, 0 to 1; 1 when nothing is mapped.
    pub(super) fn used_share(&self) -> f64 {
        if self.mapped > 0.0 { 1.0 - self.unused / self.mapped } else { 1.0 }
    }
}

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
