//! Invalid amounts and impossible orders of steps are rejected.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once, rejection, rejection_of, unwrapped};
use crate::workspace::Workspace;

#[test]
fn wrong_unit_is_rejected_with_examples() {
    assert_snapshot!(rejection("\"2k\"", "\"2x\""), @r#"
     × `2x` is not a count: write 1000, 1.5k, 4M or 2B
      ╭─[mine.toml:7:8]
    6 │ steps = ["fillseq", "readrandom"]
    7 │ rows = "2x"
      ·        ──┬─
      ·          ╰── here
    8 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "-2"), @r#"
     × `-2` is not a count: write 1000, 1.5k, 4M or 2B
      ╭─[mine.toml:7:8]
    6 │ steps = ["fillseq", "readrandom"]
    7 │ rows = -2
      ·        ─┬
      ·         ╰── here
    8 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"300ms\"", "\"300\""), @r#"
     × `300` is not a duration: write 500ms, 60s, 10m or 2h
      ╭─[mine.toml:8:12]
    7 │ rows = "2k"
    8 │ duration = "300"
      ·            ──┬──
      ·              ╰── here
    9 │ 
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\ncache = \"1 parsec\""), @r#"
     × `1 parsec` is not a size: write 4096, 64KiB, 512MiB or 2GiB
      ╭─[mine.toml:8:9]
    7 │ rows = 10
    8 │ cache = "1 parsec"
      ·         ─────┬────
      ·              ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
}

#[test]
fn the_disk_floor_is_tested_and_named_before_anything_else() {
    let workspace = Workspace::new();
    let typed = ["run", "raedrandom", "--engine", "lmdb", "--disk-floor", "9000TiB"];
    let error = unwrapped(&rejected_at_once(&workspace, &typed));
    assert!(error.contains("free on the file system of"), "{error}");
    assert!(error.contains("and the disk floor is 9000 TiB"), "{error}");
    assert!(error.contains("such as --disk-floor 512MiB"), "{error}");
    assert!(!error.contains("raedrandom"), "{error}");
}

#[test]
fn amounts_take_units_and_no_fraction_is_rounded() {
    let workspace = Workspace::new();
    let typed = ["plan", "fillseq", "--engine", "lmdb", "--rows", "1.5k", "--value-bytes", "4KiB"];
    let planned = workspace.assay(&typed);
    assert!(planned.out.contains("rows      1500 of 20 + 4096 bytes"), "{}", planned.err);
    let typed = ["run", "fillseq", "--engine", "lmdb", "--rows", "1.5"];
    let error = rejected_at_once(&workspace, &typed);
    assert!(error.contains("--rows: `1.5` is a fraction, not a count"), "{error}");
    for (option, value, expected) in [
        ("--rows", "1e3", "--rows: `1e3` is not written in plain digits: write 1000"),
        ("--rows", "99999999999B", "`99999999999B` is too large"),
        ("--duration", "1us", "`1us` is too short for a step: give 10ms or more"),
        ("--warmup", "9ms", "`9ms` is too short for a step: give 10ms or more"),
        ("--settle-cap", "5us", "`5us` is too short for a step: give 10ms or more"),
        ("--memory", "1MiB", "a cap of `1MiB` is too small for a worker: give 4MiB or more"),
    ] {
        let typed = ["run", "readrandom", "--engine", "lmdb", option, value];
        let error = unwrapped(&rejected_at_once(&workspace, &typed));
        assert!(error.contains(expected), "{error}");
    }
    for (option, of) in [("--watchdog", &[][..]), ("--budget", &["--until", "2%"][..])] {
        let typed = ["run", "readrandom", "--engine", "lmdb", option, "999ms"];
        let error = workspace.assay(&[&typed, of].concat());
        assert_eq!(error.code, 2, "{}", error.err);
        assert!(error.err.contains("`999ms` is too short: give 1s or more"), "{}", error.err);
    }
}

#[test]
fn nine_typed_steps_and_a_shipped_application_with_few_rows_are_planned_or_explained() {
    let workspace = Workspace::new();
    let mut typed = vec!["plan"];
    typed.extend(["fillseq", "readrandom", "fwdrange", "revrange", "overwritesome", "settle"]);
    typed.extend(["readmissing", "multireadrandom", "readwhilewriting", "--engine", "lmdb"]);
    let planned = workspace.assay(&typed);
    assert_eq!(planned.code, 0, "{}", planned.err);
    let name = planned.out.split(':').next().expect("a title");
    assert!(name.ends_with("-more") && name.len() <= 80, "{name}");
    let few = ["run", "mix", "--workload", "tproc-c", "--engine", "postgres@16.6", "--rows", "20k"];
    let error = rejected_at_once(&workspace, &few);
    assert!(error.contains("20000 rows are too few for tproc-c"), "{error}");
    assert!(error.contains("--rows 100000"), "{error}");
}

#[test]
fn zero_amounts_are_rejected() {
    assert_snapshot!(rejection("\"2k\"", "0"), @r#"
     × the number of rows is zero: nothing would be measured
      ╭─[mine.toml:7:8]
    6 │ steps = ["fillseq", "readrandom"]
    7 │ rows = 0
      ·        ┬
      ·        ╰── must be more than zero
    8 │ duration = "300ms"
      ╰────
     help: give more than zero
     nothing was run
    "#);
    assert_snapshot!(rejection("\"300ms\"", "\"0s\""), @r#"
     × the duration is zero: nothing would be measured
      ╭─[mine.toml:8:12]
    7 │ rows = "2k"
    8 │ duration = "0s"
      ·            ──┬─
      ·              ╰── must be more than zero
    9 │ 
      ╰────
     help: give more than zero
     nothing was run
    "#);
    let factors = |toml: &str| rejection_of(&format!("{TINY}\n[factors]\n{toml}\n"));
    assert_snapshot!(factors("clients = [1, 0]"), @"
     × the number of clients is zero: nothing would be measured
       ╭─[mine.toml:15:11]
    14 │ [factors]
    15 │ clients = [1, 0]
       ·           ───┬──
       ·              ╰── must be more than zero
       ╰────
     help: give more than zero
     nothing was run
    ");
    assert_snapshot!(factors("repetitions = 0"), @"
     × repetitions is zero: nothing would be measured
       ╭─[mine.toml:15:15]
    14 │ [factors]
    15 │ repetitions = 0
       ·               ┬
       ·               ╰── must be more than zero
       ╰────
     help: give more than zero
     nothing was run
    ");
    assert_snapshot!(factors("clients = []"), @"
     × the factor `clients` has no level
       ╭─[mine.toml:15:11]
    14 │ [factors]
    15 │ clients = []
       ·           ─┬
       ·            ╰── for instance [1, 2]
       ╰────
     nothing was run
    ");
}

#[test]
fn typed_zero_names_its_flag_and_an_empty_file_its_first_table() {
    let workspace = Workspace::new();
    let typed = ["run", "readrandom", "--engine", "lmdb", "--rows", "10", "--duration", "0s"];
    assert_snapshot!(rejected_at_once(&workspace, &typed), @"
    × --duration: the duration is zero: nothing would be measured
    help: give more than zero
    nothing was run
    ");
    let typed = ["run", "readrandom", "--engine", "lmdb", "--rows", "10", "--clients", "0"];
    assert_snapshot!(rejected_at_once(&workspace, &typed), @"
    × --clients: the number of clients is zero: nothing would be measured
    help: give more than zero
    nothing was run
    ");
    let empty = rejection_of("");
    assert!(empty.contains("help: mine.toml has no table [experiment]: add it"), "{empty}");
}

#[test]
fn rows_must_be_given_and_fit_the_disk() {
    assert_snapshot!(rejection("rows = \"2k\"", ""), @"
    × the number of rows is missing
    help: give `rows` in [benchmark] (or --rows), or a `workload` preset that derives them from the
          machine
    nothing was run
    ");
    // The free space differs between machines.
    let output = rejection("\"2k\"", "\"900B\"");
    assert!(output.contains("one run may take 1031 TiB of disk, but only"), "{output}");
    assert!(output.contains("use fewer rows, name a data directory on a larger"), "{output}");
}

#[test]
fn key_and_value_sizes_have_limits() {
    assert_snapshot!(rejection("\"2k\"", "10\nkey_bytes = 7"), @r#"
     × keys of 7 bytes are too short for a row number: at least 8
      ╭─[mine.toml:8:13]
    7 │ rows = 10
    8 │ key_bytes = 7
      ·             ┬
      ·             ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\nvalue_bytes = 2000000"), @r#"
     × values of 2000000 bytes are too large: at most 1048576
      ╭─[mine.toml:8:15]
    7 │ rows = 10
    8 │ value_bytes = 2000000
      ·               ───┬───
      ·                  ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\ncompressible_to = 2"), @r#"
     × `2` is not a share of a value's size: write 0.01 to 1, such as 0.5
      ╭─[mine.toml:8:19]
    7 │ rows = 10
    8 │ compressible_to = 2
      ·                   ┬
      ·                   ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    let missing = TINY.replace("readrandom", "readmissing").replace("\"2k\"", "10\nkey_bytes = 8");
    assert_snapshot!(rejection_of(&missing), @r#"
     × step `readmissing`: key_bytes must be at least 9: an absent key differs from a present key
     │ after the row's id
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", "readmissing"]
      ·                     ──────┬──────
      ·                           ╰── here
    7 │ rows = 10
      ╰────
     nothing was run
    "#);
}

#[test]
fn steps_of_a_file_that_need_rows_are_filled_first() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replacen("\"fillseq\", ", "", 1));
    let planned = workspace.assay(&["plan", "mine.toml"]);
    assert_eq!(planned.code, 0, "{}", planned.err);
    let fill = planned.out.find("step      filluniquerandom: 2000 operations").expect("a fill");
    assert!(planned.out[fill..].contains("step      readrandom: "), "{}", planned.out);
}

#[test]
fn benchmark_has_at_most_one_load_step() {
    assert_snapshot!(rejection("readrandom", "fillrandom"), @r#"
     × fillrandom fills an empty engine
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", "fillrandom"]
      ·                     ──────┬─────
      ·                           ╰── here
    7 │ rows = "2k"
      ╰────
     help: put it first, or use overwrite
     nothing was run
    "#);
    assert_snapshot!(rejection("\"fillseq\", \"readrandom\"", ""), @r#"
     × the benchmark has no steps
      ╭─[mine.toml:6:9]
    5 │ [benchmark]
    6 │ steps = []
      ·         ─┬
      ·          ╰── an empty list
    7 │ rows = "2k"
      ╰────
     help: for instance steps = ["fillseq", "readrandom"]
     nothing was run
    "#);
    let typed = ["run", "readrandom", "fillseq", "--rows", "10", "--engine", "lmdb"];
    assert_snapshot!(rejected_at_once(&Workspace::new(), &typed), @"
    × fillseq fills an empty engine
    help: put it first, or use overwrite
    nothing was run
    ");
}

#[test]
fn step_rejects_settings_it_does_not_use() {
    let step = |toml: &str| rejection("\"readrandom\"", &format!("{{ {toml} }}"));
    assert_snapshot!(step("step = \"overwritesome\", duration = \"1s\""), @r#"
     × overwritesome ends after a number of rows, so it takes no duration
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", { step = "overwritesome", duration = "1s" }]
      ·                     ─────────────────────┬─────────────────────
      ·                                          ╰── here
    7 │ rows = "2k"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(step("step = \"readrandom\", load = \"open\""), @r#"
     × unknown load `open`
      ╭─[mine.toml:6:51]
    5 │ [benchmark]
    6 │ steps = ["fillseq", { step = "readrandom", load = "open" }]
      ·                                                   ───┬──
      ·                                                      ╰── here
    7 │ rows = "2k"
      ╰────
     help: write "closed", { rate = "50k/s" } for an open loop, { sla = "p99.9 < 2ms" } for the
           highest rate within a limit, or { pipeline = 16 } for a closed loop with 16 in flight
     nothing was run
    "#);
    assert_snapshot!(rejection("\"fillseq\"", "{ step = \"fillseq\", operations = 5 }"), @r#"
     × fillseq ends after a number of rows: set `rows` instead
      ╭─[mine.toml:6:10]
    5 │ [benchmark]
    6 │ steps = [{ step = "fillseq", operations = 5 }, "readrandom"]
      ·          ──────────────────┬─────────────────
      ·                            ╰── here
    7 │ rows = "2k"
      ╰────
     nothing was run
    "#);
}
