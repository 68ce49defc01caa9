//! Where the mean of a series changes: exact penalised segmentation.

/// A place where the last segment may begin.
struct Candidate {
    start: usize,
    /// Cost of the best segmentation of what comes before it, one penalty a segment.
    before: f64,
    /// From this end on a later start is never worse.
    until: usize,
}

/// Returns where the segments begin after the first, by the least squares and penalties in all.
///
/// The segmentation is exact: it has the least sum of squared differences from each segment's
/// mean, plus `penalty` for every segment. No segment is shorter than `min_len` (at least 1). A
/// series shorter than two segments, or one that holds what is no number, is one segment. Cost:
/// about proportional to the length where changes are frequent, to its square where there are none;
/// no allocation per step.
///
/// Source: R. Killick, P. Fearnhead and I. A. Eckley, 2012, "Optimal Detection of Changepoints With
/// a Linear Computational Cost", JASA 107(500), section 3.2 (PELT, with K = 0). Because a segment has
/// a least length, a start that is beaten at one end is left out only from `min_len` further on.
#[must_use]
pub fn segment(values: &[f64], penalty: f64, min_len: usize) -> Vec<usize> {
    let (length, min_len) = (values.len(), min_len.max(1));
    if length < 2 * min_len || penalty.is_nan() || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let sums = Sums::of(values);
    // The cost of the best segmentation of everything before `end`, and where its last one begins.
    let mut best = vec![(f64::INFINITY, 0_usize); length + 1];
    best[0].0 = 0.0;
    let mut candidates = Vec::with_capacity(length);
    for end in min_len..=length {
        let start = end - min_len;
        if best[start].0.is_finite() {
            candidates.push(Candidate { start, before: best[start].0, until: usize::MAX });
        }
        let mut least = (f64::INFINITY, 0);
        for candidate in &candidates {
            let cost = candidate.before + sums.cost(candidate.start, end) + penalty;
            if cost < least.0 {
                least = (cost, candidate.start);
            }
        }
        best[end] = least;
        candidates.retain_mut(|candidate| {
            if candidate.before + sums.cost(candidate.start, end) > least.0 {
                candidate.until = candidate.until.min(end + min_len);
            }
            end + 1 < candidate.until
        });
    }
    starts(&best)
}

/// Follows the last segments' starts from the end to the front.
fn starts(best: &[(f64, usize)]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut end = best.len() - 1;
    while best[end].1 > 0 {
        end = best[end].1;
        found.push(end);
    }
    found.reverse();
    found
}

/// Sums of the first values and of their squares: any stretch of them costs one subtraction.
pub(crate) struct Sums {
    sums: Vec<(f64, f64)>,
    /// What the values are told around.
    middle: f64,
}

impl Sums {
    /// Adds up the values around their median, so that little is lost to rounding.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut ordered = values.to_vec();
        let at = values.len() / 2;
        let middle = if values.is_empty() {
            0.0
        } else {
            *ordered.select_nth_unstable_by(at, f64::total_cmp).1
        };
        let mut sums = Vec::with_capacity(values.len() + 1);
        let mut last = (0.0, 0.0);
        sums.push(last);
        for value in values.iter().map(|value| value - middle) {
            last = (last.0 + value, last.1 + value * value);
            sums.push(last);
        }
        Self { sums, middle }
    }

    /// Returns how many values there are.
    pub(crate) fn len(&self) -> usize {
        self.sums.len() - 1
    }

    /// Returns the mean of the values from `start` to before `end`.
    #[expect(clippy::cast_precision_loss, reason = "series are far shorter than 2^53")]
    pub(crate) fn mean(&self, start: usize, end: usize) -> f64 {
        self.middle + (self.sums[end].0 - self.sums[start].0) / (end - start) as f64
    }

    /// Returns the squared differences from the mean of the values from `start` to before `end`.
    #[expect(clippy::cast_precision_loss, reason = "series are far shorter than 2^53")]
    pub(crate) fn cost(&self, start: usize, end: usize) -> f64 {
        let (before, after) = (self.sums[start], self.sums[end]);
        let sum = after.0 - before.0;
        (after.1 - before.1 - sum * sum / (end - start) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cost of a segmentation, from the definition.
    fn cost(values: &[f64], starts: &[usize], penalty: f64) -> f64 {
        let bounds: Vec<usize> =
            [0].into_iter().chain(starts.iter().copied()).chain([values.len()]).collect();
        let one = |pair: &[usize]| {
            let part = &values[pair[0]..pair[1]];
            let mean = part.iter().sum::<f64>() / f64::from(u32::try_from(part.len()).unwrap());
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>() + penalty
        };
        bounds.windows(2).map(one).sum()
    }

    /// The least cost of all segmentations, each looked at.
    fn least(values: &[f64], penalty: f64, min_len: usize) -> f64 {
        let last = values.len();
        let all = 0_u32..1 << (last - 1);
        let starts = all.map(|set| (1..last).filter(|at| set >> (at - 1) & 1 == 1).collect());
        let is_allowed = |starts: &Vec<usize>| {
            let bounds = [0].into_iter().chain(starts.iter().copied()).chain([last]);
            let bounds: Vec<usize> = bounds.collect();
            starts.is_empty() || bounds.windows(2).all(|pair| pair[1] - pair[0] >= min_len)
        };
        let costs =
            starts.filter(is_allowed).map(|starts: Vec<usize>| cost(values, &starts, penalty));
        costs.fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn no_segmentation_costs_less(
            values in prop::collection::vec(-3_i32..4, 1..14),
            penalty in 0.0..12.0_f64,
            min_len in 1_usize..5,
            level in prop::sample::select(vec![0.0, 1e6]),
        ) {
            let values: Vec<f64> = values.iter().map(|value| level + f64::from(*value)).collect();
            let found = segment(&values, penalty, min_len);
            let bounds = [0].into_iter().chain(found.iter().copied()).chain([values.len()]);
            let bounds: Vec<usize> = bounds.collect();
            let is_allowed = bounds.windows(2).all(|pair| pair[1] >= pair[0] + min_len);
            prop_assert!(found.is_empty() || is_allowed, "{:?}", found);
            let (ours, best) = (cost(&values, &found, penalty), least(&values, penalty, min_len));
            prop_assert!((ours - best).abs() < 1e-6, "{} {} {:?}", ours, best, found);
        }

        #[test]
        fn a_shift_of_all_values_moves_no_boundary(
            values in prop::collection::vec(-9_i32..9, 1..60), by in -1000_i32..1000,
        ) {
            let as_they_are: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let moved: Vec<f64> = values.iter().map(|value| f64::from(*value + by)).collect();
            prop_assert_eq!(segment(&as_they_are, 20.0, 3), segment(&moved, 20.0, 3));
        }
    }

    #[test]
    fn steps_are_found_and_a_level_has_none() {
        let steps: Vec<f64> =
            (0..300).map(|at| f64::from(at / 100) + f64::from(at % 7) / 100.0).collect();
        assert_eq!(segment(&steps, 1.0, 5), [100, 200]);
        assert_eq!(segment(&[5.0; 200], 0.1, 5), []);
        assert_eq!(segment(&steps, 1e9, 5), []);
    }

    #[test]
    fn what_cannot_be_parted_is_one_segment() {
        assert_eq!(segment(&[], 1.0, 3), []);
        assert_eq!(segment(&[1.0, 9.0, 1.0], 0.1, 2), []);
        assert_eq!(segment(&[1.0, f64::NAN, 9.0, 9.0], 0.1, 1), []);
        assert_eq!(segment(&[1.0, 9.0], 0.1, 0), [1]);
        assert_eq!(segment(&[1.0, 9.0], f64::NAN, 1), []);
    }
}
