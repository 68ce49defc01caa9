//! One sentence on an allocator's utilisation.

use model::{Bin, StepRecord, Unit};

use super::classes::Sum;
use crate::figure::{figure, percent};
use crate::sentence::list;

/// Utilisation below which a class counts as fragmented; [Callaghan 2022-09-19] has 0.7 as low.
const WELL_USED: f64 = 0.9;
/// Share of all mapped bytes that a class must waste to be named.
const NAMED: f64 = 0.005;
/// Classes that are named.
const NAMED_MAX: usize = 4;

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
    if all.mapped <= 0.0 {
        return None;
    }
    let wasted = |bin: &Bin| Sum::of(std::slice::from_ref(bin)).unused;
    let mut poor: Vec<&Bin> = bins
        .iter()
        .filter(|bin| bin.utilisation().is_some_and(|used| used < WELL_USED))
        .filter(|bin| wasted(bin) >= NAMED * all.mapped)
        .collect();
    poor.sort_by(|one, other| wasted(other).total_cmp(&wasted(one)));
    poor.truncate(NAMED_MAX);
    poor.sort_by_key(|bin| bin.size);
    if poor.is_empty() {
        return Some(format!(
            "the size classes are {} used: {} of their {} is fragmentation.",
            percent(all.used_share()),
            figure(Unit::Bytes, all.unused),
            figure(Unit::Bytes, all.mapped)
        ));
    }
    let own = Sum::of(poor.iter().copied());
    let sizes: Vec<String> = poor.iter().map(|bin| bin.size.to_string()).collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let (subject, verb, their) = match poor.len() {
        1 => ("the size class", "is", "its"),
        _ => ("the size classes", "are", "their"),
    };
    Some(format!(
        "{subject} of {} bytes {verb} {} used: {} of {their} {} is fragmentation, {} of all that \
         the classes map.",
        list(&sizes),
        percent(own.used_share()),
        figure(Unit::Bytes, own.unused),
        figure(Unit::Bytes, own.mapped),
        percent(own.unused / all.mapped)
    ))
}
