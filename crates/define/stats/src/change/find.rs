//! Search for changes, drifts and spikes in one history.

use super::detectable::detectable;
use super::drift::{Ramp, ramps};
use super::level::{Noise, edges, residuals};
use super::prune::{Boundary, CHANCE, prune};
use super::robust::{clip, limit, remove_spikes};
use super::series::{Change, Confidence, Drift, NoiseChange, Piece, Scale, Series, Suspect};
use super::short::{SHORT, split};
use super::spread;
use super::tail::{of_long, of_short, of_spikes};
use crate::distribution::student::half_width;
use crate::median;
use crate::pelt::{Sums, segment};
use crate::sample::mean;

/// Default strictness.
///
/// Our choice, by `tests/history`: of white, autocorrelated and heavy-tailed noise, at most one
/// series of 200 points in fifty has a false change.
pub const STRICTNESS: f64 = 4.0;
/// Shortest level of a long history.
const SHORTEST: usize = 3;
/// Shortest last level of a long history: the next points are not known yet.
const SHORTEST_LAST: usize = 2;
/// Iterations of estimating noise and levels from each other.
const ROUNDS: u32 = 3;
/// Iterations of removing ramps and finding the levels again.
const RAMP_ROUNDS: u32 = 4;
/// A variance below this share of the first estimate is rounding.
const ROUNDING: f64 = 1e-12;
/// Location set: places within this many long-run variances of the best cost.
///
/// Our choice: twice the log-likelihood ratio of three is a confidence of about 92 % for one
/// parameter.
const LOCATION: f64 = 3.0;

/// Finds changes, drifts and spikes; missing values are left out.
///
/// Positive values are analysed as logarithms, others as they are. Indexes are those of `values`.
/// `strictness` is the penalty for a change, in long-run variances times ln(n): [`STRICTNESS`] for
/// alarms, 3 for more sensitivity.
///
/// Source: [Killick Fearnhead Eckley 2012] on clipped values [Fearnhead Rigaill 2019]; the penalty
/// is multiplied by the inflation of an AR(1) process [Priestley 1981, section 5.3.2].
pub fn find(values: &[Option<f64>], strictness: f64) -> Series {
    let known = |(place, value): (usize, &Option<f64>)| {
        value.filter(|one| one.is_finite()).map(|one| (place, one))
    };
    let (places, values): (Vec<usize>, Vec<f64>) =
        values.iter().enumerate().filter_map(known).unzip();
    let is_positive = values.iter().all(|value| *value > 0.0);
    let scale = if is_positive { Scale::Log } else { Scale::Linear };
    let scaled: Vec<f64> = values.iter().map(|value| scale.of(*value)).collect();
    let found = Found::in_values(&scaled, strictness);
    Output { scale, places: &places, found: &found }.series(&scaled, strictness)
}

/// Levels, ramps and noise of a history, on the scale of the analysis.
struct Found {
    /// Prefix sums of the values, spikes clipped and ramps removed.
    sums: Sums,
    boundaries: Vec<Boundary>,
    ramps: Vec<Ramp>,
    noise: Noise,
    /// Deviation by which spikes were clipped; 0 in a short history, where none are.
    clipped_by: f64,
    /// p-value of the last point, when it is an outlier.
    suspect: Option<f64>,
}

impl Found {
    fn in_values(values: &[f64], strictness: f64) -> Self {
        let is_short = values.len() < SHORT;
        let (mut flat, clipped_by) = if is_short {
            (values.to_vec(), 0.0)
        } else {
            let clipped = clip(values);
            (clipped.values, clipped.sd)
        };
        let suspect = if is_short { clip_last(&mut flat) } else { None };
        let part = |flat: &[f64]| {
            if is_short { short(flat) } else { long(flat, clipped_by * clipped_by, strictness) }
        };
        let (mut sums, mut boundaries, mut noise) = part(&flat);
        let mut all = Vec::new();
        for _ in 0..RAMP_ROUNDS {
            let new = ramps(&flat, &sums, &places(&boundaries), noise.long_run(), strictness);
            if new.is_empty() {
                break;
            }
            for (place, value) in flat.iter_mut().enumerate() {
                *value -= new.iter().map(|ramp| ramp.at(place)).sum::<f64>();
            }
            all.extend(new);
            (sums, boundaries, noise) = part(&flat);
        }
        all.sort_by_key(|ramp: &Ramp| (ramp.from, ramp.to));
        let mut found = Self { sums, boundaries, ramps: all, noise, clipped_by, suspect };
        if !is_short {
            found.settle(values);
        }
        found
    }

    /// Fits the levels of a long history to its values, each level without its own spikes.
    ///
    /// The levels were found in values clipped about a running median, which mixes two levels where
    /// a new one has few points.
    fn settle(&mut self, values: &[f64]) {
        let values = self.without_ramps(values);
        self.leave_out_spikes(&values);
        loop {
            self.fit(&values);
            let boundaries = self.significant(&values);
            let is_same = boundaries.len() == self.boundaries.len();
            self.boundaries = boundaries;
            if is_same {
                break;
            }
        }
        let from = self.boundaries.last().map_or(0, |boundary| boundary.at);
        let off = residuals(&values, &self.sums, &places(&self.boundaries));
        self.suspect = of_long(&off, values.len() - from, self.noise, self.clipped_by);
    }

    /// Moves changes behind the spikes that they begin with: values farther from the new level than
    /// the old level is.
    fn leave_out_spikes(&mut self, values: &[f64]) {
        let edges = edges(&places(&self.boundaries), values.len());
        for (boundary, edge) in self.boundaries.iter_mut().zip(edges.windows(3)) {
            let levels = [&values[edge[0]..edge[1]], &values[edge[1]..edge[2]]];
            let [Some(old), Some(new)] = levels.map(median) else { continue };
            let most = limit(self.clipped_by).max((new - old).abs());
            let is_spike = |value: &&f64| (**value - new).abs() > most;
            let spikes = levels[1].iter().take_while(is_spike).count();
            boundary.at += spikes.min(levels[1].len() - SHORTEST_LAST);
        }
    }

    /// Fits levels and noise without the spikes.
    fn fit(&mut self, values: &[f64]) {
        let places = places(&self.boundaries);
        let mut flat = values.to_vec();
        for edge in edges(&places, values.len()).windows(2) {
            remove_spikes(&mut flat[edge[0]..edge[1]], self.clipped_by);
        }
        self.sums = Sums::of(&flat);
        self.noise = Noise::about(&flat, &self.sums, &places);
    }

    /// Returns the significant changes.
    ///
    /// As many spikes in a row as a short last level has points must be unlikely too.
    fn significant(&self, values: &[f64]) -> Vec<Boundary> {
        let mut boundaries = prune(&self.sums, places(&self.boundaries), self.noise);
        if let Some(last) = boundaries.last_mut()
            && values.len() - last.at <= SHORTEST
        {
            let off = residuals(values, &self.sums, &places(&self.boundaries));
            last.p =
                last.p.max(of_spikes(&off[..last.at], values.len() - last.at, self.clipped_by));
        }
        boundaries.pop_if(|boundary| boundary.p > CHANCE);
        boundaries
    }

    /// Returns how far the ramps have risen at a point.
    fn risen(&self, place: usize) -> f64 {
        self.ramps.iter().map(|ramp| ramp.at(place)).sum()
    }

    /// Returns the values less what the ramps have risen.
    fn without_ramps(&self, values: &[f64]) -> Vec<f64> {
        values.iter().enumerate().map(|(place, value)| value - self.risen(place)).collect()
    }
}

/// Segments a long history; noise and levels are estimated from each other.
fn long(values: &[f64], start: f64, strictness: f64) -> (Sums, Vec<Boundary>, Noise) {
    let sums = Sums::of(values);
    let mut noise = Noise::white(start);
    let mut changes = Vec::new();
    for _ in 0..ROUNDS {
        if noise.variance <= ROUNDING * start {
            break;
        }
        let before = noise.long_run();
        let found = segment(
            values,
            strictness * (values.len() as f64).ln() * before,
            SHORTEST,
            SHORTEST_LAST,
        );
        let is_same = found == changes;
        changes = found;
        noise = Noise::about(values, &sums, &changes);
        // The same changes give the same noise again; a larger penalty cannot find what a smaller
        // one did not.
        if (is_same && !changes.is_empty()) || (changes.is_empty() && noise.long_run() >= before) {
            break;
        }
    }
    let boundaries = prune(&sums, changes, noise);
    let noise = Noise::about(values, &sums, &places(&boundaries));
    (sums, boundaries, noise)
}

/// Segments a short history; its autocorrelation cannot be estimated.
fn short(values: &[f64]) -> (Sums, Vec<Boundary>, Noise) {
    let sums = Sums::of(values);
    let boundaries = split(&sums);
    let noise = Noise::about(values, &sums, &places(&boundaries));
    (sums, boundaries, Noise::white(noise.variance))
}

/// Clips the last point of a short history to the level before it, when it is a single outlier;
/// returns its p-value.
///
/// A single outlier would mask every change before it; two on one side may be a new level.
fn clip_last(values: &mut [f64]) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let (sums, boundaries, _) = short(&values[..last]);
    let from = boundaries.last().map_or(0, |boundary| boundary.at);
    let p = of_short(&values[from..])?;
    let is_above = |place: usize| values[place] > sums.mean(from, last);
    if is_above(last) == is_above(last - 1) && of_short(&values[from..last]).is_some() {
        return None;
    }
    values[last] = sums.mean(from, last);
    Some(p)
}

fn places(boundaries: &[Boundary]) -> Vec<usize> {
    boundaries.iter().map(|boundary| boundary.at).collect()
}

/// Converts findings to the caller's indexes and scale.
struct Output<'a> {
    scale: Scale,
    /// Index of each analysed value in the input.
    places: &'a [usize],
    found: &'a Found,
}

impl Output<'_> {
    fn series(&self, values: &[f64], strictness: f64) -> Series {
        let found = self.found;
        let places = places(&found.boundaries);
        let off = residuals(&found.without_ramps(values), &found.sums, &places);
        let far = |(place, off): (usize, &f64)| {
            let is_far = found.clipped_by > 0.0 && off.abs() > limit(found.clipped_by);
            let is_suspect = found.suspect.is_some() && place + 1 == values.len();
            (is_far && !is_suspect).then(|| self.places[place])
        };
        let (level, count) = (mean(values), values.len());
        let clipped: Vec<f64> = off
            .iter()
            .map(|off| off.clamp(-limit(found.clipped_by), limit(found.clipped_by)))
            .collect();
        let noise_changes = spread::changes(&clipped, strictness).into_iter();
        Series {
            scale: self.scale,
            values: values.len(),
            is_short: values.len() < SHORT,
            changes: self.changes(values.len()),
            drifts: found.ramps.iter().map(|ramp| self.drift(ramp)).collect(),
            spikes: off.iter().enumerate().filter_map(far).collect(),
            suspect: found.suspect.and_then(|p| self.suspect(values, p)),
            noise: found.noise.variance.sqrt(),
            autocorrelation: found.noise.autocorrelation,
            noise_changes: noise_changes
                .map(|(at, ratio)| NoiseChange { index: self.places[at], ratio })
                .collect(),
            detectable: detectable(self.scale, level, count, found.noise, strictness),
            pieces: self.pieces(values.len()),
        }
    }

    fn changes(&self, count: usize) -> Vec<Change> {
        let edges = edges(&places(&self.found.boundaries), count);
        let boundaries = &self.found.boundaries;
        let pairs = edges.windows(3).zip(boundaries);
        pairs.map(|(three, boundary)| self.change(three, boundary.p)).collect()
    }

    /// Returns the change at the middle of three edges.
    fn change(&self, three: &[usize], p: f64) -> Change {
        let (sums, noise) = (&self.found.sums, self.found.noise);
        let (from, at, to) = (three[0], three[1], three[2]);
        let (old, new) = (sums.mean(from, at), sums.mean(at, to));
        let cost = |place: usize| sums.cost(from, place) + sums.cost(place, to);
        let most = cost(at) + LOCATION * noise.long_run();
        let mut possible = (from + 1..to).filter(|place| cost(*place) <= most);
        let earliest = possible.next().unwrap_or(at).min(at);
        let latest = possible.next_back().unwrap_or(at).max(at);
        // Independent points behind the noise.
        let points = self.places.len().saturating_sub(self.found.boundaries.len() + 1) as f64;
        let half = half_width(0.95, points / noise.inflation()) * noise.error(at - from, to - at);
        let before = self.scale.back(old + self.found.risen(at - 1));
        let share = |shift: f64| self.scale.share(shift, before);
        Change {
            index: self.places[at],
            earliest: self.places[earliest],
            latest: self.places[latest],
            before,
            after: self.scale.back(new + self.found.risen(at)),
            effect: share(new - old),
            low: share(new - old - half),
            high: share(new - old + half),
            p: p.min(1.0),
            points: to - at,
            confidence: Confidence::of(to - at),
        }
    }

    /// Returns the fitted value at a point, on the scale of the analysis.
    fn fitted(&self, place: usize, count: usize) -> f64 {
        let edges = edges(&places(&self.found.boundaries), count);
        let own = edges.partition_point(|edge| *edge <= place).clamp(1, edges.len() - 1);
        self.found.sums.mean(edges[own - 1], edges[own]) + self.found.risen(place)
    }

    fn drift(&self, ramp: &Ramp) -> Drift {
        let level = self.fitted(ramp.from, self.places.len());
        let before = self.scale.back(level);
        let width = (ramp.to - ramp.from) as f64;
        Drift {
            slope_per_point: self.scale.share(ramp.rise / width, before),
            from: self.places[ramp.from],
            to: self.places[ramp.to],
            before,
            after: self.scale.back(level + ramp.rise),
            effect: self.scale.share(ramp.rise, before),
        }
    }

    fn suspect(&self, values: &[f64], p: f64) -> Option<Suspect> {
        let last = values.len().checked_sub(1)?;
        let from = self.found.boundaries.last().map_or(0, |boundary| boundary.at);
        // The point itself is not part of the level it is compared with.
        let level = self.found.sums.mean(from, last) + self.found.risen(last);
        let before = self.scale.back(level);
        Some(Suspect {
            index: self.places[last],
            before,
            value: self.scale.back(values[last]),
            effect: self.scale.share(values[last] - level, before),
            p: p.min(1.0),
        })
    }

    /// Returns the fitted curve: it breaks at changes, and bends where ramps begin and end.
    fn pieces(&self, count: usize) -> Vec<Piece> {
        let breaks = places(&self.found.boundaries);
        let bends = self.found.ramps.iter().flat_map(|ramp| [ramp.from, ramp.to]);
        let mut starts: Vec<usize> =
            breaks.iter().copied().chain(bends).chain([0]).filter(|start| *start < count).collect();
        starts.sort_unstable();
        starts.dedup();
        let piece = |(index, from): (usize, &usize)| {
            let to = match starts.get(index + 1) {
                Some(next) if breaks.contains(next) => next - 1,
                Some(next) => *next,
                None => count - 1,
            };
            let back = |place: usize| self.scale.back(self.fitted(place, count));
            let (first, last) = (back(*from), back(to));
            Piece { from: self.places[*from], to: self.places[to], first, last }
        };
        starts.iter().enumerate().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Place of the step.
    const STEP: usize = 15;

    fn search(values: &[Option<f64>]) -> Series {
        find(values, STRICTNESS)
    }

    #[test]
    fn tiny_and_constant_series_have_no_changes() {
        for values in [&[][..], &[None, None], &[Some(1.0)], &[Some(3.0); 40], &[Some(0.0); 40]] {
            let found = search(values);
            assert_eq!((found.changes.len(), found.drifts.len()), (0, 0), "{values:?}");
            assert_eq!(found.values, values.iter().flatten().count());
        }
    }

    #[test]
    fn missing_values_keep_the_indexes() {
        let value = |at: u32| f64::from(100 + at * 7 % 5 + if at < 30 { 0 } else { 20 });
        let all: Vec<_> = (0..60).map(value).map(Some).collect();
        let mut gaps = all.clone();
        for at in [2, 3, 17, 41, 59] {
            gaps[at] = None;
        }
        let (whole, part) = (search(&all), search(&gaps));
        assert_eq!((whole.changes[0].index, part.changes[0].index), (30, 30));
        assert_eq!((part.values, part.changes[0].points), (55, 28));
    }

    #[test]
    fn negative_values_use_the_linear_scale() {
        let value = |at: u32| f64::from(at * 7 % 5) - if at < 20 { 10.0 } else { 40.0 };
        let found = search(&(0..40).map(value).map(Some).collect::<Vec<_>>());
        let change = found.changes[0];
        assert_eq!((found.scale, change.index), (Scale::Linear, 20));
        assert!((change.before + 8.0).abs() < 0.5 && (change.after + 38.0).abs() < 0.5);
        assert!(change.effect.is_some_and(|effect| (effect + 3.75).abs() < 0.2), "{change:?}");
    }

    /// Returns what is found, after checks of its order and its ranges.
    fn checked(values: &[Option<f64>]) -> Result<Series, TestCaseError> {
        let found = search(values);
        for change in &found.changes {
            prop_assert!(change.earliest <= change.index && change.index <= change.latest);
            prop_assert!(change.latest < values.len() && (0.0..=1.0).contains(&change.p));
            prop_assert!(change.low <= change.effect && change.effect <= change.high);
        }
        prop_assert!(found.changes.is_sorted_by_key(|change| change.index));
        prop_assert!(found.pieces.is_sorted_by_key(|piece| piece.from));
        prop_assert_eq!(found.clone(), search(values));
        Ok(found)
    }

    /// Returns values within these limits, one in ten missing.
    fn gaps(values: std::ops::Range<f64>) -> impl Strategy<Value = Option<f64>> {
        prop::option::weighted(0.9, values)
    }

    proptest! {
        #[test]
        fn findings_are_ordered_and_in_range(
            values in prop::collection::vec(gaps(-1e6..1e9), 0..90),
        ) {
            checked(&values)?;
        }

        #[test]
        fn findings_of_a_step_are_ordered_and_in_range(
            before in prop::collection::vec(gaps(1.0..9.0), 20..50),
            after in prop::collection::vec(gaps(1.0..9.0), 20..50),
            step in 1e3..1e6_f64,
        ) {
            let after = after.iter().map(|value| value.map(|value| value + step));
            let found = checked(&before.iter().copied().chain(after).collect::<Vec<_>>())?;
            prop_assert!(found.changes.len() + found.drifts.len() > 0);
        }

        #[test]
        fn another_unit_changes_no_finding(
            noise in prop::collection::vec(-0.01..0.01_f64, 30..120), unit in 1e-6..1e6_f64,
            step in 0.05..0.2_f64,
        ) {
            let value = |(at, noise): (usize, &f64)| {
                let level = if at >= STEP { step } else { 0.0 };
                (level + noise).exp()
            };
            let own: Vec<f64> = noise.iter().enumerate().map(value).collect();
            let places = |factor: f64| {
                let values: Vec<_> = own.iter().map(|value| Some(value * factor)).collect();
                let found = search(&values);
                found.changes.iter().map(|change| change.index).collect::<Vec<_>>()
            };
            prop_assert_eq!(places(1.0), places(unit));
            prop_assert!(places(1.0).contains(&STEP));
        }
    }
}
