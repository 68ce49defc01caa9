//! `assay plan --budget` proposes designs for a machine-time budget.

use insta::assert_snapshot;

use crate::workspace::Workspace;

/// Two engines without history.
pub(crate) const TYPED: [&str; 10] = [
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

fn planned(workspace: &Workspace, more: &[&str]) -> String {
    let output = workspace.assay(&[&TYPED, more].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    output.out
}

#[test]
fn noise_is_assumed_without_history() {
    assert_snapshot!(planned(&Workspace::new(), &["--budget", "1h"]), @r#"
    quick-readrandom: How do the engines compare on readrandom?
    noise     readrandom with 1 client  redb  2.50 % of throughput_ops_per_s between runs  (assumed: no history)
    noise     to measure the noise, run a pilot with --repetitions 5, then repeat this command
    overhead  1.77 s per run outside its timed steps (estimated)
    propose   --repetitions 152, 59m37s: every ratio to the base within about ±0.60 %
    expect    readrandom with 1 client  ±0.60 %  a difference of 0.86 % is detected with 80 % power  measured for 10.0 s
    or        2 repetitions    ±11.4 %, 47.1 s
    or        3 repetitions    ±5.83 %, 1m10s
    or        5 repetitions    ±4.84 %, 1m57s
    or        10 repetitions   ±2.74 %, 3m55s
    or        20 repetitions   ±1.78 %, 7m50s
    or        50 repetitions   ±1.07 %, 19m36s
    or        152 repetitions  ±0.60 %, 59m37s  (best)
    if        the noise between runs is half as large: ±0.30 %; twice as large: ±1.21 %
    "#);
    assert_snapshot!(planned(&Workspace::new(), &["--half-width", "2%"]), @r#"
    quick-readrandom: How do the engines compare on readrandom?
    noise     readrandom with 1 client  redb  2.50 % of throughput_ops_per_s between runs  (assumed: no history)
    noise     to measure the noise, run a pilot with --repetitions 5, then repeat this command
    overhead  1.77 s per run outside its timed steps (estimated)
    propose   --repetitions 17, 6m40s: every ratio to the base within about ±1.95 %
    expect    readrandom with 1 client  ±1.95 %  a difference of 2.76 % is detected with 80 % power  measured for 10.0 s
    "#);
}

#[test]
fn insufficient_budget_is_rejected_with_the_minimum() {
    let workspace = Workspace::new();
    let output = workspace.assay(&[&TYPED[..], &["--budget", "30s"]].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert_snapshot!(output.err, @r#"
      × 30.0 s of machine time is too short for three repetitions
      help: give at least 1m10s, or remove variants, levels or steps
    "#);
    let output = workspace.assay(&[&TYPED[..], &["--half-width", "0.01%"]].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert_snapshot!(output.err, @r#"
      × a thousand repetitions do not make every interval as narrow as ±0.010 %
      help: readrandom with 1 client reaches ±0.23 %: give a wider interval, or reduce the noise: a
            longer warm-up, a quieter machine
    "#);
}

/// Goal: the noise comes from runs of this experiment, of a named one, or of earlier ones with
/// steps of the same name.
#[test]
fn noise_comes_from_earlier_runs() {
    let workspace = Workspace::new();
    let run = |text: &[&str]| {
        let how = ["--rows", "1k", "--duration", "20ms"];
        workspace.recorded(&[&["run"], text, &how].concat())
    };
    run(&["fillseq", "readrandom", "--engine", "memory", "--repetitions", "3"]);
    let earlier = planned(&workspace, &["--budget", "1h"]);
    assert!(earlier.contains("(one earlier experiment on this machine)"), "{earlier}");
    let named = planned(&workspace, &["--budget", "1h", "--pilot", "quick-fillseq-readrandom"]);
    assert!(named.contains("3 runs each of quick-fillseq-readrandom/"), "{named}");
    run(&["readrandom", "--engine", "memory", "--engine", "lmdb", "--repetitions", "3"]);
    let own = planned(&workspace, &["--budget", "1h"]);
    assert!(own.contains("3 runs each of quick-readrandom/"), "{own}");
    assert!(own.contains("overhead") && own.contains("\npropose   --repetitions "), "{own}");
}

/// Goal: a pilot whose runs share several loads gives the numbers of loads and of runs of each.
#[test]
fn loads_and_runs_of_each_are_proposed() {
    let workspace = Workspace::new();
    let shared = ["--load", "per-variant", "--runs-per-load", "2", "--repetitions", "4"];
    let typed = ["readrandom", "--engine", "memory", "--engine", "lmdb", "--rows", "2k"];
    let brief = ["--duration", "50ms", "--disk-floor", "1MiB"];
    let run = [&["run"], &typed[..], &shared, &brief].concat();
    workspace.recorded(&run);
    let plan = [&["plan"], &typed[..], &["--duration", "50ms", "--budget", "10m"]].concat();
    let planned = workspace.assay(&plan);
    assert_eq!(planned.code, 0, "{}", planned.err);
    let variances = " between runs of one load (2 loads, 4 runs); a load takes ";
    assert!(planned.out.contains(variances), "{}", planned.out);
    let proposed = "or        --load per-variant --runs-per-load ";
    assert!(planned.out.contains(proposed), "{}", planned.out);
    let long = ["--rows", "3M", "--pilot", "absent"];
    let hint =
        workspace.assay(&[&["plan"], &typed[..5], &["--rows", "3M", "--budget", "10h"]].concat());
    assert!(hint.out.contains("loads     a pilot with --load per-variant"), "{}", hint.out);
    assert_eq!(workspace.assay(&[&plan[..], &long[2..]].concat()).code, 1);
}
