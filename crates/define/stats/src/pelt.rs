//! Exact penalised changepoint segmentation (PELT).

use model::float;

/// Starts that are evaluated or pruned together.
const BLOCK: usize = 64;
/// Relative tolerance for equal costs: far above rounding.
const TIE: f64 = 1e-9;

/// Returns the first index of every segment after the first.
///
/// The segmentation is exact: it has the least sum of squared differences from each segment's mean,
/// plus `penalty` for every segment. No segment is shorter than `min_len` (at least 1). A series
/// shorter than two segments, or with a value that is not finite, is one segment. Cost: about
/// proportional to the length; no allocation per step.
///
/// Source: [Killick Fearnhead Eckley 2012, section 3.2], PELT with K = 0. Because of the minimum
/// segment length, a start that is beaten at one end is pruned only from `min_len` further on.
pub fn segment(values: &[f64], penalty: f64, min_len: usize) -> Vec<usize> {
    let (length, min_len) = (values.len(), min_len.max(1));
    if length < 2 * min_len || penalty.is_nan() || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let sums = Sums::of(values);
    let mut search = Search::over(&sums);
    // Start of the last segment of the best segmentation before each end.
    let mut last = vec![0; length + 1];
    for end in min_len..=length {
        let newest = end - min_len;
        let (start, least) = search.least(last[end - 1], newest, end);
        last[end] = start;
        search.close(end, least + penalty, min_len);
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

/// Neighbouring starts with a lower bound of their costs.
struct Block {
    first: usize,
    /// Mean of the values next to the starts, subtracted against cancellation.
    level: f64,
    /// Least cost before a start, less the squares before it, around the level.
    least: f64,
    /// Least and largest sum of the values before a start, around the level.
    sums: (f64, f64),
    /// Lower bound of the cost of its starts, for the current end.
    bound: f64,
    /// From this end on a later start is never worse.
    until: usize,
}

/// The search for the best start of the last segment, one end after the other.
///
/// Costs leave out the squares of all values before the end: those are the same for each start.
struct Search {
    /// Sum of the values before each place.
    sums: Vec<f64>,
    /// Cost of the best segmentation before each start, less the squares before it; infinite where
    /// there is none.
    before: Vec<f64>,
    blocks: Vec<Block>,
    /// First start that is in no block yet.
    loose: usize,
    tie: f64,
}

impl Search {
    fn over(sums: &Sums) -> Self {
        let length = sums.len();
        let mut before = vec![f64::INFINITY; length + 1];
        before[0] = 0.0;
        let blocks = Vec::with_capacity(length / BLOCK + 1);
        let tie = TIE * sums.sums[length].1;
        let sums = sums.sums.iter().map(|sums| sums.0).collect();
        Self { sums, before, blocks, loose: 0, tie }
    }

    /// Returns the best start up to `newest` and its cost; the first of equal ones.
    ///
    /// Blocks are skipped when all of their starts cost more than `known`, the best one of the end
    /// before.
    fn least(&mut self, known: usize, newest: usize, end: usize) -> (usize, f64) {
        let limit = self.cost(known, end) + self.tie;
        let mut least = (0, f64::INFINITY);
        for index in 0..self.blocks.len() {
            let block = &self.blocks[index];
            let (first, bound) = (block.first, self.bound(block, end));
            self.blocks[index].bound = bound;
            if bound <= limit {
                self.evaluate(first..first + BLOCK, end, &mut least);
            }
        }
        self.evaluate(self.loose..newest + 1, end, &mut least);
        while self.loose + BLOCK <= newest + 1 {
            self.blocks.push(self.block());
            self.loose += BLOCK;
        }
        least
    }

    /// Records the cost of the best segmentation before `end`, and prunes blocks of which every
    /// start is now beaten for good.
    fn close(&mut self, end: usize, cost: f64, min_len: usize) {
        self.before[end] = cost;
        let beaten = cost + self.tie;
        self.blocks.retain_mut(|block| {
            if block.bound > beaten {
                block.until = block.until.min(end + min_len);
            }
            end + 1 < block.until
        });
    }

    fn cost(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end] - self.sums[start];
        self.before[start] - sum * sum / float(end - start)
    }

    /// Evaluates some starts, at most a block's.
    ///
    /// First all costs, then the least of them, so that the costs vectorise.
    fn evaluate(&self, starts: std::ops::Range<usize>, end: usize, least: &mut (usize, f64)) {
        let mut costs = [0.0; BLOCK];
        let costs = &mut costs[..starts.len()];
        let (sum, mut left) = (self.sums[end], float(end - starts.start));
        let known = self.before[starts.clone()].iter().zip(&self.sums[starts.clone()]);
        for (cost, (before, own)) in costs.iter_mut().zip(known) {
            *cost = before - (sum - own) * (sum - own) / left;
            left -= 1.0;
        }
        for (index, cost) in costs.iter().enumerate() {
            if *cost < least.1 {
                *least = (starts.start + index, *cost);
            }
        }
    }

    /// Makes a block of the first loose starts.
    fn block(&self) -> Block {
        let (first, last) = (self.loose, self.loose + BLOCK - 1);
        let level = (self.sums[last] - self.sums[first]) / float(last - first);
        let mut block = Block {
            first,
            level,
            least: f64::INFINITY,
            sums: (f64::INFINITY, f64::NEG_INFINITY),
            bound: f64::NEG_INFINITY,
            until: usize::MAX,
        };
        for start in first..=last {
            let (sum, extra) = self.around(level, start);
            block.least = block.least.min(self.before[start] - extra);
            block.sums = (block.sums.0.min(sum), block.sums.1.max(sum));
        }
        block
    }

    /// Returns the sum of the values before a place around a level, and by how much their squares
    /// around it exceed those as they are.
    fn around(&self, level: f64, place: usize) -> (f64, f64) {
        let (sum, count) = (self.sums[place], float(place));
        (sum - level * count, level * (level * count - 2.0 * sum))
    }

    /// Returns a lower bound of the cost of a block's starts.
    fn bound(&self, block: &Block, end: usize) -> f64 {
        let (sum, extra) = self.around(block.level, end);
        let most = (sum - block.sums.0).abs().max((sum - block.sums.1).abs());
        block.least + extra - most * most / float(end + 1 - block.first - BLOCK)
    }
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
        fn segmentation_is_optimal(
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
            let found = cost(&values, &segment(&values, penalty, min_len), penalty);
            prop_assert!((found - best[values.len()]).abs() < 1e-6);
        }

        #[test]
        fn shift_moves_no_boundary(
            values in prop::collection::vec(-9_i32..9, 1..60), by in -1000_i32..1000,
        ) {
            let as_they_are: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let moved: Vec<f64> = values.iter().map(|value| f64::from(*value + by)).collect();
            prop_assert_eq!(segment(&as_they_are, 20.0, 3), segment(&moved, 20.0, 3));
        }
    }

    #[test]
    fn steps_are_found_and_level_has_none() {
        let steps: Vec<f64> =
            (0..300).map(|at| f64::from(at / 100) + f64::from(at % 7) / 100.0).collect();
        assert_eq!(segment(&steps, 1.0, 5), [100, 200]);
        assert_eq!(segment(&[5.0; 200], 0.1, 5), []);
        assert_eq!(segment(&steps, 1e9, 5), []);
    }

    #[test]
    fn unsplittable_series_is_one_segment() {
        assert_eq!(segment(&[], 1.0, 3), []);
        assert_eq!(segment(&[1.0, 9.0, 1.0], 0.1, 2), []);
        assert_eq!(segment(&[1.0, f64::NAN, 9.0, 9.0], 0.1, 1), []);
        assert_eq!(segment(&[1.0, 9.0], 0.1, 0), [1]);
        assert_eq!(segment(&[1.0, 9.0], f64::NAN, 1), []);
    }
}
