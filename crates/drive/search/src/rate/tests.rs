//! Tests of the rate search through its public interface.

use model::validity::{Outcome, Purpose};
use model::{Nanos, metric};
use proptest::prelude::*;

use crate::probe::{MAX_PROBES, Next, Probe, ProbeLoad, ProbeObservation, Search};
use crate::rate::{RateSearch, RateSpec};
use crate::testing::{LIMIT, observation, simulate, with_gauge, with_invalid};

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

fn requested(search: &RateSearch) -> Probe {
    match search.next() {
        Next::Probe(probe) => probe,
        Next::Done => panic!("the search has ended: {}", search.record().ended),
    }
}

fn rate(probe: &Probe) -> f64 {
    match probe.load {
        ProbeLoad::Rate { ops_per_s } => ops_per_s,
        ProbeLoad::Closed { .. } => 0.0,
    }
}

/// Runs the search on an engine of this capacity until it requests `purpose`.
fn until(search: &mut RateSearch, purpose: Purpose, most_ops_per_s: f64) -> Probe {
    loop {
        let probe = requested(search);
        if probe.purpose == purpose {
            return probe;
        }
        search.observe(&simulate(&probe, most_ops_per_s));
    }
}

#[test]
fn the_first_probe_is_a_settled_closed_loop() {
    let search = RateSearch::new(spec());
    let probe = requested(&search);
    assert_eq!((probe.number, probe.purpose), (0, Purpose::Capacity));
    assert_eq!(probe.load, ProbeLoad::Closed { clients: 4 });
    assert!(probe.settles_first);
    assert_eq!(search.next(), search.next());
}

#[test]
fn the_result_is_in_the_record_with_every_probe() {
    let mut search = RateSearch::new(spec());
    let confirm = until(&mut search, Purpose::Confirm, 1000.0);
    assert_eq!(confirm.measure, Nanos::from_secs(600));
    search.observe(&simulate(&confirm, 1000.0));
    assert_eq!(search.next(), Next::Done);
    let record = search.record();
    let found = record.found.unwrap();
    assert!(found.ops_per_s <= 1000.0 && found.ops_per_s > 980.0 && found.clients == 4);
    assert_eq!(record.confirmed().unwrap().number, confirm.number);
    assert_eq!(record.probes.len(), confirm.number as usize + 1);
    assert!(record.ended.contains("met the limit and was sustained for 10m00s"));
    search.observe(&simulate(&confirm, 1000.0));
    assert_eq!(search.record().probes.len(), confirm.number as usize + 1, "the search has ended");
}

#[test]
fn a_stop_ends_it_at_once_and_nothing_is_found() {
    let mut search = RateSearch::new(spec());
    let confirm = until(&mut search, Purpose::Confirm, 1000.0);
    let stopped =
        ProbeObservation { stop: Some("the user".to_owned()), ..simulate(&confirm, 1000.0) };
    search.observe(&stopped);
    assert_eq!((search.next(), search.record().found), (Next::Done, None));
    assert_eq!(search.record().ended, "stopped: the user");
    assert_eq!(search.record().probes.last().unwrap().outcome, Outcome::Undecided);
    assert_eq!(search.record().confirmed(), None);
}

#[test]
fn probes_after_a_failure_or_needing_an_equal_start_settle_first() {
    let mut search = RateSearch::new(spec());
    while let Next::Probe(probe) = search.next() {
        let last = search.record().probes.last();
        let has_passed = last.is_some_and(|last| last.outcome == Outcome::Passed);
        let must = matches!(probe.purpose, Purpose::Recheck | Purpose::Above | Purpose::Confirm);
        assert_eq!(probe.settles_first, must || !has_passed || probe.number == 1, "{probe:?}");
        search.observe(&simulate(&probe, 1000.0));
    }
    assert!(search.record().found.is_some() && search.record().probes.len() > 5);
}

#[test]
fn debt_left_by_a_passed_rate_settles_before_the_next() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    search.observe(&ProbeObservation { debt_bytes: Some((0.0, 1e9)), ..simulate(&first, 1000.0) });
    assert!(requested(&search).settles_first);
    let second = requested(&search);
    search.observe(&ProbeObservation { debt_bytes: Some((0.0, 1e6)), ..simulate(&second, 1000.0) });
    assert!(!requested(&search).settles_first);
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
fn an_undecided_probe_is_repeated_once_four_times_as_long() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    search.observe(&observation(60, 300, 3));
    let again = requested(&search);
    assert_eq!((rate(&again), again.measure), (rate(&first), Nanos::from_secs(240)));
    search.observe(&observation(240, 300, 3));
    let next = requested(&search);
    assert!(rate(&next) < rate(&first), "treated as failed");
    let outcomes: Vec<Outcome> = search.record().probes.iter().map(|p| p.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Undecided, Outcome::Undecided]);
}

#[test]
fn an_invalid_probe_is_repeated_and_then_skipped() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    for _ in 0..2 {
        search.observe(&with_invalid(simulate(&first, 1000.0), 60));
        assert!((rate(&requested(&search)) - rate(&first)).abs() < 1e-9);
    }
    search.observe(&with_invalid(simulate(&first, 1000.0), 60));
    assert!(rate(&requested(&search)) < rate(&first), "the search goes on below");
    assert_eq!(search.record().probes.last().unwrap().outcome, Outcome::Invalid);
    while let Next::Probe(probe) = search.next() {
        search.observe(&with_invalid(simulate(&probe, 1000.0), 60));
    }
    assert_eq!(search.record().ended, "the client was late too often");
    assert_eq!(search.record().probes.len(), 1 + 9);
}

#[test]
fn a_client_late_in_every_closed_loop_ends_the_search() {
    let mut search = RateSearch::new(spec());
    while let Next::Probe(probe) = search.next() {
        search.observe(&with_invalid(simulate(&probe, 1000.0), 60));
    }
    assert_eq!(search.record().ended, "the client was late too often");
    assert_eq!(search.record().probes.len(), 3);
}

#[test]
fn a_rate_that_fails_under_inherited_debt_is_repeated() {
    let mut search = RateSearch::new(spec());
    let first = until(&mut search, Purpose::Bracket, 1000.0);
    let falling =
        with_gauge(observation(60, 250, 50), metric::ENGINE_DEBT_BYTES, |at| (100.0 - at) * 1e8);
    search.observe(&falling);
    let again = requested(&search);
    assert!(again.settles_first && (rate(&again) - rate(&first)).abs() < 1e-9);
    search.observe(&simulate(&again, 1000.0));
    assert!(rate(&requested(&search)) > rate(&first));
}

#[test]
fn a_path_dependent_state_settles_before_every_later_probe() {
    let mut search = RateSearch::new(spec());
    let recheck = until(&mut search, Purpose::Recheck, 1000.0);
    search.observe(&simulate(&recheck, 300.0));
    assert!(search.record().is_path_dependent);
    while let Next::Probe(probe) = search.next() {
        assert!(probe.settles_first);
        search.observe(&simulate(&probe, 300.0));
    }
    assert!((search.record().found.unwrap().ops_per_s / 300.0 - 1.0).abs() < 0.02);
}

#[test]
fn an_engine_that_completes_nothing_ends_the_search() {
    let mut search = RateSearch::new(spec());
    search.observe(&observation(60, 0, 0));
    assert_eq!(search.next(), Next::Done);
    assert_eq!(search.record().ended, "no operation ended in the closed loop");
}

/// Returns any observation an engine or a broken runner could produce.
fn any_observation() -> impl Strategy<Value = ProbeObservation> {
    let second = (0..3000_u64, 0..3000_u64, 0..5_000_000_000_u64, any::<bool>(), 0..4_u8);
    let gauges = (-1e10..1e10_f64, 0.0..1e6_f64);
    let rest = (0..100_000_u64, prop::option::of((0.0..1e10_f64, 0.0..1e10_f64)));
    (prop::collection::vec((second, gauges), 0..40), rest).prop_map(|(seconds, rest)| {
        let mut probe = observation(seconds.len(), 0, 0);
        for (into, ((ended, late, backlog, is_invalid, kind), (debt, stall))) in
            probe.seconds.iter_mut().zip(seconds)
        {
            (into.ended, into.late) = (ended, late.min(ended));
            into.backlog = Nanos(backlog * u64::from(kind == 0));
            into.is_invalid = is_invalid && kind == 1;
            if kind != 2 {
                into.readings.set(metric::ENGINE_DEBT_BYTES, debt);
                into.readings.set(metric::ENGINE_STALL_US, stall);
            }
        }
        (probe.censored_late, probe.debt_bytes) = rest;
        probe
    })
}

/// Returns a typical observation: passed, failed, undecided or invalid.
fn plain_observation() -> impl Strategy<Value = ProbeObservation> {
    let plain = |kind: u8| match kind {
        0 => observation(60, 1000, 200),
        1 => observation(60, 1000, 10),
        2 => with_invalid(observation(60, 1000, 0), 60),
        3 => with_gauge(observation(60, 1000, 200), metric::ENGINE_DEBT_BYTES, |at| {
            (100.0 - at) * 1e8
        }),
        _ => observation(60, 1000, 0),
    };
    (0..8_u8).prop_map(plain)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Goal: any engine and runner lead to an end with a consistent record.
    #[test]
    fn any_observations_lead_to_an_end(
        observations in prop::collection::vec(
            prop_oneof![plain_observation(), any_observation()],
            MAX_PROBES,
        ),
    ) {
        let mut search = RateSearch::new(spec());
        let mut count = 0;
        while let Next::Probe(probe) = search.next() {
            prop_assert_eq!(probe.number as usize, count);
            prop_assert!(rate(&probe) <= 0.8e6 && probe.measure <= Nanos::from_secs(600));
            search.observe(&observations[count]);
            count += 1;
        }
        let record = search.record();
        prop_assert!(record.probes.len() == count && count <= MAX_PROBES);
        prop_assert!(!record.ended.is_empty());
        let confirmed = record.confirmed().and_then(|probe| probe.offered_ops_per_s);
        prop_assert_eq!(record.found.map(|found| found.ops_per_s), confirmed);
        for probe in &record.probes {
            let (low, high) = probe.late_interval;
            prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{:?}", probe);
        }
    }
}
