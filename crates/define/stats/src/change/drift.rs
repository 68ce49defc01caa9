//! Slow ramps as one drift instead of a staircase of changes.

use std::ops::Range;

use super::level::{Noise, edges};
use crate::pelt::Sums;
use crate::sample::mean;

/// Longest group of steps in the same direction that is searched for ramps.
const STEPS: usize = 40;
/// Places tried at first for each end of a ramp.
const PLACES: usize = 24;
/// Shortest ramp, in points; shorter ones are steps.
const SHORTEST: usize = 10;
/// Shortest ramp of a long history, as its share: one point in so many.
const SHARE: usize = 10;
/// A ramp of this many points is never too short.
const LONG: usize = 30;
/// Steps in one direction that count as a staircase.
///
/// Our choice: three steps in one direction occur in a history without a ramp.
const STAIRS: usize = 4;
/// Parameters of a ramp beyond a level: its rise and where it begins and ends.
const OF_RAMP: f64 = 3.0;

/// A ramp: level until `from`, a straight line up to `to`, and level again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ramp {
    /// Last point of the old level.
    pub(super) from: usize,
    /// First point of the new level.
    pub(super) to: usize,
    /// New level less old level.
    pub(super) rise: f64,
}

impl Ramp {
    /// Returns how far the ramp has risen at a point.
    pub(super) fn at(&self, point: usize) -> f64 {
        let share = (point.saturating_sub(self.from)) as f64 / (self.to - self.from) as f64;
        self.rise * share.min(1.0)
    }
}

/// Sums over the first values, plain and weighted with their places.
struct Weighted {
    plain: Vec<f64>,
    by_place: Vec<f64>,
}

impl Weighted {
    fn of(values: &[f64], centre: f64) -> Self {
        let (mut plain, mut by_place) = (vec![0.0], vec![0.0]);
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (place, value) in values.iter().enumerate() {
            sum += value - centre;
            weighted += place as f64 * (value - centre);
            plain.push(sum);
            by_place.push(weighted);
        }
        Self { plain, by_place }
    }

    /// Returns the rise of the ramp from `from` to `to` within `within`, fitted by least squares,
    /// and the sum of squares that it explains beyond the mean.
    fn ramp(&self, within: &Range<usize>, from: usize, to: usize) -> (f64, f64) {
        let count = within.len() as f64;
        let width = (to - from) as f64;
        let above = (within.end - to) as f64;
        let shape = (width - 1.0) / 2.0 + above;
        let squares = (width - 1.0) * (2.0 * width - 1.0) / (6.0 * width) + above;
        let plain = |from: usize, to: usize| self.plain[to] - self.plain[from];
        let sloped = self.by_place[to] - self.by_place[from + 1];
        let sloped = (sloped - from as f64 * plain(from + 1, to)) / width;
        let product = sloped + plain(to, within.end);
        let total = plain(within.start, within.end);
        let spread = squares - shape * shape / count;
        let joint = product - shape * total / count;
        if spread > 0.0 { (joint / spread, joint * joint / spread) } else { (0.0, 0.0) }
    }

    /// Returns the ramp that explains most within a stretch, and the squares it explains.
    fn best(&self, within: &Range<usize>, shortest: usize) -> Option<(Ramp, f64)> {
        let last = within.end.checked_sub(1)?;
        if within.len() <= shortest {
            return None;
        }
        let mut step = (within.len() / PLACES).max(1);
        let mut best = (within.start, last);
        let mut most = self.ramp(within, best.0, best.1).1;
        let mut attempt = |from: usize, to: usize, best: &mut (usize, usize)| {
            let fits = from >= within.start && to <= last && to >= from + shortest;
            let explained = if fits { self.ramp(within, from, to).1 } else { 0.0 };
            let is_better = explained > most;
            if is_better {
                (*best, most) = ((from, to), explained);
            }
            is_better
        };
        for from in within.clone().step_by(step) {
            for to in (from + shortest..=last).step_by(step) {
                attempt(from, to, &mut best);
            }
        }
        // Local search with halved strides; each move explains more, so it ends.
        loop {
            let (from, to) = best;
            let near = [
                (from.saturating_sub(step), to),
                (from + step, to),
                (from, to.saturating_sub(step)),
                (from, to + step),
            ];
            if !near.into_iter().any(|(from, to)| attempt(from, to, &mut best)) {
                if step == 1 {
                    break;
                }
                step /= 2;
            }
        }
        let (rise, explained) = self.ramp(within, best.0, best.1);
        Some((Ramp { from: best.0, to: best.1, rise }, explained))
    }
}

/// Returns the ramps that fit steps in one direction better than the steps.
///
/// Every run of neighbouring steps in one direction is compared with one ramp by Schwarz's
/// criterion: squares over the long-run variance plus ln(n) for each parameter. From [`STAIRS`]
/// steps on a run is a staircase: each further step costs as much as in the segmentation.
///
/// Source: [Schwarz 1978].
pub(super) fn ramps(
    values: &[f64],
    sums: &Sums,
    changes: &[usize],
    long_run: f64,
    strictness: f64,
) -> Vec<Ramp> {
    if changes.is_empty() || long_run <= 0.0 {
        return Vec::new();
    }
    let edges = edges(changes, sums.len());
    let level = |index: usize| sums.mean(edges[index], edges[index + 1]);
    let is_rise: Vec<bool> = (0..changes.len()).map(|at| level(at + 1) > level(at)).collect();
    let search = Search {
        values,
        weighted: Weighted::of(values, sums.mean(0, sums.len())),
        sums,
        edges: &edges,
        long_run,
        strictness,
        shortest: SHORTEST.max(sums.len() / SHARE).min(LONG),
    };
    let mut found = Vec::new();
    let mut start = 0;
    for group in is_rise.chunk_by(|one, next| one == next) {
        search.group(start..start + group.len(), &mut found);
        start += group.len();
    }
    found.sort_by_key(|ramp| ramp.from);
    found
}

/// A search for ramps among the steps of one partition.
struct Search<'a> {
    values: &'a [f64],
    weighted: Weighted,
    sums: &'a Sums,
    edges: &'a [usize],
    long_run: f64,
    strictness: f64,
    shortest: usize,
}

impl Search<'_> {
    /// Finds the ramp that gains most among these steps, then those on both sides.
    ///
    /// Next to a ramp, steps in its direction are usually its ends: the ramp absorbs them unless
    /// they are significant at the segmentation's penalty.
    fn group(&self, steps: Range<usize>, found: &mut Vec<Ramp>) {
        let all = || {
            let end = steps.end.min(steps.start + STEPS);
            (steps.start..end).flat_map(move |from| (from + 1..=end).map(move |to| from..to))
        };
        let gains = all().filter_map(|some| {
            let (_, gain) = self.gain(&some, self.as_few(some.len()))?;
            (gain > 0.0).then_some((some, gain))
        });
        let Some((core, _)) = gains.max_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        let around = all().filter(|some| some.start <= core.start && core.end <= some.end);
        let widened = around.filter_map(|some| {
            let (ramp, gain) = self.gain(&some, self.strictness * some.len() as f64)?;
            Some((some, ramp, gain))
        });
        let Some((some, ramp, _)) = widened.max_by(|one, other| one.2.total_cmp(&other.2)) else {
            return;
        };
        found.push(ramp);
        // The neighbouring steps bound the levels that the ramp has absorbed: they stay.
        if some.start > steps.start + 1 {
            self.group(steps.start..some.start - 1, found);
        }
        if some.end + 1 < steps.end {
            self.group(some.end + 1..steps.end, found);
        }
    }

    /// Returns the penalty of so many steps: their parameters; from [`STAIRS`] on the
    /// segmentation's penalty.
    fn as_few(&self, steps: usize) -> f64 {
        let more = steps.saturating_sub(STAIRS - 1);
        2.0 * (steps - more) as f64 + self.strictness * more as f64
    }

    /// Returns the ramp in place of these steps, and its gain at the steps' `price`.
    fn gain(&self, steps: &Range<usize>, price: f64) -> Option<(Ramp, f64)> {
        let within = self.edges[steps.start]..self.edges[steps.end + 1];
        let (ramp, explained) = self.weighted.best(&within, self.shortest)?;
        let levels = &self.edges[steps.start..=steps.end + 1];
        let of_steps: f64 = levels.windows(2).map(|edge| self.sums.cost(edge[0], edge[1])).sum();
        let of_ramp = self.sums.cost(within.start, within.end) - explained;
        let saved = (price - OF_RAMP) * (self.sums.len() as f64).ln();
        Some((ramp, (of_steps - of_ramp) / self.long_run(&within, &ramp) + saved))
    }

    /// Returns the long-run variance by the better of both fits.
    ///
    /// Steps leave so much of a ramp unexplained that it resembles slow noise; the ramp's own
    /// residuals show the noise.
    fn long_run(&self, within: &Range<usize>, ramp: &Ramp) -> f64 {
        let flat: Vec<f64> =
            within.clone().map(|place| self.values[place] - ramp.at(place)).collect();
        let level = mean(&flat);
        let residuals: Vec<f64> = flat.iter().map(|value| value - level).collect();
        let own = Noise::of(&residuals, 2).long_run();
        if own > 0.0 { own.min(self.long_run) } else { self.long_run }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_without_noise_is_found_to_the_point() {
        let ramp = Ramp { from: 17, to: 61, rise: -3.0 };
        let values: Vec<f64> = (0..90).map(|point| 5.0 + ramp.at(point)).collect();
        let (found, explained) = Weighted::of(&values, 4.0).best(&(0..90), 10).unwrap();
        assert_eq!((found.from, found.to), (17, 61));
        assert!((found.rise + 3.0).abs() < 1e-9, "{found:?}");
        let all = Sums::of(&values).cost(0, 90);
        assert!((explained - all).abs() < 1e-9 * all, "{explained} of {all}");
    }

    #[test]
    fn staircase_over_a_ramp_is_one_ramp_and_step_is_none() {
        let step: Vec<f64> =
            (0..60).map(|i| f64::from(i % 2) + 4.0 * f64::from(u8::from(i >= 30))).collect();
        let sums = Sums::of(&step);
        assert_eq!(ramps(&step, &sums, &[30], 0.25, 4.0), []);
        let slow: Vec<f64> = (0..60).map(|i| f64::from(i % 2) + 0.1 * f64::from(i)).collect();
        let sums = Sums::of(&slow);
        let found = ramps(&slow, &sums, &[14, 30, 44], 0.25, 4.0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].from < 6 && found[0].to > 53, "{found:?}");
    }
}
