//! Search for the best number of clients of a closed loop.
//!
//! Debt is not tested: a closed loop runs at capacity and has no rate to sustain; every level
//! starts settled, so that none inherits the debt of the one before it.

use model::units::per_second;
use model::validity::{Outcome, Purpose, SearchRecord, SearchResult};
use model::{Limit, Nanos};
use stats::Estimate;
use stats::series::mean;

use crate::outcome::{self, ProbeOutcome, Verdict};
use crate::probe::{MAX_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::probe_record::probe_record;
use crate::retry::{InvalidProbes, RetryDecision};
use crate::window::Window;

/// Parameters of the search for the best number of clients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientSpec {
    /// The response-time limit, if any.
    pub limit: Option<Limit>,
    /// Most clients to try.
    pub max_clients: u32,
    /// Measured span of a probe; extended when undecided.
    pub probe: Nanos,
    /// Unmeasured time before each probe.
    pub warmup: Nanos,
}

/// The search for the best number of clients of a closed loop.
///
/// Clients are added, 1, 2, 3, 4, 6, 8, 12 and so on, until the limit is exceeded or two levels in
/// a row gain less than 5 % on the best before them. The result is the smallest number of clients
/// whose throughput is within 5 % of the best; a probe of its own confirms it. A level whose gain,
/// or whose share of late operations, is undecided is repeated four times as long.
#[derive(Debug, Clone)]
pub struct ClientSearch {
    spec: ClientSpec,
    record: SearchRecord,
    next: Next,
    request: ProbeRequest,
    /// Levels that met the limit, in order.
    levels: Vec<Level>,
    /// Levels in a row that gained too little.
    flat: u32,
    /// Why no more clients were added; empty while adding.
    stopped: String,
    invalid_probes: InvalidProbes,
}

/// A requested probe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProbeRequest {
    purpose: Purpose,
    clients: u32,
    measure: Nanos,
    /// Whether it cannot be extended further.
    is_longest: bool,
}

impl ProbeRequest {
    /// Returns the first probe of a number of clients.
    const fn first(spec: &ClientSpec, clients: u32) -> Self {
        Self { purpose: Purpose::Clients, clients, measure: spec.probe, is_longest: false }
    }
}

/// A number of clients that met the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    clients: u32,
    throughput: Estimate,
    /// Length of the probe that decided.
    measure: Nanos,
}

/// Least gain on the best level that counts as growth, as a share.
///
/// Also the loss from the best that is accepted for fewer clients. Our choice: smaller gains do not
/// justify more clients.
const RELEVANT_GAIN: f64 = 0.05;
/// Levels in a row with less gain that end the search.
const FLAT_LEVELS: u32 = 2;
/// Length of the probe after an undecided one, as a multiple.
///
/// Our choice: four times the operations halve the interval of the late share.
const LONGER: u64 = 4;
/// Probes reserved for confirmations.
const CONFIRMATION_PROBES: usize = 8;

impl ClientSearch {
    /// Returns a search that has requested no probe yet.
    pub fn new(spec: ClientSpec) -> Self {
        let record = SearchRecord {
            limit: spec.limit,
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        let request = ProbeRequest::first(&spec, 1);
        let mut search = Self {
            spec,
            record,
            next: Next::Done,
            request,
            levels: Vec::new(),
            flat: 0,
            stopped: String::new(),
            invalid_probes: InvalidProbes::default(),
        };
        search.issue(request);
        search
    }

    fn issue(&mut self, request: ProbeRequest) {
        let number = self.record.probes.len();
        if number >= MAX_PROBES {
            return self.end(format!("{number} probes were not enough"));
        }
        self.request = request;
        self.next = Next::Probe(Probe {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            purpose: request.purpose,
            load: ProbeLoad::Closed { clients: request.clients },
            settles_first: true,
            warmup: self.spec.warmup,
            measure: request.measure,
        });
    }

    fn end(&mut self, why: String) {
        self.record.ended = why;
        self.next = Next::Done;
    }

    /// Returns the best level so far.
    fn best(&self) -> Option<Level> {
        let order = |a: &&Level, b: &&Level| a.throughput.value.total_cmp(&b.throughput.value);
        self.levels.iter().max_by(order).copied()
    }

    /// Tests a level against the limit and for its gain on the best.
    fn test_level(&self, window: &Window<'_>) -> (ProbeOutcome, Estimate) {
        let mut tested = outcome::test_clients(window, self.spec.limit.as_ref());
        let throughput = throughput(window);
        if tested.verdict == Verdict::Invalid {
            return (tested, throughput);
        }
        tested.reason = format!("{}; {}", throughput_text(&throughput), tested.reason);
        let is_level =
            self.request.purpose == Purpose::Clients && tested.verdict == Verdict::Passed;
        if let Some(best) = self.best().filter(|_| is_level && !self.request.is_longest) {
            let least = throughput.low / best.throughput.high - 1.0;
            let most = throughput.high / best.throughput.low.max(f64::MIN_POSITIVE) - 1.0;
            if least < RELEVANT_GAIN && most > RELEVANT_GAIN {
                tested.verdict = Verdict::RetryLonger;
                tested.reason.push_str("; a gain of 5 % is undecided");
            }
        }
        (tested, throughput)
    }

    /// Records a level that met the limit.
    fn level_passed(&mut self, throughput: Estimate) {
        let best = self.best().map_or(0.0, |best| best.throughput.value);
        let gains = throughput.value >= (1.0 + RELEVANT_GAIN) * best;
        self.flat = if gains { 0 } else { self.flat + 1 };
        let ProbeRequest { clients, measure, .. } = self.request;
        self.levels.push(Level { clients, throughput, measure });
        if self.flat >= FLAT_LEVELS {
            return self
                .confirm_best(format!("more than {clients} clients were not tried: no gain"));
        }
        if clients >= self.spec.max_clients {
            return self.confirm_best("more clients were not allowed".to_owned());
        }
        if self.record.probes.len() + CONFIRMATION_PROBES >= MAX_PROBES {
            return self.confirm_best("there were no probes left for more clients".to_owned());
        }
        let clients = level_after(clients).min(self.spec.max_clients);
        self.issue(ProbeRequest::first(&self.spec, clients));
    }

    /// Confirms the smallest number of clients near the best.
    fn confirm_best(&mut self, stopped: String) {
        self.stopped = stopped;
        let least = self.best().map_or(0.0, |best| best.throughput.value * (1.0 - RELEVANT_GAIN));
        let chosen = self.levels.iter().find(|level| level.throughput.value >= least).copied();
        self.confirm(chosen);
    }

    fn confirm(&mut self, level: Option<Level>) {
        let Some(Level { clients, measure, .. }) = level else {
            return self.end(format!("no number of clients meets the limit; {}", self.stopped));
        };
        self.issue(ProbeRequest { purpose: Purpose::Confirm, clients, measure, is_longest: true });
    }

    /// Handles a confirmation: on failure the next smaller number is tried.
    fn confirmed(&mut self, has_passed: bool, throughput: Estimate) {
        let clients = self.request.clients;
        if !has_passed {
            let smaller = self.levels.iter().rfind(|level| level.clients < clients).copied();
            return self.confirm(smaller);
        }
        let ops_per_s = throughput.value;
        self.record.found = Some(SearchResult { ops_per_s, failed_ops_per_s: None, clients });
        let rate = per_second(ops_per_s);
        let with = model::units::clients(clients);
        self.end(format!("{rate} with {with}, within 5 % of the best; {}", self.stopped));
    }

    /// Handles a decided probe.
    fn decide(&mut self, has_passed: bool, throughput: Estimate) {
        match (self.request.purpose, has_passed) {
            (Purpose::Confirm, _) => self.confirmed(has_passed, throughput),
            (_, true) => self.level_passed(throughput),
            (_, false) => {
                let clients = self.request.clients;
                self.confirm_best(format!("{clients} do not meet the limit"));
            }
        }
    }

    fn retry_invalid(&mut self) {
        match (self.invalid_probes.record_invalid(), self.request.purpose) {
            (RetryDecision::Repeat, _) => self.issue(self.request),
            (RetryDecision::Skip, Purpose::Clients) if !self.levels.is_empty() => {
                let clients = self.request.clients;
                self.confirm_best(format!(
                    "with clients = {clients} the client was late too often"
                ));
            }
            _ => self.end("the client was late too often".to_owned()),
        }
    }
}

impl Search for ClientSearch {
    fn next(&self) -> Next {
        self.next
    }

    fn observe(&mut self, observation: &ProbeObservation) {
        let Next::Probe(probe) = self.next else { return };
        let (tested, throughput) = self.test_level(&Window::of(observation));
        let verdict = tested.verdict;
        let outcome = match verdict {
            Verdict::Passed => Outcome::Passed,
            Verdict::Failed => Outcome::Failed,
            Verdict::RetryLonger | Verdict::RetrySettled => Outcome::Undecided,
            Verdict::Invalid => Outcome::Invalid,
        };
        let line = probe_record(&probe, self.request.clients, observation, outcome, tested);
        self.record.probes.push(line);
        if let Some(why) = &observation.stop {
            return self.end(format!("stopped: {why}"));
        }
        if verdict == Verdict::Invalid {
            return self.retry_invalid();
        }
        self.invalid_probes.record_valid();
        if verdict == Verdict::RetryLonger && !self.request.is_longest {
            let measure = Nanos(self.request.measure.0.saturating_mul(LONGER));
            return self.issue(ProbeRequest { measure, is_longest: true, ..self.request });
        }
        self.decide(verdict == Verdict::Passed, throughput);
    }

    fn record(&self) -> &SearchRecord {
        &self.record
    }
}

/// Returns a probe's throughput, with the interval from its seconds.
fn throughput(window: &Window<'_>) -> Estimate {
    let value = window.throughput_ops_per_s();
    let unknown = Estimate { value, low: 0.0, high: f64::INFINITY };
    let seconds = mean(&window.throughputs());
    seconds.map_or(unknown, |seconds| Estimate { value, ..seconds })
}

/// Formats a throughput, with its interval when known.
fn throughput_text(throughput: &Estimate) -> String {
    let value = per_second(throughput.value);
    if throughput.high.is_infinite() {
        return value;
    }
    let [low, high] = [throughput.low.max(0.0), throughput.high].map(per_second);
    format!("{value} ({low} to {high})")
}

/// Returns the number of clients after this one: powers of two, and half-way between.
fn level_after(clients: u32) -> u32 {
    match clients {
        0 | 1 => clients + 1,
        _ if clients.is_power_of_two() => clients.saturating_add(clients / 2),
        _ => clients.saturating_add(clients / 3),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{LIMIT, observation, with_invalid};

    #[test]
    fn levels_are_powers_of_two_and_half_way_between() {
        let levels = std::iter::successors(Some(1), |clients| Some(level_after(*clients)));
        let levels: Vec<u32> = levels.take(10).collect();
        assert_eq!(levels, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
    }

    fn search(limit: Option<Limit>, max_clients: u32) -> ClientSearch {
        let (probe, warmup) = (Nanos::from_secs(10), Nanos::SECOND);
        ClientSearch::new(ClientSpec { limit, max_clients, probe, warmup })
    }

    /// Runs a search to its end; `respond` simulates a number of clients.
    fn play(search: &mut ClientSearch, mut respond: impl FnMut(&Probe, u32) -> ProbeObservation) {
        while let Next::Probe(probe) = search.next() {
            let ProbeLoad::Closed { clients } = probe.load else { panic!("{probe:?}") };
            assert!(probe.settles_first);
            search.observe(&respond(&probe, clients));
        }
    }

    fn tried(search: &ClientSearch) -> Vec<u32> {
        search.record().probes.iter().map(|probe| probe.clients).collect()
    }

    #[test]
    fn two_levels_without_gain_end_the_search_and_the_smallest_good_one_is_confirmed() {
        let mut search = search(None, 64);
        play(&mut search, |_, clients| observation(10, 1000 * u64::from(clients.min(6)), 0));
        assert_eq!(tried(&search), [1, 2, 3, 4, 6, 8, 12, 6]);
        let record = search.record();
        let found = SearchResult { ops_per_s: 6000.0, failed_ops_per_s: None, clients: 6 };
        assert_eq!(record.found, Some(found));
        assert_eq!(record.confirmed().unwrap().number, 7);
        assert_eq!(
            record.ended,
            "6,000/s with 6 clients, within 5 % of the best; more than 12 clients were not tried: \
             no gain"
        );
    }

    #[test]
    fn an_undecided_gain_is_measured_again_for_longer() {
        let mut search = search(None, 2);
        play(&mut search, |_, clients| {
            let mut probe = observation(10, 1000, 0);
            let noisy = probe.seconds.iter_mut().step_by(3);
            noisy.for_each(|second| second.ended = 700 + 300 * u64::from(clients));
            probe
        });
        assert_eq!(tried(&search), [1, 2, 2, 2]);
        let outcomes: Vec<Outcome> = search.record().probes.iter().map(|p| p.outcome).collect();
        assert_eq!(outcomes[1..3], [Outcome::Undecided, Outcome::Passed]);
        assert!(search.record().probes[1].reason.ends_with("a gain of 5 % is undecided"));
    }

    #[test]
    fn a_confirmation_that_exceeds_the_limit_moves_to_fewer_clients() {
        let mut search = search(Some(LIMIT), 4);
        play(&mut search, |probe, clients| {
            let is_broken = probe.purpose == Purpose::Confirm && clients > 2;
            let ended = 10_000 * u64::from(clients);
            observation(10, ended, if is_broken { ended / 10 } else { 0 })
        });
        assert_eq!(tried(&search), [1, 2, 3, 4, 4, 3, 2]);
        assert_eq!(search.record().found.unwrap().clients, 2);
    }

    #[test]
    fn an_undecided_limit_counts_as_exceeded_after_a_longer_probe() {
        let mut search = search(Some(LIMIT), 64);
        play(&mut search, |probe, clients| match clients {
            1 => observation(10, 10_000, 0),
            _ => observation((probe.measure.0 / Nanos::SECOND.0) as usize, 10_000, 100),
        });
        assert_eq!(tried(&search), [1, 2, 2, 1]);
        assert!(search.record().ended.ends_with("2 do not meet the limit"));
    }

    #[test]
    fn a_throughput_is_reported_with_its_interval_when_known() {
        let reason = |probe: ProbeObservation| {
            let mut search = search(None, 1);
            search.observe(&probe);
            search.record().probes[0].reason.clone()
        };
        assert_eq!(reason(observation(1, 1000, 0)), "1,000/s; no limit set");
        assert!(reason(observation(10, 1000, 0)).starts_with("1,000/s (1,000/s to 1,000/s); "));
        let late = reason(with_invalid(observation(1, 1000, 0), 1));
        assert_eq!(late, "the client was late: 1 interval is invalid");
    }

    #[test]
    fn a_late_client_ends_the_climb_and_a_stop_ends_the_search() {
        let mut late = search(None, 64);
        play(&mut late, |_, clients| match clients {
            4.. => with_invalid(observation(10, 4000, 0), 10),
            _ => observation(10, 1000 * u64::from(clients), 0),
        });
        assert_eq!(tried(&late), [1, 2, 3, 4, 4, 4, 3]);
        assert!(late.record().ended.ends_with("with clients = 4 the client was late too often"));
        let mut stopped = search(None, 64);
        play(&mut stopped, |_, _| ProbeObservation {
            stop: Some("the user".to_owned()),
            ..observation(10, 1, 0)
        });
        assert_eq!(stopped.record().ended, "stopped: the user");
        assert_eq!((tried(&stopped).len(), stopped.record().found), (1, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_observations_lead_to_an_end(
            answers in prop::collection::vec((0..20_000_u64, 0..300_u64, 0..8_usize), MAX_PROBES),
            max_clients in 1..u32::MAX,
        ) {
            let mut search = search(Some(LIMIT), max_clients);
            let mut answers = answers.into_iter();
            play(&mut search, |_, _| {
                let (ended, late, invalid_probes) = answers.next().unwrap();
                with_invalid(observation(10, ended, late.min(ended)), invalid_probes)
            });
            let record = search.record();
            prop_assert!(record.probes.len() <= MAX_PROBES && !record.ended.is_empty());
            let confirmed = record.confirmed().map(|probe| probe.clients);
            prop_assert_eq!(record.found.map(|found| found.clients), confirmed);
            prop_assert!(record.probes.iter().all(|probe| probe.clients <= max_clients));
        }
    }
}
