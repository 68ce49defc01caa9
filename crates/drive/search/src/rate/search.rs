//! Asks for probes, judges them and keeps the record.

use model::Nanos;
use model::validity::{Outcome, Purpose, SearchRecord, SearchResult};

use crate::entry::entry;
use crate::probe::{MOST_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::rate::course::{Answer, Course, Move, Span};
use crate::rate::ending::Ending;
use crate::rate::spec::RateSpec;
use crate::ruling::{self, Verdict};
use crate::steady;
use crate::voids::{Patience, Voids};
use crate::window::Window;

/// The search for the highest rate that meets a limit and can be sustained.
///
/// 1. The closed loop's throughput is a hint of where to look, no more: it may be a burst.
/// 2. The bracket: from a quarter of it up by half each time, or down when that fails. After the
///    first rate that fails, the last that passed is tried again: when it fails now, the state
///    depends on the way there, and from then on every probe begins drained.
/// 3. The rates between are halved on the logarithm to the precision asked for.
/// 4. A rate just above must fail; when it passes, noise has put the bracket too low.
/// 5. The confirmation: ten times as long. It is the last probe, unless it fails: then a lower rate
///    is tried, each step twice as far. Rates above it that no probe has decided get confirmations
///    of their own, until what is open is no wider than the first step.
///
/// A probe that cannot tell is asked for again, four times as long; one that began with the debt
/// of what was before it, after a drain; one in which the client was late, twice.
///
/// Source: the project's reference, analysis, section 5.3.
#[derive(Debug, Clone)]
pub struct RateSearch {
    spec: RateSpec,
    record: SearchRecord,
    next: Next,
    /// What is asked for now.
    ask: Ask,
    /// The way through the rates; none before the closed loop's throughput is known.
    course: Option<Course>,
    voids: Voids,
    /// Probes that were asked for again because of the debt they began with.
    drains: u32,
    /// Engine's debt after the first drain, bytes.
    rest_debt: Option<f64>,
}

/// What is asked for, and how often it has been.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ask {
    purpose: Purpose,
    /// Rate offered, operations per second; none in the closed loop.
    rate: Option<f64>,
    measure: Nanos,
    /// Whether no longer probe can follow it.
    is_longest: bool,
}

/// What follows from a probe.
enum Fate {
    /// The rate is settled.
    Settled(Answer),
    /// It is asked for again.
    Again(Ask),
    /// The client cannot do it.
    GivenUp,
}

/// Probes after which what is known is confirmed: the rest is left for confirmations.
const MOST_SEARCHING: usize = 26;
/// Probes that are repeated because of the debt they began with: what five drains have left, each
/// of them bounded, stays.
const MOST_DRAINS: u32 = 4;
/// The lowest rate tried, as a share of the closed loop's throughput.
///
/// An engine that breaks the limit at a hundredth of its throughput breaks it idle.
const LEAST_SHARE: f64 = 0.01;

impl RateSearch {
    /// Returns a search that has told and heard nothing yet.
    #[must_use]
    pub fn new(spec: RateSpec) -> Self {
        let record = SearchRecord {
            limit: Some(spec.limit),
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        let ask =
            Ask { purpose: Purpose::Capacity, rate: None, measure: spec.probe, is_longest: true };
        let mut search = Self {
            spec,
            record,
            next: Next::Done,
            ask,
            course: None,
            voids: Voids::default(),
            drains: 0,
            rest_debt: None,
        };
        search.ask_for(ask, true);
        search
    }

    fn ask_for(&mut self, ask: Ask, is_drained_before: bool) {
        let number = self.record.probes.len();
        if number >= MOST_PROBES {
            return self.end(&Ending::UsedUp(number));
        }
        let load = match ask.rate {
            Some(ops_per_s) => ProbeLoad::Rate { ops_per_s },
            None => ProbeLoad::Closed { clients: self.spec.clients },
        };
        self.ask = ask;
        self.next = Next::Probe(Probe {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            purpose: ask.purpose,
            load,
            is_drained_before,
            warmup: self.spec.warmup,
            measure: ask.measure,
        });
    }

    /// Returns the first probe of a rate.
    fn first_ask(&self, purpose: Purpose, rate: f64) -> Ask {
        let is_confirmation = purpose == Purpose::Confirm;
        let measure = match is_confirmation {
            true => self.spec.confirmation(rate),
            false => self.spec.plain(rate),
        };
        // A quarter more time would not tell what this one cannot.
        let is_longest = is_confirmation || measure.0 / 4 * 5 > self.spec.longest().0;
        Ask { purpose, rate: Some(rate), measure, is_longest }
    }

    /// Returns the outcome of a probe and what follows from it.
    fn fate(&mut self, verdict: Verdict) -> (Outcome, Fate) {
        if verdict == Verdict::Invalid {
            return (Outcome::Invalid, self.fate_of_voided());
        }
        self.voids.none();
        let ask = self.ask;
        match verdict {
            Verdict::Passed => (Outcome::Passed, Fate::Settled(Answer::Passed)),
            Verdict::Drained if self.drains < MOST_DRAINS => {
                self.drains += 1;
                (Outcome::Undecided, Fate::Again(ask))
            }
            Verdict::Longer if !ask.is_longest => {
                let measure = self.spec.longest();
                (Outcome::Undecided, Fate::Again(Ask { measure, is_longest: true, ..ask }))
            }
            Verdict::Longer => (Outcome::Undecided, Fate::Settled(Answer::Undecided)),
            Verdict::Failed | Verdict::Drained | Verdict::Invalid => {
                (Outcome::Failed, Fate::Settled(Answer::Failed))
            }
        }
    }

    fn fate_of_voided(&mut self) -> Fate {
        match self.voids.one_more() {
            Patience::Again => Fate::Again(self.ask),
            Patience::Elsewhere if self.ask.purpose != Purpose::Confirm => {
                Fate::Settled(Answer::Late)
            }
            Patience::Elsewhere | Patience::Over => Fate::GivenUp,
        }
    }

    /// Takes an answer, and asks for what comes next or ends.
    fn proceed(&mut self, answer: Answer, throughput_ops_per_s: f64) {
        let is_late = self.record.probes.len() >= MOST_SEARCHING;
        let (Some(course), Some(rate)) = (&mut self.course, self.ask.rate) else {
            if answer == Answer::Late && throughput_ops_per_s <= 0.0 {
                return self.end(&Ending::ClientLate);
            }
            return self.begin(throughput_ops_per_s);
        };
        let mut next = course.answer(self.ask.purpose, rate, answer);
        self.record.is_path_dependent = course.is_path_dependent();
        if is_late && matches!(next, Move::Try(purpose, _) if purpose != Purpose::Confirm) {
            next = course.hurry();
        }
        self.make(next);
    }

    /// Begins the bracket, given the closed loop's throughput.
    fn begin(&mut self, closed_ops_per_s: f64) {
        if closed_ops_per_s <= 0.0 {
            return self.end(&Ending::NothingDone);
        }
        let (floor, cap) = (self.spec.floor_ops_per_s(), self.spec.cap_ops_per_s());
        let most = closed_ops_per_s.min(cap);
        if floor > most {
            let longest = self.spec.longest();
            let has = most * longest.as_secs_f64();
            let needed = self.spec.limit.operations_needed();
            return self.end(&Ending::TooFew { needed, has, longest });
        }
        let span = Span { floor: floor.max(LEAST_SHARE * closed_ops_per_s).min(cap), cap };
        let (course, first) = Course::begin(closed_ops_per_s, span, self.spec.precision);
        self.course = Some(course);
        self.make(first);
    }

    fn make(&mut self, next: Move) {
        match next {
            Move::Try(purpose, rate) => {
                let ask = self.first_ask(purpose, rate);
                self.ask_for(ask, self.is_drain_due(purpose));
            }
            Move::Found => self.end(&Ending::Found(self.ask.measure)),
            Move::NoRate => self.end(&Ending::NoRate(self.lowest_rate())),
            Move::Unconfirmed => self.end(&Ending::Unconfirmed(self.lowest_rate())),
        }
    }

    /// Returns whether the next probe must not begin with what the last has left behind.
    fn is_drain_due(&self, purpose: Purpose) -> bool {
        let Some(last) = self.record.probes.last() else { return true };
        let owes = match (last.debt_bytes, self.rest_debt) {
            (Some((_, after)), Some(rest)) => steady::is_debt_above(after, rest),
            _ => false,
        };
        let must_begin_alike = matches!(purpose, Purpose::Recheck | Purpose::Above)
            || purpose == Purpose::Confirm
            || self.record.is_path_dependent;
        let has_overloaded = last.outcome != Outcome::Passed || last.purpose == Purpose::Capacity;
        owes || must_begin_alike || has_overloaded
    }

    fn lowest_rate(&self) -> f64 {
        let rates = self.record.probes.iter().filter_map(|probe| probe.offered_ops_per_s);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// Ends the search; what a confirmation has found stays found.
    fn end(&mut self, ending: &Ending) {
        let found = self.course.as_ref().and_then(|course| {
            let ops_per_s = course.found()?;
            let failed_ops_per_s = course.failed_above(ops_per_s);
            Some(SearchResult { ops_per_s, failed_ops_per_s, clients: self.spec.clients })
        });
        self.record.found = found;
        self.record.ended = ending.sentence(found, &self.spec);
        self.next = Next::Done;
    }
}

impl Search for RateSearch {
    fn next(&self) -> Next {
        self.next
    }

    fn observe(&mut self, seen: &ProbeObservation) {
        let Next::Probe(probe) = self.next else { return };
        let window = Window::of(seen);
        let ruling = match self.ask.rate {
            Some(rate) => ruling::at_rate(&window, &self.spec.limit, rate),
            None => ruling::of_capacity(&window),
        };
        let (outcome, fate) = self.fate(ruling.verdict);
        self.rest_debt = self.rest_debt.or(seen.debt_bytes.map(|(before, _)| before));
        self.record.probes.push(entry(&probe, self.spec.clients, seen, (outcome, ruling)));
        match (&seen.stop, fate) {
            (Some(why), _) => self.end(&Ending::Stopped(why.clone())),
            (None, Fate::Settled(answer)) => self.proceed(answer, window.throughput_ops_per_s()),
            (None, Fate::Again(ask)) => self.ask_for(ask, true),
            (None, Fate::GivenUp) => self.end(&Ending::ClientLate),
        }
    }

    fn record(&self) -> &SearchRecord {
        &self.record
    }
}
