//! Rate-response curves from probes of searches and fixed-rate steps.
//!
//! Each point is one probe, or one step, of one run; nothing is fitted or averaged.

use std::collections::BTreeMap;

use model::load::SERVED_SHARE;
use model::record::Percentiles;
use model::validity::{LoadStatus, Outcome, ProbeRecord, Purpose, SearchRecord, SearchResult};
use model::{Limit, Load, Nanos, Rate, RatePiece, RunRecord, StepRecord, metric};
use serde::Serialize;
use stats::Spread;

use crate::metrics::{
    Percentile, late_share, rate_metrics, requests_per_s, response_time, service_time,
};

/// One variant's response to offered rates in one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateCurve {
    /// The variant's name.
    pub variant: String,
    /// The step's name.
    pub step: String,
    /// Clients of the open loop.
    pub clients: u32,
    /// The response time limit.
    pub limit: Option<Limit>,
    /// The points of all runs, by offered rate ascending.
    pub points: Vec<RatePoint>,
    /// What the searches found; absent when the step was not searched.
    pub found: Option<FoundRates>,
}

/// One offered rate in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatePoint {
    /// The run.
    pub run: String,
    /// Its repetition, 1-based.
    pub repetition: u32,
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// The probe; absent for a step at a fixed rate.
    pub probe: Option<ProbePlace>,
    /// Operations due per second.
    pub offered_ops_per_s: f64,
    /// Operations done per second.
    pub throughput_ops_per_s: f64,
    /// Operations within the limit per second; absent without a limit.
    pub goodput_ops_per_s: Option<f64>,
    /// Response times; unknown when overloaded or the client was late.
    pub response: KnownTimes,
    /// Service times.
    pub service: KnownTimes,
    /// Share of operations beyond the limit; absent without a limit.
    pub late_share: Option<f64>,
    /// 95 % limits of that share; absent for a fixed-rate step.
    pub late_interval: Option<(f64, f64)>,
    /// Whether the engine was overloaded at the rate.
    pub is_overloaded: bool,
    /// Outcome; absent for a sustained step without a limit.
    pub outcome: Option<Outcome>,
    /// Reason in one sentence, or empty.
    pub reason: String,
}

/// Which probe a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProbePlace {
    /// Position in the search, 0-based.
    pub number: u32,
    /// Its purpose.
    pub purpose: Purpose,
}

/// Percentiles with enough operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KnownTimes {
    /// Half of the operations stayed within.
    pub p50: Option<Nanos>,
    /// 99 % of the operations stayed within.
    pub p99: Option<Nanos>,
    /// 99.9 % of the operations stayed within.
    pub p999: Option<Nanos>,
}

/// Results of the searches of all repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FoundRates {
    /// Highest confirmed rate, operations per second.
    ///
    /// Absent when no search found one.
    pub sustainable: Option<Spread>,
    /// Lowest rate above it that failed, operations per second.
    pub failed_above: Option<Spread>,
    /// Searches that found no rate.
    pub found_nothing: u32,
}

/// Standard deviations of Poisson arrivals that are tolerated.
const CHANCE: f64 = 3.0;

impl KnownTimes {
    /// Returns the percentiles that can be shown.
    ///
    /// Source: [`Percentile::shown`].
    pub fn of(times: &Percentiles) -> Self {
        Self::shown(|percentile| percentile.shown(times))
    }

    fn shown(time: impl Fn(Percentile) -> Option<Nanos>) -> Self {
        Self {
            p50: time(Percentile::P50),
            p99: time(Percentile::P99),
            p999: time(Percentile::P999),
        }
    }
}

/// Returns the rate-response curves, by variant, step, clients and limit.
///
/// A curve is made of every search for a rate, and of steps of one name that were run at two
/// constant rates or more. Invalid runs are left out.
pub fn rate_curves(runs: &[RunRecord]) -> Vec<RateCurve> {
    let mut drafts: BTreeMap<Key, Draft> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_counted()) {
        for step in &run.steps {
            let (search, points) = (search_of(step), points(run, step));
            if search.is_some() || !points.is_empty() {
                let draft = drafts.entry(key(run, step)).or_default();
                draft.limit = step.step.limit;
                draft.points.extend(points);
                draft.searches.extend(search.map(|search| search.found));
            }
        }
    }
    drafts.into_iter().filter_map(|(key, draft)| draft.finish(key)).collect()
}

/// Variant, step, clients and limit.
type Key = (String, String, u32, Option<(u64, u64)>);

fn key(run: &RunRecord, step: &StepRecord) -> Key {
    let limit = step.step.limit.map(|limit| (limit.share.to_bits(), limit.within.0));
    (run.cell.variant.clone(), step.step.name.clone(), step.step.clients, limit)
}

/// A curve as it is gathered.
#[derive(Default)]
struct Draft {
    limit: Option<Limit>,
    points: Vec<RatePoint>,
    searches: Vec<Option<SearchResult>>,
}

impl Draft {
    /// Returns the curve; `None` when it is a single rate.
    fn finish(mut self, (variant, step, clients, _): Key) -> Option<RateCurve> {
        self.points.sort_by(|a, b| a.offered_ops_per_s.total_cmp(&b.offered_ops_per_s));
        let found = FoundRates::of(&self.searches);
        let rate = |point: Option<&RatePoint>| point.map(|point| point.offered_ops_per_s);
        let has_two_rates = rate(self.points.first()) < rate(self.points.last());
        let (limit, points) = (self.limit, self.points);
        (found.is_some() || has_two_rates).then_some(RateCurve {
            variant,
            step,
            clients,
            limit,
            points,
            found,
        })
    }
}

impl FoundRates {
    /// Returns what the searches found; `None` when there was none.
    fn of(searches: &[Option<SearchResult>]) -> Option<Self> {
        let found = || searches.iter().flatten();
        let sustainable: Vec<f64> = found().map(|found| found.ops_per_s).collect();
        let failed: Vec<f64> = found().filter_map(|found| found.failed_ops_per_s).collect();
        let nothing = searches.len() - sustainable.len();
        (!searches.is_empty()).then(|| Self {
            sustainable: Spread::of(&sustainable),
            failed_above: Spread::of(&failed),
            found_nothing: u32::try_from(nothing).unwrap_or(u32::MAX),
        })
    }
}

/// Returns the step's search for a rate, if it had one.
fn search_of(step: &StepRecord) -> Option<&SearchRecord> {
    step.search.as_ref().filter(|_| matches!(step.step.load, Load::FindRate(_)))
}

fn points(run: &RunRecord, step: &StepRecord) -> Vec<RatePoint> {
    match search_of(step) {
        Some(search) => {
            search.probes.iter().filter_map(|probe| of_probe(run, step, probe)).collect()
        }
        None => of_step(run, step).into_iter().collect(),
    }
}

/// Returns a probe's point; `None` for one of the closed loop.
fn of_probe(run: &RunRecord, step: &StepRecord, probe: &ProbeRecord) -> Option<RatePoint> {
    let offered = probe.offered_ops_per_s?;
    let is_overloaded = is_behind(offered, probe);
    let is_known = !is_overloaded && probe.outcome != Outcome::Invalid;
    let has_limit = step.step.limit.is_some();
    Some(RatePoint {
        run: run.id.clone(),
        repetition: run.cell.repetition,
        step_index: step.index,
        probe: Some(ProbePlace { number: probe.number, purpose: probe.purpose }),
        offered_ops_per_s: offered,
        throughput_ops_per_s: probe.throughput_ops_per_s,
        goodput_ops_per_s: has_limit.then_some(probe.goodput_ops_per_s),
        response: if is_known { KnownTimes::of(&probe.response) } else { KnownTimes::default() },
        service: KnownTimes::of(&probe.service),
        late_share: has_limit.then_some(probe.late_share),
        late_interval: has_limit.then_some(probe.late_interval),
        is_overloaded,
        outcome: Some(probe.outcome),
        reason: probe.reason.clone(),
    })
}

/// Returns whether throughput is below the offered rate by more than chance.
fn is_behind(offered: f64, probe: &ProbeRecord) -> bool {
    let seconds = probe.duration_ns.as_secs_f64();
    let due = offered * seconds;
    probe.throughput_ops_per_s * seconds < SERVED_SHARE * due - CHANCE * due.sqrt()
}

/// Returns the point of a step at a constant rate; `None` for every other step.
fn of_step(run: &RunRecord, step: &StepRecord) -> Option<RatePoint> {
    let Load::Open(open) = &step.step.load else { return None };
    let metrics = rate_metrics(step);
    let late_share = late_share(step);
    let (outcome, reason) = outcome_of(step, late_share);
    let is_known = outcome != Some(Outcome::Invalid);
    let response = |percentile| response_time(step, percentile).known().filter(|_| is_known);
    Some(RatePoint {
        run: run.id.clone(),
        repetition: run.cell.repetition,
        step_index: step.index,
        probe: None,
        offered_ops_per_s: constant(&open.rate)?,
        throughput_ops_per_s: requests_per_s(step)?,
        goodput_ops_per_s: metrics.value(metric::GOODPUT_OPS_PER_S),
        response: KnownTimes::shown(response),
        service: KnownTimes::shown(|percentile| service_time(step, percentile).known()),
        late_share,
        late_interval: None,
        is_overloaded: matches!(step.load_status, Some(LoadStatus::Overloaded { .. })),
        outcome,
        reason,
    })
}

/// Returns the rate when it never changes.
fn constant(rate: &Rate) -> Option<f64> {
    let Rate::Pieces(pieces) = rate else { return None };
    let first = pieces.first()?.from_ops_per_s;
    let is_first = |ops_per_s: f64| ops_per_s.total_cmp(&first).is_eq();
    let is_constant =
        |piece: &RatePiece| is_first(piece.from_ops_per_s) && is_first(piece.to_ops_per_s);
    pieces.iter().all(is_constant).then_some(first)
}

/// Returns a step's outcome as that of a probe, with its reason.
fn outcome_of(step: &StepRecord, late_share: Option<f64>) -> (Option<Outcome>, String) {
    match &step.load_status {
        Some(LoadStatus::Overloaded { evidence }) => (Some(Outcome::Failed), evidence.clone()),
        Some(LoadStatus::ClientBound { evidence }) => (Some(Outcome::Invalid), evidence.clone()),
        Some(LoadStatus::Sustained) | None => {
            let is_within = |(limit, late): (Limit, f64)| late <= 1.0 - limit.share;
            let within_limit = step.step.limit.zip(late_share).map(is_within);
            let outcome = within_limit.map(|is| if is { Outcome::Passed } else { Outcome::Failed });
            (outcome, String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use model::validity::SearchResult;
    use model::{OpKind, OpenLoad, Pace};

    use super::*;
    use crate::testing::{clients_probe, probe, run, search, step, summary};

    fn limit() -> Option<Limit> {
        Some(Limit::parse("p99 < 2ms").unwrap())
    }

    fn searched(repetition: u32, probes: Vec<ProbeRecord>, found: Option<f64>) -> RunRecord {
        let mut run = run("a", repetition, 5);
        let step = &mut run.steps[0];
        step.step.load = Load::FindRate(Pace::default());
        step.step.limit = limit();
        step.search = Some(search(probes, found));
        run
    }

    /// A step of two seconds at a fixed rate, all within the limit.
    fn at(index: u32, ops_per_s: u32) -> StepRecord {
        let mut step = step(index, "readrandom");
        let done = u64::from(ops_per_s) * 2;
        let rate = Rate::constant(f64::from(ops_per_s));
        step.step.load = Load::Open(OpenLoad { rate, pace: Pace::default() });
        step.step.limit = limit();
        step.clients = [(OpKind::Get, summary(done, done))].into();
        step.within_limit = Some(done);
        step.load_status = Some(LoadStatus::Sustained);
        step
    }

    fn fixed(steps: Vec<StepRecord>) -> RunRecord {
        RunRecord { steps, ..run("a", 1, 5) }
    }

    #[test]
    fn probes_of_all_runs_lie_on_one_curve_by_rate_with_the_range_of_what_was_found() {
        let runs = [
            searched(
                1,
                vec![clients_probe(0, 2, 9e3), probe(1, 900.0, Outcome::Passed)],
                Some(900.0),
            ),
            searched(2, vec![probe(0, 800.0, Outcome::Passed)], Some(800.0)),
            searched(3, vec![probe(0, 1_000.0, Outcome::Failed)], None),
        ];
        let curves = rate_curves(&runs);
        let [curve] = &curves[..] else { panic!("{curves:?}") };
        let rates: Vec<_> =
            curve.points.iter().map(|it| (it.offered_ops_per_s, it.repetition)).collect();
        assert_eq!(rates, [(800.0, 2), (900.0, 1), (1_000.0, 3)]);
        assert_eq!((curve.limit, curve.clients), (limit(), 2));
        let found = curve.found.unwrap();
        let range = |spread: Option<Spread>| spread.map(|it| (it.n, it.min, it.max));
        assert_eq!(range(found.sustainable), Some((2, 800.0, 900.0)));
        assert_eq!(range(found.failed_above), Some((2, 816.0, 918.0)));
        assert_eq!(found.found_nothing, 1);
        let point = &curve.points[1];
        assert_eq!(point.probe, Some(ProbePlace { number: 1, purpose: Purpose::Bisect }));
        // 5,000 operations suffice for the p99, not for the p99.9.
        let times = KnownTimes { p50: Some(Nanos(10_000)), p99: Some(Nanos(30_000)), p999: None };
        assert_eq!((point.response, point.outcome), (times, Some(Outcome::Passed)));
        assert_eq!((point.late_share, point.late_interval), (Some(0.001), Some((0.0008, 0.0012))));
        assert_eq!((point.goodput_ops_per_s, point.is_overloaded), (Some(899.1), false));
    }

    #[test]
    fn overloaded_and_invalid_probes_have_no_response_times() {
        let mut behind = probe(0, 1_000.0, Outcome::Failed);
        behind.throughput_ops_per_s = 970.0;
        // 4 % too few of 60 are no more than chance.
        let mut few = probe(1, 1.0, Outcome::Passed);
        few.throughput_ops_per_s = 0.96;
        let probes = vec![behind, few, probe(2, 1_100.0, Outcome::Invalid)];
        let curves = rate_curves(&[searched(1, probes, None)]);
        let evidence: Vec<_> = curves[0]
            .points
            .iter()
            .map(|it| (it.is_overloaded, it.response.p50.is_some(), it.service.p50.is_some()))
            .collect();
        assert_eq!(evidence, [(false, true, true), (true, false, true), (false, false, true)]);
    }

    #[test]
    fn steps_at_several_fixed_rates_are_a_curve_and_one_rate_is_none() {
        assert_eq!(rate_curves(&[fixed(vec![at(0, 5_000)]), fixed(vec![at(0, 5_000)])]), []);
        let mut late = at(1, 8_000);
        late.within_limit = Some(15_000);
        let mut overloaded = at(2, 9_000);
        let evidence = "8,000 of 9,000 were done".to_owned();
        overloaded.load_status = Some(LoadStatus::Overloaded { evidence: evidence.clone() });
        let mut bound = at(3, 9_500);
        bound.load_status = Some(LoadStatus::ClientBound { evidence: "late".to_owned() });
        let curves = rate_curves(&[fixed(vec![bound, overloaded, late, at(0, 5_000)])]);
        let [curve] = &curves[..] else { panic!("{curves:?}") };
        assert_eq!(curve.found, None);
        let outcomes: Vec<_> = curve.points.iter().map(|it| it.outcome.unwrap()).collect();
        let expected = [Outcome::Passed, Outcome::Failed, Outcome::Failed, Outcome::Invalid];
        assert_eq!(outcomes, expected);
        let shown: Vec<_> = curve.points.iter().map(|it| it.response.p99.is_some()).collect();
        assert_eq!(shown, [true, true, false, false]);
        assert_eq!((curve.points[1].late_share, curve.points[1].probe), (Some(0.0625), None));
        assert!(curve.points[2].is_overloaded && curve.points[2].reason == evidence);
        assert_eq!(curve.points[3].goodput_ops_per_s, Some(9_500.0));
    }

    #[test]
    fn other_limits_clients_and_steps_are_other_curves_and_invalid_runs_are_none() {
        let mut other = at(1, 6_000);
        other.step.limit = None;
        other.within_limit = None;
        assert_eq!(rate_curves(&[fixed(vec![at(0, 5_000), other])]), []);
        let mut invalid = fixed(vec![at(0, 5_000), at(1, 6_000)]);
        assert_eq!(rate_curves(std::slice::from_ref(&invalid)).len(), 1);
        invalid.invalid = Some("too many invalid intervals".to_owned());
        assert_eq!(rate_curves(&[invalid]), []);
    }

    #[test]
    fn a_rate_that_varies_and_a_search_for_clients_are_no_points() {
        let mut ramp = at(0, 5_000);
        let piece =
            RatePiece { length: Nanos::SECOND, from_ops_per_s: 5_000.0, to_ops_per_s: 6_000.0 };
        let rate = Rate::Pieces(vec![piece]);
        ramp.step.load = Load::Open(OpenLoad { rate, pace: Pace::default() });
        let mut clients = at(1, 6_000);
        clients.step.load = Load::FindClients;
        let mut searched = search(vec![clients_probe(0, 2, 9e3)], None);
        searched.found = Some(SearchResult { ops_per_s: 9e3, failed_ops_per_s: None, clients: 2 });
        clients.search = Some(searched);
        assert_eq!(rate_curves(&[fixed(vec![ramp, clients])]), []);
    }
}
