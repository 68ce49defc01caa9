//! `assay plan --budget` proposes how to spend machine time, and says whence the noise is known.

use insta::assert_snapshot;

use crate::place::Place;

/// Two engines of which nothing is known.
const TYPED: [&str; 10] = [
    "plan",
    "readrandom",
    "--engine",
    "lmdb",
    "--engine",
    "redb",
    "--rows",
    "10k",
    "--duration",
    "10s",
];

fn planned(place: &Place, more: &[&str]) -> String {
    let said = place.assay(&[&TYPED, more].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    said.out
}

#[test]
fn without_history_the_noise_is_assumed() {
    assert_snapshot!(planned(&Place::new(), &["--budget", "1h"]), @r#"
    quick-readrandom: How do the engines compare on readrandom?
    noise     filluniquerandom with 1 client  redb  2.50 % from run to run  (assumed: no history)
    noise     readrandom with 1 client        redb  2.50 % from run to run  (assumed: no history)
    noise     a pilot tells: run it with --repetitions 5, then ask again
    overhead  1.77 s a run besides its timed steps (estimated)
    propose   152 repetitions, 59m37s: every ratio to the base within ±0.57 % or so
    expect    filluniquerandom with 1 client  ±0.57 %  a difference of 0.81 % is seen 4 times in 5
    expect    readrandom with 1 client        ±0.57 %  a difference of 0.81 % is seen 4 times in 5  measured for 10.0 s
    or        2 repetitions    ±11.4 %, 47.1 s
    or        3 repetitions    ±5.83 %, 1m10s
    or        5 repetitions    ±4.49 %, 1m57s
    or        10 repetitions   ±2.56 %, 3m55s
    or        20 repetitions   ±1.67 %, 7m50s
    or        50 repetitions   ±1.01 %, 19m36s
    or        152 repetitions  ±0.57 %, 59m37s  (best)
    should    the noise from run to run be half as much: ±0.28 %; twice as much: ±1.14 %
    write     repetitions = 152 in [factors]
    or type   --repetitions 152
    "#);
    assert_snapshot!(planned(&Place::new(), &["--half-width", "2%"]), @r#"
    quick-readrandom: How do the engines compare on readrandom?
    noise     filluniquerandom with 1 client  redb  2.50 % from run to run  (assumed: no history)
    noise     readrandom with 1 client        redb  2.50 % from run to run  (assumed: no history)
    noise     a pilot tells: run it with --repetitions 5, then ask again
    overhead  1.77 s a run besides its timed steps (estimated)
    propose   15 repetitions, 5m52s: every ratio to the base within ±1.98 % or so
    expect    filluniquerandom with 1 client  ±1.98 %  a difference of 2.79 % is seen 4 times in 5
    expect    readrandom with 1 client        ±1.98 %  a difference of 2.79 % is seen 4 times in 5  measured for 10.0 s
    write     repetitions = 15 in [factors]
    or type   --repetitions 15
    "#);
}

#[test]
fn what_a_budget_does_not_pay_for_is_told_with_the_least_that_would() {
    let place = Place::new();
    let said = place.assay(&[&TYPED[..], &["--budget", "30s"]].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_snapshot!(said.err, @r#"
      × 30.0 s of machine time do not pay for three repetitions
      help: give it 1m10s at least, or take variants, levels or steps out
    "#);
    let said = place.assay(&[&TYPED[..], &["--half-width", "0.01%"]].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_snapshot!(said.err, @r#"
      × a thousand repetitions do not make every interval as narrow as ±0.010 %
      help: ask for less, or make the runs steadier: a longer warm-up, a quieter machine
    "#);
}

/// Goal: the noise comes from the runs there are: of this experiment, of one that is named, of
/// earlier ones with steps of the same name.
#[test]
fn runs_on_this_machine_tell_of_the_noise() {
    let place = Place::new();
    let run = |words: &[&str]| {
        let said =
            place.assay(&[&["run"], words, &["--rows", "1k", "--duration", "300ms"]].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    };
    run(&["fillseq", "readrandom", "--engine", "memory", "--repetitions", "3"]);
    let earlier = planned(&place, &["--budget", "1h"]);
    assert!(earlier.contains("(one earlier experiment on this machine)"), "{earlier}");
    let named = planned(&place, &["--budget", "1h", "--pilot", "quick-fillseq-readrandom"]);
    assert!(named.contains("3 runs each of quick-fillseq-readrandom/"), "{named}");
    run(&["readrandom", "--engine", "memory", "--engine", "lmdb", "--repetitions", "3"]);
    let own = planned(&place, &["--budget", "1h"]);
    assert!(own.contains("3 runs each of quick-readrandom/"), "{own}");
    assert!(own.contains("overhead") && own.contains("\nwrite     repetitions = "), "{own}");
}
