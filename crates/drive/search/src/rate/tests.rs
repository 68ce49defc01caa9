//! The search as whoever runs its probes sees it.

use model::Nanos;
use model::validity::{Outcome, Purpose};
use proptest::prelude::*;

use crate::example::{LIMIT, answer, seen, with_gauge, with_voids};
use crate::probe::{MOST_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::rate::{RateSearch, RateSpec};

fn spec() -> RateSpec {
    let probe = Nanos::from_secs(60);
    RateSpec {
        limit: LIMIT,
        clients: 4,
        ceiling_ops_per_s: 1e6,
        probe,
        warmup: Nanos::from_secs(5),
        precision: RateSpec::precision_for(probe),
    }
}

fn asked(search: &RateSearch) -> Probe {
    match search.next() {
        Next::Probe(probe) => probe,
        Next::Done => panic!("it is over: {}", search.record().ended),
    }
}

fn rate(probe: &Probe) -> f64 {
    match probe.load {
        ProbeLoad::Rate { ops_per_s } => ops_per_s,
        ProbeLoad::Closed { .. } => 0.0,
    }
}

/// Tells the search of an engine that serves so many, until it asks for this.
fn until(search: &mut RateSearch, purpose: Purpose, most_ops_per_s: f64) -> Probe {
    loop {
        let probe = asked(search);
        if probe.purpose == purpose {
            return probe;
        }
        search.observe(&answer(&probe, most_ops_per_s));
    }
}

#[test]
fn it_begins_with_the_closed_loop_after_a_drain() {
    let search = RateSearch::new(spec());
    let probe = asked(&search);
    assert_eq!((probe.number, probe.purpose), (0, Purpose::Capacity));
    assert_eq!(probe.load, ProbeLoad::Closed { clients: 4 });
    assert!(probe.is_drained_before);
    assert_eq!(search.next(), search.next());
}

#[test]
fn what_was_found_is_in_the_record_with_every_probe() {
    let mut search = RateSearch::new(spec());
    let confirm = until(&mut search, Purpose::Confirm, 1000.0);
    assert_eq!(confirm.measure, Nanos::from_secs(600));
    search.observe(&answer(&confirm, 1000.0));
    assert_eq!(search.next(), Next::Done);
    let record = search.record();
    let found = record.found.unwrap();
    assert!(found.ops_per_s <= 1000.0 && found.ops_per_s > 980.0 && found.clients == 4);
    assert_eq!(record.confirmed().unwrap().number, confirm.number);
    assert_eq!(record.probes.len(), confirm.number as usize + 1);
    assert!(record.ended.contains("kept the limit and was sustained for 10m00s"));
    search.observe(&answer(&confirm, 1000.0));
    assert_eq!(search.record().probes.len(), confirm.number as usize + 1, "it is over");
}

#[test]
fn a_stop_ends_it_at_once_and_nothing_is_found() {
    let mut search = RateSearch::new(spec());
    let confirm = until(&mut search, Purpose::Confirm, 1000.0);
    let stopped =
        ProbeObservation { stop: Some("the user".to_owned()), ..answer(&confirm, 1000.0) };
    search.observe(&stopped);
    assert_eq!((search.next(), search.record().found), (Next::Done, None));
    assert_eq!(search.record().ended, "it was stopped: the user");
    assert_eq!(search.record().probes.last().unwrap().outcome, Outcome::Undecided);
    assert_eq!(search.record().confirmed(), None);
}

#[test]
fn what_follows_a_failure_or_must_begin_alike_is_drained() {
    let mut search = RateSearch::new(spec());
    while let Next::Probe(probe) = search.next() {
        let last = search.record().probes.last();
        let has_passed = last.is_some_and(|last| last.outcome == Outcome::Passed);
        let must = matches!(probe.purpose, Purpose::Recheck | Purpose::Above | Purpose::Confirm);
        assert_eq!(probe.is_drained_before, must || !has_passed || probe.number == 1, "{probe:?}");
        search.observe(&answer(&probe, 1000.0));
    }
}

#[test]
fn debt_left_by_a_rate_that_passed_is_drained_before_the_next() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    search.observe(&ProbeObservation { debt_bytes: Some((0.0, 1e9)), ..answer(&first, 1000.0) });
    assert!(asked(&search).is_drained_before);
    let second = asked(&search);
    search.observe(&ProbeObservation { debt_bytes: Some((0.0, 1e6)), ..answer(&second, 1000.0) });
    assert!(!asked(&search).is_drained_before);
}

#[test]
fn a_probe_is_as_long_as_its_operations_need() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 400.0);
    assert!((rate(&first) - 100.0).abs() < 1e-9);
    // 10 000 operations and three standard deviations, at 100 a second.
    assert_eq!(first.measure, Nanos::from_secs(103));
}

#[test]
fn a_probe_that_cannot_tell_is_asked_for_again_four_times_as_long_once() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    search.observe(&seen(60, 300, 3));
    let again = asked(&search);
    assert_eq!((rate(&again), again.measure), (rate(&first), Nanos::from_secs(240)));
    search.observe(&seen(240, 300, 3));
    let next = asked(&search);
    assert!(rate(&next) < rate(&first), "taken as failed");
    let outcomes: Vec<Outcome> = search.record().probes.iter().map(|p| p.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Undecided, Outcome::Undecided]);
}

#[test]
fn a_probe_in_which_the_client_was_late_is_repeated_and_then_left() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    for _ in 0..2 {
        search.observe(&with_voids(answer(&first, 1000.0), 60));
        assert!((rate(&asked(&search)) - rate(&first)).abs() < 1e-9);
    }
    search.observe(&with_voids(answer(&first, 1000.0), 60));
    assert!(rate(&asked(&search)) < rate(&first), "the search goes on below");
    assert_eq!(search.record().probes.last().unwrap().outcome, Outcome::Invalid);
    while let Next::Probe(probe) = search.next() {
        search.observe(&with_voids(answer(&probe, 1000.0), 60));
    }
    assert_eq!(search.record().ended, "the client was late too often");
    assert_eq!(search.record().probes.len(), 1 + 9);
}

#[test]
fn a_client_that_is_late_in_every_closed_loop_is_named() {
    let mut search = RateSearch::new(spec());
    while let Next::Probe(probe) = search.next() {
        search.observe(&with_voids(answer(&probe, 1000.0), 60));
    }
    assert_eq!(search.record().ended, "the client was late too often");
    assert_eq!(search.record().probes.len(), 3);
}

#[test]
fn a_rate_that_fails_under_inherited_debt_gets_a_second_chance() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    let falling = with_gauge(seen(60, 250, 50), "engine_debt_bytes", |at| (100.0 - at) * 1e8);
    search.observe(&falling);
    let again = asked(&search);
    assert!(again.is_drained_before && (rate(&again) - rate(&first)).abs() < 1e-9);
    search.observe(&answer(&again, 1000.0));
    assert!(rate(&asked(&search)) > rate(&first));
}

#[test]
fn a_path_dependent_state_drains_every_later_probe() {
    let mut search = RateSearch::new(spec());
    let recheck = until(&mut search, Purpose::Recheck, 1000.0);
    search.observe(&answer(&recheck, 300.0));
    assert!(search.record().is_path_dependent);
    while let Next::Probe(probe) = search.next() {
        assert!(probe.is_drained_before);
        search.observe(&answer(&probe, 300.0));
    }
    assert!((search.record().found.unwrap().ops_per_s / 300.0 - 1.0).abs() < 0.02);
}

#[test]
fn an_engine_that_does_nothing_is_said_so() {
    let mut search = RateSearch::new(spec());
    search.observe(&seen(60, 0, 0));
    assert_eq!(search.next(), Next::Done);
    assert_eq!(search.record().ended, "not one operation ended in the closed loop");
}

/// Returns any probe an engine or a broken runner could show.
fn any_seen() -> impl Strategy<Value = ProbeObservation> {
    let second = (0..3000_u64, 0..3000_u64, 0..5_000_000_000_u64, any::<bool>(), 0..4_u8);
    let gauges = (-1e10..1e10_f64, 0.0..1e6_f64);
    let rest = (0..100_000_u64, prop::option::of((0.0..1e10_f64, 0.0..1e10_f64)));
    (prop::collection::vec((second, gauges), 0..40), rest).prop_map(|(seconds, rest)| {
        let mut probe = seen(seconds.len(), 0, 0);
        for (into, ((ended, late, backlog, is_invalid, kind), (debt, stall))) in
            probe.seconds.iter_mut().zip(seconds)
        {
            (into.ended, into.late) = (ended, late.min(ended));
            into.backlog = Nanos(backlog * u64::from(kind == 0));
            into.is_invalid = is_invalid && kind == 1;
            if kind != 2 {
                into.readings.insert("engine_debt_bytes".to_owned(), debt);
                into.readings.insert("engine_stall_us".to_owned(), stall);
            }
        }
        (probe.censored_late, probe.debt_bytes) = rest;
        probe
    })
}

/// Returns one of a few plain answers: passed, broken, not clear, late.
fn plain_seen() -> impl Strategy<Value = ProbeObservation> {
    let plain = |kind: u8| match kind {
        0 => seen(60, 1000, 200),
        1 => seen(60, 1000, 10),
        2 => with_voids(seen(60, 1000, 0), 60),
        3 => with_gauge(seen(60, 1000, 200), "engine_debt_bytes", |at| (100.0 - at) * 1e8),
        _ => seen(60, 1000, 0),
    };
    (0..8_u8).prop_map(plain)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Goal: no engine and no runner can keep a search from ending with a sound record.
    #[test]
    fn any_answers_lead_to_an_end(
        answers in prop::collection::vec(prop_oneof![plain_seen(), any_seen()], MOST_PROBES),
    ) {
        let mut search = RateSearch::new(spec());
        let mut told = 0;
        while let Next::Probe(probe) = search.next() {
            prop_assert_eq!(probe.number as usize, told);
            prop_assert!(rate(&probe) <= 0.8e6 && probe.measure <= Nanos::from_secs(600));
            search.observe(&answers[told]);
            told += 1;
        }
        let record = search.record();
        prop_assert!(record.probes.len() == told && told <= MOST_PROBES);
        prop_assert!(!record.ended.is_empty());
        let confirmed = record.confirmed().and_then(|probe| probe.offered_ops_per_s);
        prop_assert_eq!(record.found.map(|found| found.ops_per_s), confirmed);
        for probe in &record.probes {
            let (low, high) = probe.late_interval;
            prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{:?}", probe);
        }
    }
}
