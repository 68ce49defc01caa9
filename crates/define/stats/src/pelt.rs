//! Exact penalised changepoint segmentation (PELT).

use model::float;

/// Relative tolerance for equal costs: far above rounding.
const TIE: f64 = 1e-9;

/// Returns the first index of every segment after the first.
///
/// The segmentation is exact: it has the least sum of squared differences from each segment's mean,
/// plus `penalty` for every segment. No segment is shorter than `min_len` (at least 1), but the
/// last one may have `last_len` values (at most `min_len`). A series shorter than two segments, or
/// with a value that is not finite, is one segment. Cost: the length times the distance between
/// changes.
///
/// Source: [Killick Fearnhead Eckley 2012, section 3.2], PELT with K = 0, of which the first starts
/// are pruned: those before a clear change. Because of the minimum segment length, a start that is
/// beaten at one end is pruned only from `min_len` further on.
pub fn segment(values: &[f64], penalty: f64, min_len: usize, last_len: usize) -> Vec<usize> {
    let (length, min_len) = (values.len(), min_len.max(1));
    let last_len = last_len.clamp(1, min_len);
    if length < min_len + last_len
        || penalty.is_nan()
        || values.iter().any(|value| !value.is_finite())
    {
        return Vec::new();
    }
    let sums = Sums::of(values).sums;
    let tie = TIE * sums[length].1;
    let sums: Vec<f64> = sums.into_iter().map(|sums| sums.0).collect();
    // Cost of the best segmentation before each start, less the squares of all values before it:
    // those are the same for each start.
    let mut before = vec![f64::INFINITY; length + 1];
    before[0] = 0.0;
    // Start of the last segment of the best segmentation before each end.
    let mut last = vec![0; length + 1];
    // Starts beaten for good at each end.
    let mut beaten = vec![0; length + 1];
    let mut costs = Vec::with_capacity(length);
    for end in min_len..=length {
        let newest = end - if end == length { last_len } else { min_len };
        let first = beaten[end - min_len];
        let starts = before[first..=newest].iter().zip(&sums[first..=newest]).zip(first..);
        costs.clear();
        costs.extend(starts.map(|((before, sum), start)| {
            before - (sums[end] - sum) * (sums[end] - sum) / float(end - start)
        }));
        let (mut start, mut least) = (0, f64::INFINITY);
        for (index, cost) in costs.iter().enumerate() {
            if *cost < least {
                (start, least) = (index, *cost);
            }
        }
        last[end] = first + start;
        before[end] = least + penalty;
        let open = costs.iter().position(|cost| *cost <= before[end] + tie).unwrap_or(start);
        beaten[end] = beaten[end - 1].max(first + open);
    }
    starts(&last)
}

/// Follows the last segments' starts from the end to the front.
fn starts(last: &[usize]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut end = last.len() - 1;
    while last[end] > 0 {
        end = last[end];
        found.push(end);
    }
    found.reverse();
    found
}

/// Prefix sums of values and squares: mean and cost of any stretch in O(1).
pub(crate) struct Sums {
    sums: Vec<(f64, f64)>,
    /// Centre subtracted before summing, against cancellation.
    middle: f64,
}

impl Sums {
    /// Sums the values centred by their median, against cancellation.
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
    pub(crate) fn mean(&self, start: usize, end: usize) -> f64 {
        self.middle + (self.sums[end].0 - self.sums[start].0) / float(end - start)
    }

    /// Returns the squared differences from the mean of the values from `start` to before `end`.
    pub(crate) fn cost(&self, start: usize, end: usize) -> f64 {
        let (before, after) = (self.sums[start], self.sums[end]);
        let sum = after.0 - before.0;
        (after.1 - before.1 - sum * sum / float(end - start)).max(0.0)
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

    /// The least cost of all segmentations, by brute force.
    fn least(values: &[f64], penalty: f64, lens: (usize, usize)) -> f64 {
        let last = values.len();
        let all = 0_u32..1 << (last - 1);
        let starts = all.map(|set| (1..last).filter(|at| set >> (at - 1) & 1 == 1).collect());
        let is_allowed = |starts: &Vec<usize>| {
            let bounds = [0].into_iter().chain(starts.iter().copied()).chain([last]);
            let bounds: Vec<usize> = bounds.collect();
            starts.is_empty() || are_allowed(&bounds, lens)
        };
        let costs =
            starts.filter(is_allowed).map(|starts: Vec<usize>| cost(values, &starts, penalty));
        costs.fold(f64::INFINITY, f64::min)
    }

    /// Returns whether no segment is shorter than the first length, the last one than the second.
    fn are_allowed(bounds: &[usize], (min_len, last_len): (usize, usize)) -> bool {
        let lengths: Vec<usize> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (last, rest) = lengths.split_last().expect("a segment");
        *last >= last_len && rest.iter().all(|length| *length >= min_len)
    }

    proptest! {
        #[test]
        fn segmentation_is_optimal(
            values in prop::collection::vec(-3_i32..4, 1..14),
            penalty in 0.0..12.0_f64,
            min_len in 1_usize..5, last_len in 1_usize..5,
            level in prop::sample::select(vec![0.0, 1e6]),
        ) {
            let values: Vec<f64> = values.iter().map(|value| level + f64::from(*value)).collect();
            let lens = (min_len, last_len.min(min_len));
            let found = segment(&values, penalty, lens.0, lens.1);
            let bounds = [0].into_iter().chain(found.iter().copied()).chain([values.len()]);
            let bounds: Vec<usize> = bounds.collect();
            prop_assert!(found.is_empty() || are_allowed(&bounds, lens), "{:?}", found);
            let (ours, best) = (cost(&values, &found, penalty), least(&values, penalty, lens));
            prop_assert!((ours - best).abs() < 1e-6, "{} {} {:?}", ours, best, found);
        }

        #[test]
        fn pruned_starts_are_never_optimal(
            noise in prop::collection::vec(-1.0..1.0_f64, 40..400),
            level in -5.0..5.0_f64, every in 10_usize..400, penalty in 0.1..30.0_f64,
            min_len in 1_usize..6,
        ) {
            let step = |at: usize| if (at / every).is_multiple_of(2) { 0.0 } else { level };
            let values: Vec<f64> =
                noise.iter().enumerate().map(|(at, one)| one + step(at)).collect();
            let sums = Sums::of(&values);
            // Brute force: every start for every end.
            let mut best = vec![f64::INFINITY; values.len() + 1];
            best[0] = 0.0;
            for end in min_len..=values.len() {
                for start in 0..=end - min_len {
                    best[end] = best[end].min(best[start] + sums.cost(start, end) + penalty);
                }
            }
            let found = cost(&values, &segment(&values, penalty, min_len, min_len), penalty);
            prop_assert!((found - best[values.len()]).abs() < 1e-6);
        }

        #[test]
        fn shift_moves_no_boundary(
            values in prop::collection::vec(-9_i32..9, 1..60), by in -1000_i32..1000,
        ) {
            let as_they_are: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let moved: Vec<f64> = values.iter().map(|value| f64::from(*value + by)).collect();
            prop_assert_eq!(segment(&as_they_are, 20.0, 3, 2), segment(&moved, 20.0, 3, 2));
        }
    }

    #[test]
    fn steps_are_found_and_level_has_none() {
        let steps: Vec<f64> =
            (0..300).map(|at| f64::from(at / 100) + f64::from(at % 7) / 100.0).collect();
        assert_eq!(segment(&steps, 1.0, 5, 5), [100, 200]);
        assert_eq!(segment(&[5.0; 200], 0.1, 5, 5), []);
        assert_eq!(segment(&steps, 1e9, 5, 5), []);
    }

    #[test]
    fn unsplittable_series_is_one_segment() {
        assert_eq!(segment(&[], 1.0, 3, 3), []);
        assert_eq!(segment(&[1.0, 9.0, 1.0], 0.1, 2, 2), []);
        assert_eq!(segment(&[1.0, f64::NAN, 9.0, 9.0], 0.1, 1, 1), []);
        assert_eq!(segment(&[1.0, 9.0], 0.1, 0, 0), [1]);
        assert_eq!(segment(&[1.0, 9.0], f64::NAN, 1, 1), []);
    }
}
