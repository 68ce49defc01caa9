//! Requests probes, tests them and keeps the record.

use model::Nanos;
use model::units::{per_second, thousands};
use model::validity::{Outcome, Purpose, SearchRecord, SearchResult};

use crate::outcome::{self, Verdict};
use crate::probe::{MAX_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::probe_record::probe_record;
use crate::rate::bisection::{Action, Bisection, RateOutcome, RateRange};
use crate::rate::spec::RateSpec;
use crate::retry::{InvalidProbes, RetryDecision};
use crate::steady;
use crate::window::Window;

/// Search for the highest rate that meets a limit and is sustained.
///
/// 1. Capacity: the closed loop's throughput, which may be a burst, gives the starting point.
/// 2. Bracket: from a quarter of it up by half each time, or down when that fails. After the first
///    rate that fails, the last that passed is rechecked: when it fails now, the state is
///    path-dependent (hysteresis), and from then on every probe starts settled.
/// 3. Bisect: the bracket is halved on the logarithm to the requested precision.
/// 4. Just above: a rate just above must fail; when it passes, noise has put the bracket too low.
/// 5. Confirm: ten times as long. It is the last probe, unless it fails: then a lower rate is
///    tried, each step twice as far. Undecided rates above it get their own confirmations, until
///    the open gap is no wider than the first step.
///
/// An undecided probe is repeated four times as long; one that began with inherited debt, after a
/// settle; an invalid one, up to twice.
///
/// The procedure is our choice. It tests the share of late operations rather than a percentile;
/// bisection with repeated probes instead of stochastic approximation [Waeber 2013] keeps the
/// number of probes bounded.
#[derive(Debug, Clone)]
pub struct RateSearch {
    spec: RateSpec,
    record: SearchRecord,
    next: Next,
    /// The current request.
    request: ProbeRequest,
    /// The bisection; none before the closed loop's throughput is known.
    bisection: Option<Bisection>,
    invalid_probes: InvalidProbes,
    /// Probes repeated because of inherited debt.
    settle_retries: u32,
    /// Engine's debt after the first settle, bytes.
    idle_debt: Option<f64>,
}

/// A requested probe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProbeRequest {
    purpose: Purpose,
    /// Rate offered, operations per second; none in the closed loop.
    rate: Option<f64>,
    measure: Nanos,
    /// Whether it cannot be extended further.
    is_longest: bool,
}

/// Follow-up of a probe.
enum FollowUp {
    /// The rate is decided.
    Decided(RateOutcome),
    /// The probe is repeated.
    Repeat(ProbeRequest),
    /// The client cannot offer the load.
    Abandoned,
}

/// Probes after which the best rate is confirmed; the rest are for confirmations.
const MAX_SEARCH_PROBES: usize = 26;
/// Most probes repeated because of inherited debt.
///
/// Debt that remains after five bounded settles is permanent.
const MAX_SETTLE_RETRIES: u32 = 4;
/// The lowest rate tried, as a share of the closed loop's throughput.
///
/// An engine that breaks the limit at a hundredth of its throughput breaks it idle.
const MIN_RATE_SHARE: f64 = 0.01;
/// The end of a search in too many of whose probes the client was late.
const CLIENT_LATE: &str = "the client was late too often";

impl RateSearch {
    /// Returns a search that has requested no probe yet.
    pub fn new(spec: RateSpec) -> Self {
        let record = SearchRecord {
            limit: Some(spec.limit),
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        let request = ProbeRequest {
            purpose: Purpose::Capacity,
            rate: None,
            measure: spec.probe,
            is_longest: true,
        };
        let mut search = Self {
            spec,
            record,
            next: Next::Done,
            request,
            bisection: None,
            invalid_probes: InvalidProbes::default(),
            settle_retries: 0,
            idle_debt: None,
        };
        search.issue(request, true);
        search
    }

    fn issue(&mut self, request: ProbeRequest, settles_first: bool) {
        let number = self.record.probes.len();
        if number >= MAX_PROBES {
            return self.end(format!("{number} probes were not enough"));
        }
        let load = match request.rate {
            Some(ops_per_s) => ProbeLoad::Rate { ops_per_s },
            None => ProbeLoad::Closed { clients: self.spec.clients },
        };
        self.request = request;
        self.next = Next::Probe(Probe {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            purpose: request.purpose,
            load,
            settles_first,
            warmup: self.spec.warmup,
            measure: request.measure,
        });
    }

    /// Returns the first probe of a rate.
    fn first_request(&self, purpose: Purpose, rate: f64) -> ProbeRequest {
        let is_confirmation = purpose == Purpose::Confirm;
        let measure = match is_confirmation {
            true => self.spec.confirmation(rate),
            false => self.spec.plain(rate),
        };
        // Less than a quarter more time would not decide what this probe cannot.
        let is_longest = is_confirmation || measure.0 / 4 * 5 > self.spec.longest().0;
        ProbeRequest { purpose, rate: Some(rate), measure, is_longest }
    }

    /// Returns the outcome of a probe and what follows from it.
    fn follow_up(&mut self, verdict: Verdict) -> (Outcome, FollowUp) {
        if verdict == Verdict::Invalid {
            return (Outcome::Invalid, self.follow_up_invalid());
        }
        self.invalid_probes.record_valid();
        let request = self.request;
        match verdict {
            Verdict::Passed => (Outcome::Passed, FollowUp::Decided(RateOutcome::Passed)),
            Verdict::RetrySettled if self.settle_retries < MAX_SETTLE_RETRIES => {
                self.settle_retries += 1;
                (Outcome::Undecided, FollowUp::Repeat(request))
            }
            Verdict::RetryLonger if !request.is_longest => {
                let measure = self.spec.longest();
                (
                    Outcome::Undecided,
                    FollowUp::Repeat(ProbeRequest { measure, is_longest: true, ..request }),
                )
            }
            Verdict::RetryLonger => (Outcome::Undecided, FollowUp::Decided(RateOutcome::Undecided)),
            Verdict::Failed | Verdict::RetrySettled | Verdict::Invalid => {
                (Outcome::Failed, FollowUp::Decided(RateOutcome::Failed))
            }
        }
    }

    fn follow_up_invalid(&mut self) -> FollowUp {
        match self.invalid_probes.record_invalid() {
            RetryDecision::Repeat => FollowUp::Repeat(self.request),
            RetryDecision::Skip if self.request.purpose != Purpose::Confirm => {
                FollowUp::Decided(RateOutcome::ClientLate)
            }
            RetryDecision::Skip | RetryDecision::End => FollowUp::Abandoned,
        }
    }

    /// Records a rate's outcome, and issues the next probe or ends.
    fn advance(&mut self, rate_outcome: RateOutcome, throughput_ops_per_s: f64) {
        let is_exhausted = self.record.probes.len() >= MAX_SEARCH_PROBES;
        let (Some(bisection), Some(rate)) = (&mut self.bisection, self.request.rate) else {
            if rate_outcome == RateOutcome::ClientLate && throughput_ops_per_s <= 0.0 {
                return self.end(CLIENT_LATE.to_owned());
            }
            return self.begin(throughput_ops_per_s);
        };
        let mut next = bisection.observe(self.request.purpose, rate, rate_outcome);
        self.record.is_path_dependent = bisection.is_path_dependent();
        if is_exhausted && matches!(next, Action::Try(purpose, _) if purpose != Purpose::Confirm) {
            next = bisection.confirm_early();
        }
        self.apply(next);
    }

    /// Begins the bracket, given the closed loop's throughput.
    fn begin(&mut self, closed_ops_per_s: f64) {
        if closed_ops_per_s <= 0.0 {
            return self.end("no operation ended in the closed loop".to_owned());
        }
        let (floor, cap) = (self.spec.floor_ops_per_s(), self.spec.cap_ops_per_s());
        let most = closed_ops_per_s.min(cap);
        if floor > most {
            let longest = self.spec.longest();
            let has = most * longest.as_secs_f64();
            let needed = thousands(self.spec.limit.operations_needed());
            return self.end(format!(
                "{needed} operations are needed to test the limit, and a probe of {longest} has \
                 {has:.0}"
            ));
        }
        let range = RateRange { floor: floor.max(MIN_RATE_SHARE * closed_ops_per_s).min(cap), cap };
        let (bisection, first) = Bisection::begin(closed_ops_per_s, range, self.spec.precision);
        self.bisection = Some(bisection);
        self.apply(first);
    }

    fn apply(&mut self, next: Action) {
        match next {
            Action::Try(purpose, rate) => {
                let request = self.first_request(purpose, rate);
                self.issue(request, self.must_settle_before(purpose));
            }
            Action::Found => {
                let text = self.found().map(|found| self.found_text(&found));
                self.end(text.unwrap_or_default());
            }
            Action::NoRate => self.end(format!(
                "no rate meets the limit: the lowest tried was {}",
                self.lowest_rate()
            )),
            Action::Unconfirmed => self.end(format!(
                "no rate was confirmed: short probes passed, but the long probe at {} failed",
                self.lowest_rate()
            )),
        }
    }

    /// Returns whether the engine must settle before the next probe.
    fn must_settle_before(&self, purpose: Purpose) -> bool {
        let Some(last) = self.record.probes.last() else { return true };
        let has_excess_debt = match (last.debt_bytes, self.idle_debt) {
            (Some((_, after)), Some(rest)) => steady::is_debt_above(after, rest),
            _ => false,
        };
        let needs_equal_start = matches!(purpose, Purpose::Recheck | Purpose::Above)
            || purpose == Purpose::Confirm
            || self.record.is_path_dependent;
        let is_overloaded = last.outcome != Outcome::Passed || last.purpose == Purpose::Capacity;
        has_excess_debt || needs_equal_start || is_overloaded
    }

    fn lowest_rate(&self) -> String {
        let rates = self.record.probes.iter().filter_map(|probe| probe.offered_ops_per_s);
        per_second(rates.fold(f64::INFINITY, f64::min))
    }

    /// Returns the confirmed rate.
    fn found(&self) -> Option<SearchResult> {
        let bisection = self.bisection.as_ref()?;
        let ops_per_s = bisection.found()?;
        let failed_ops_per_s = bisection.failed_above(ops_per_s);
        Some(SearchResult { ops_per_s, failed_ops_per_s, clients: self.spec.clients })
    }

    /// Describes the confirmed rate, and the rates above it.
    fn found_text(&self, found: &SearchResult) -> String {
        let above = if let Some(failed) = found.failed_ops_per_s {
            format!("{} failed", per_second(failed))
        } else if found.ops_per_s >= self.spec.cap_ops_per_s() * (1.0 - 1e-9) {
            format!(
                "client-bound: the engine may sustain a higher rate than the client can offer (0.8 \
                 of the client's ceiling of {})",
                per_second(self.spec.ceiling_ops_per_s)
            )
        } else {
            "no higher rate was decided".to_owned()
        };
        let (rate, length) = (per_second(found.ops_per_s), self.request.measure);
        format!("{rate} met the limit and was sustained for {length}; {above}")
    }

    /// Ends the search for this reason; a confirmed rate remains its result.
    fn end(&mut self, why: String) {
        self.record.found = self.found();
        self.record.ended = why;
        self.next = Next::Done;
    }
}

impl Search for RateSearch {
    fn next(&self) -> Next {
        self.next
    }

    fn observe(&mut self, observation: &ProbeObservation) {
        let Next::Probe(probe) = self.next else { return };
        let window = Window::of(observation);
        let probe_outcome = match self.request.rate {
            Some(rate) => outcome::test_rate(&window, &self.spec.limit, rate),
            None => outcome::test_capacity(&window),
        };
        let (outcome, follow_up) = self.follow_up(probe_outcome.verdict);
        self.idle_debt = self.idle_debt.or(observation.debt_bytes.map(|(before, _)| before));
        self.record.probes.push(probe_record(
            &probe,
            self.spec.clients,
            observation,
            outcome,
            probe_outcome,
        ));
        match (&observation.stop, follow_up) {
            (Some(why), _) => self.end(format!("stopped: {why}")),
            (None, FollowUp::Decided(rate_outcome)) => {
                self.advance(rate_outcome, window.throughput_ops_per_s())
            }
            (None, FollowUp::Repeat(request)) => self.issue(request, true),
            (None, FollowUp::Abandoned) => self.end(CLIENT_LATE.to_owned()),
        }
    }

    fn record(&self) -> &SearchRecord {
        &self.record
    }
}
