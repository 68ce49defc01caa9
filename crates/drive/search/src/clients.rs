//! The search for the best number of clients of a closed loop.
//!
//! Not here: debt. A closed loop takes all that the engine gives, and sustains nothing; every level
//! begins drained, so that none pays for the one before it.

use model::units::per_second;
use model::validity::{Outcome, Purpose, SearchRecord, SearchResult};
use model::{Limit, Nanos};
use stats::series::{Mean, mean};

use crate::entry::entry;
use crate::probe::{MOST_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::ruling::{self, Ruling, Verdict};
use crate::voids::{Patience, Voids};
use crate::window::Window;

/// What the search for the best number of clients has to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientSpec {
    /// What the operations must keep, if anything.
    pub limit: Option<Limit>,
    /// Most clients to try.
    pub max_clients: u32,
    /// Measured span of a probe; single probes are longer when they have to be.
    pub probe: Nanos,
    /// Unmeasured time before each probe.
    pub warmup: Nanos,
}

/// The search for the best number of clients of a closed loop.
///
/// Clients are added, 1, 2, 3, 4, 6, 8, 12 and so on, until the limit is broken or two levels in a
/// row gain less than 5 % on the best before them. The answer is the smallest number of clients
/// whose throughput is within 5 % of the best; a probe of its own confirms it. A level whose gain,
/// or whose share of late operations, is not clear is measured again, four times as long.
#[derive(Debug, Clone)]
pub struct ClientSearch {
    spec: ClientSpec,
    record: SearchRecord,
    next: Next,
    ask: Ask,
    /// Levels that kept the limit, in order.
    kept: Vec<Level>,
    /// Levels in a row that gained too little.
    flat: u32,
    /// Why no more clients were added; empty while they are.
    stopped: String,
    voids: Voids,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ask {
    purpose: Purpose,
    clients: u32,
    measure: Nanos,
    /// Whether no longer probe can follow it.
    is_longest: bool,
}

/// A number of clients that kept the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    clients: u32,
    throughput: Mean,
    /// Length of the probe that could tell.
    measure: Nanos,
}

/// Gain on the best level before that counts as growth, and loss that does not count.
///
/// Source: the project's brief for the search.
const RELEVANT_GAIN: f64 = 0.05;
/// Levels in a row with less gain, after which throughput has stopped growing.
const FLAT_LEVELS: u32 = 2;
/// How many times longer a probe is that follows one which could not tell.
///
/// Source: the project's reference, analysis, section 5.3.
const LONGER: u64 = 4;
/// Probes left for confirmations.
const LEFT_TO_CONFIRM: usize = 8;

impl ClientSearch {
    /// Returns a search that has told and heard nothing yet.
    #[must_use]
    pub fn new(spec: ClientSpec) -> Self {
        let record = SearchRecord {
            limit: spec.limit,
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        let ask =
            Ask { purpose: Purpose::Clients, clients: 1, measure: spec.probe, is_longest: false };
        let mut search = Self {
            spec,
            record,
            next: Next::Done,
            ask,
            kept: Vec::new(),
            flat: 0,
            stopped: String::new(),
            voids: Voids::default(),
        };
        search.ask_for(ask);
        search
    }

    fn ask_for(&mut self, ask: Ask) {
        let number = self.record.probes.len();
        if number >= MOST_PROBES {
            return self.end(format!("{number} probes were not enough"));
        }
        self.ask = ask;
        self.next = Next::Probe(Probe {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            purpose: ask.purpose,
            load: ProbeLoad::Closed { clients: ask.clients },
            is_drained_before: true,
            warmup: self.spec.warmup,
            measure: ask.measure,
        });
    }

    fn end(&mut self, why: String) {
        self.record.ended = why;
        self.next = Next::Done;
    }

    /// Returns the best level so far.
    fn best(&self) -> Option<Level> {
        let order = |a: &&Level, b: &&Level| a.throughput.value.total_cmp(&b.throughput.value);
        self.kept.iter().max_by(order).copied()
    }

    /// Returns what a level says: of the limit, and of its gain on the best before.
    fn ruling(&self, window: &Window<'_>) -> (Ruling, Mean) {
        let mut ruling = ruling::at_clients(window, self.spec.limit.as_ref());
        let throughput = throughput(window);
        if ruling.verdict == Verdict::Invalid {
            return (ruling, throughput);
        }
        ruling.reason = format!("{}; {}", words(&throughput), ruling.reason);
        let is_level = self.ask.purpose == Purpose::Clients && ruling.verdict == Verdict::Passed;
        if let Some(best) = self.best().filter(|_| is_level && !self.ask.is_longest) {
            let least = throughput.low / best.throughput.high - 1.0;
            let most = throughput.high / best.throughput.low.max(f64::MIN_POSITIVE) - 1.0;
            if least < RELEVANT_GAIN && most > RELEVANT_GAIN {
                ruling.verdict = Verdict::Longer;
                ruling.reason.push_str("; whether this gains 5 % is not clear");
            }
        }
        (ruling, throughput)
    }

    /// Takes a level that kept the limit.
    fn level_kept(&mut self, throughput: Mean) {
        let best = self.best().map_or(0.0, |best| best.throughput.value);
        let gains = throughput.value >= (1.0 + RELEVANT_GAIN) * best;
        self.flat = if gains { 0 } else { self.flat + 1 };
        let Ask { clients, measure, .. } = self.ask;
        self.kept.push(Level { clients, throughput, measure });
        if self.flat >= FLAT_LEVELS {
            return self.confirm_best(format!("more than {clients} were not tried: no gain"));
        }
        if clients >= self.spec.max_clients {
            return self.confirm_best("more were not allowed".to_owned());
        }
        if self.record.probes.len() + LEFT_TO_CONFIRM >= MOST_PROBES {
            return self.confirm_best("there were no probes left for more".to_owned());
        }
        let clients = level_after(clients).min(self.spec.max_clients);
        self.ask_for(self.first_ask(clients));
    }

    fn first_ask(&self, clients: u32) -> Ask {
        Ask { purpose: Purpose::Clients, clients, measure: self.spec.probe, is_longest: false }
    }

    /// Confirms the smallest number of clients that is as good as the best.
    fn confirm_best(&mut self, stopped: String) {
        self.stopped = stopped;
        let least = self.best().map_or(0.0, |best| best.throughput.value * (1.0 - RELEVANT_GAIN));
        let chosen = self.kept.iter().find(|level| level.throughput.value >= least).copied();
        self.confirm(chosen);
    }

    fn confirm(&mut self, level: Option<Level>) {
        let Some(Level { clients, measure, .. }) = level else {
            return self.end(format!("no number of clients keeps the limit; {}", self.stopped));
        };
        self.ask_for(Ask { purpose: Purpose::Confirm, clients, measure, is_longest: true });
    }

    /// Takes a confirmation: when it fails, the next smaller number is tried.
    fn confirmed(&mut self, has_kept: bool, throughput: Mean) {
        let clients = self.ask.clients;
        if !has_kept {
            let smaller = self.kept.iter().rfind(|level| level.clients < clients).copied();
            return self.confirm(smaller);
        }
        let ops_per_s = throughput.value;
        self.record.found = Some(SearchResult { ops_per_s, failed_ops_per_s: None, clients });
        let rate = per_second(ops_per_s);
        let with = model::units::clients(clients);
        self.end(format!("{rate} with {with}, within 5 % of the best; {}", self.stopped));
    }

    /// Takes a probe that is settled.
    fn settle(&mut self, has_kept: bool, throughput: Mean) {
        match (self.ask.purpose, has_kept) {
            (Purpose::Confirm, _) => self.confirmed(has_kept, throughput),
            (_, true) => self.level_kept(throughput),
            (_, false) => {
                let clients = self.ask.clients;
                self.confirm_best(format!("{clients} do not keep the limit"));
            }
        }
    }

    fn invalid_intervals(&mut self) {
        match (self.voids.one_more(), self.ask.purpose) {
            (Patience::Again, _) => self.ask_for(self.ask),
            (Patience::Elsewhere, Purpose::Clients) if !self.kept.is_empty() => {
                let clients = self.ask.clients;
                self.confirm_best(format!("with {clients} the client was late too often"));
            }
            _ => self.end("the client was late too often".to_owned()),
        }
    }
}

impl Search for ClientSearch {
    fn next(&self) -> Next {
        self.next
    }

    fn observe(&mut self, seen: &ProbeObservation) {
        let Next::Probe(probe) = self.next else { return };
        let (ruling, throughput) = self.ruling(&Window::of(seen));
        let verdict = ruling.verdict;
        let outcome = match verdict {
            Verdict::Passed => Outcome::Passed,
            Verdict::Failed => Outcome::Failed,
            Verdict::Longer | Verdict::Drained => Outcome::Undecided,
            Verdict::Invalid => Outcome::Invalid,
        };
        let line = entry(&probe, self.ask.clients, seen, (outcome, ruling));
        self.record.probes.push(line);
        if let Some(why) = &seen.stop {
            return self.end(format!("it was stopped: {why}"));
        }
        if verdict == Verdict::Invalid {
            return self.invalid_intervals();
        }
        self.voids.none();
        if verdict == Verdict::Longer && !self.ask.is_longest {
            let measure = Nanos(self.ask.measure.0.saturating_mul(LONGER));
            return self.ask_for(Ask { measure, is_longest: true, ..self.ask });
        }
        self.settle(verdict == Verdict::Passed, throughput);
    }

    fn record(&self) -> &SearchRecord {
        &self.record
    }
}

/// Returns the throughput of a probe, with the interval that its seconds give.
fn throughput(window: &Window<'_>) -> Mean {
    let value = window.throughput_ops_per_s();
    let unknown = Mean { value, low: 0.0, high: f64::INFINITY };
    let seconds = mean(&window.throughputs());
    seconds.map_or(unknown, |seconds| Mean { value, ..seconds })
}

/// Writes a throughput, with its interval when there were seconds enough to know it.
fn words(throughput: &Mean) -> String {
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
    use crate::example::{LIMIT, seen, with_voids};

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

    /// Plays a search to its end; `answer` is what so many clients show.
    fn play(search: &mut ClientSearch, mut answer: impl FnMut(&Probe, u32) -> ProbeObservation) {
        while let Next::Probe(probe) = search.next() {
            let ProbeLoad::Closed { clients } = probe.load else { panic!("{probe:?}") };
            assert!(probe.is_drained_before);
            search.observe(&answer(&probe, clients));
        }
    }

    fn tried(search: &ClientSearch) -> Vec<u32> {
        search.record().probes.iter().map(|probe| probe.clients).collect()
    }

    #[test]
    fn two_levels_without_gain_end_it_and_the_smallest_good_one_is_confirmed() {
        let mut search = search(None, 64);
        play(&mut search, |_, clients| seen(10, 1000 * u64::from(clients.min(6)), 0));
        assert_eq!(tried(&search), [1, 2, 3, 4, 6, 8, 12, 6]);
        let record = search.record();
        let found = SearchResult { ops_per_s: 6000.0, failed_ops_per_s: None, clients: 6 };
        assert_eq!(record.found, Some(found));
        assert_eq!(record.confirmed().unwrap().number, 7);
        assert_eq!(
            record.ended,
            "6,000/s with 6 clients, within 5 % of the best; more than 12 were not tried: no gain"
        );
    }

    #[test]
    fn a_gain_that_is_not_clear_is_measured_again_for_longer() {
        let mut search = search(None, 2);
        play(&mut search, |_, clients| {
            let mut probe = seen(10, 1000, 0);
            let noisy = probe.seconds.iter_mut().step_by(3);
            noisy.for_each(|second| second.ended = 700 + 300 * u64::from(clients));
            probe
        });
        assert_eq!(tried(&search), [1, 2, 2, 2]);
        let outcomes: Vec<Outcome> = search.record().probes.iter().map(|p| p.outcome).collect();
        assert_eq!(outcomes[1..3], [Outcome::Undecided, Outcome::Passed]);
        assert!(search.record().probes[1].reason.ends_with("whether this gains 5 % is not clear"));
    }

    #[test]
    fn a_confirmation_that_breaks_the_limit_moves_to_fewer_clients() {
        let mut search = search(Some(LIMIT), 4);
        play(&mut search, |probe, clients| {
            let is_broken = probe.purpose == Purpose::Confirm && clients > 2;
            let ended = 10_000 * u64::from(clients);
            seen(10, ended, if is_broken { ended / 10 } else { 0 })
        });
        assert_eq!(tried(&search), [1, 2, 3, 4, 4, 3, 2]);
        assert_eq!(search.record().found.unwrap().clients, 2);
    }

    #[test]
    fn a_limit_that_cannot_be_told_counts_as_broken_after_a_longer_probe() {
        let mut search = search(Some(LIMIT), 64);
        play(&mut search, |probe, clients| match clients {
            1 => seen(10, 10_000, 0),
            _ => seen((probe.measure.0 / Nanos::SECOND.0) as usize, 10_000, 100),
        });
        assert_eq!(tried(&search), [1, 2, 2, 1]);
        assert!(search.record().ended.ends_with("2 do not keep the limit"));
    }

    #[test]
    fn a_throughput_is_told_as_far_as_it_is_known() {
        let reason = |probe: ProbeObservation| {
            let mut search = search(None, 1);
            search.observe(&probe);
            search.record().probes[0].reason.clone()
        };
        assert_eq!(reason(seen(1, 1000, 0)), "1,000/s; no limit was asked for");
        assert!(reason(seen(10, 1000, 0)).starts_with("1,000/s (1,000/s to 1,000/s); "));
        let late = reason(with_voids(seen(1, 1000, 0), 1));
        assert_eq!(late, "the client was late: 1 interval is void");
    }

    #[test]
    fn a_late_client_ends_the_climb_and_a_stop_ends_all() {
        let mut late = search(None, 64);
        play(&mut late, |_, clients| match clients {
            4.. => with_voids(seen(10, 4000, 0), 10),
            _ => seen(10, 1000 * u64::from(clients), 0),
        });
        assert_eq!(tried(&late), [1, 2, 3, 4, 4, 4, 3]);
        assert!(late.record().ended.ends_with("with 4 the client was late too often"));
        let mut stopped = search(None, 64);
        play(&mut stopped, |_, _| ProbeObservation {
            stop: Some("the user".to_owned()),
            ..seen(10, 1, 0)
        });
        assert_eq!(stopped.record().ended, "it was stopped: the user");
        assert_eq!((tried(&stopped).len(), stopped.record().found), (1, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_answers_lead_to_an_end(
            answers in prop::collection::vec((0..20_000_u64, 0..300_u64, 0..8_usize), MOST_PROBES),
            max_clients in 1..u32::MAX,
        ) {
            let mut search = search(Some(LIMIT), max_clients);
            let mut answers = answers.into_iter();
            play(&mut search, |_, _| {
                let (ended, late, voids) = answers.next().unwrap();
                with_voids(seen(10, ended, late.min(ended)), voids)
            });
            let record = search.record();
            prop_assert!(record.probes.len() <= MOST_PROBES && !record.ended.is_empty());
            let confirmed = record.confirmed().map(|probe| probe.clients);
            prop_assert_eq!(record.found.map(|found| found.clients), confirmed);
            prop_assert!(record.probes.iter().all(|probe| probe.clients <= max_clients));
        }
    }
}
