//! Invalid command lines are rejected like files, without a location.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once};
use crate::workspace::Workspace;

#[test]
fn command_line_is_rejected_with_the_same_messages() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY);
    let output = |arguments: &[&str]| rejected_at_once(&workspace, arguments);
    assert_snapshot!(output(&["run"]), @"
    × no experiment given
    help: give an experiment file, a shipped experiment such as `quickstart`, steps such as
          `readrandom --engine lmdb`, or an application: `--workload ibench-current --engine
          postgres@15.10`
    nothing was run
    ");
    assert_snapshot!(output(&["run", "yours.toml"]), @"
    × cannot read the experiment file yours.toml: No such file or directory (os error 2)
    help: name an experiment file (.toml), a shipped experiment such as `quickstart`, or steps:
          `readrandom --engine lmdb`
    nothing was run
    ");
    assert_snapshot!(output(&["run", "readrandom"]), @"
    × no engine is named
    help: add --engine NAME@VERSION, such as --engine lmdb, or the address of a running server
    nothing was run
    ");
    assert_snapshot!(output(&["run", "readrandom", "--rows", "10"]), @"
    × no engine is named
    help: add --engine NAME@VERSION, such as --engine lmdb, or the address of a running server
    nothing was run
    ");
    assert_snapshot!(output(&["run", "mine.toml", "--engine", "lmdb"]), @"
    × --engine, --engine-profile and --option are for steps, not for an experiment file
    help: add a [[variant]] to the file, or give steps instead of the file
    nothing was run
    ");
    assert_snapshot!(output(&["run", "mine.toml", "mine.toml"]), @"
    × give one experiment file, without steps
    nothing was run
    ");
    assert_snapshot!(output(&["run", "mine.toml", "--rows", "many"]), @"
    × --rows: `many` is not a count: write 1000, 1.5k, 4M or 2B
    nothing was run
    ");
    assert_snapshot!(output(&["run", "readrandom", "--engine", "lmdb", "--option", "a"]), @"
    × --option: `a` is not NAME=VALUE
    nothing was run
    ");
    let unused = ["run", "readrandom", "--engine", "lmdb", "--writer-rate", "2MiB/s"];
    assert_snapshot!(output(&unused), @"
    × --writer-rate: no step uses `writer_rate`
    help: leave out the setting, or add a step such as readwhilewriting
    nothing was run
    ");
}

#[test]
fn names_in_the_place_of_others_are_rejected_with_what_was_meant() {
    let workspace = Workspace::new();
    let run = |arguments: &[&str]| rejected_at_once(&workspace, &[&["run"], arguments].concat());
    assert_snapshot!(run(&["readrandom", "lmdb"]), @"
    × `lmdb` is an engine, not a step
    help: write `assay run readrandom --engine lmdb --disk-floor 1048576`
    nothing was run
    ");
    assert_snapshot!(run(&["--engine", "readrandom"]), @"
    × `readrandom` is a step, not an engine
    help: write `assay run readrandom --engine lmdb --disk-floor 1048576`
    nothing was run
    ");
    assert_snapshot!(run(&["readrandom", "--engine", "lmdb,redb"]), @"
    × `lmdb,redb` joins 2 names by commas
    help: write `assay run readrandom --engine lmdb --engine redb --disk-floor 1048576`
    nothing was run
    ");
    let engine = "rocksdb@9.10.0";
    let earlier = ["readrandom", "--engine", engine, "--profile", "rocksdb-leveled"];
    assert_snapshot!(run(&[&earlier, &["--rows", "10k", "--direct-io"][..]].concat()), @"
    × `rocksdb-leveled` is a profile, not a step: --engine-profile names a profile, and --profile
    │ takes CPU profiles
    help: write `assay run readrandom --engine rocksdb@9.10.0 --engine-profile rocksdb-leveled
          --rows 10k --direct-io --disk-floor 1048576`
    nothing was run
    ");
    let compared = workspace.assay(&["compare", "lmdb", "redb"]);
    assert_snapshot!(compared.err, @"
    × there are no results named `lmdb` in results; `assay list` shows the results there
    help: `lmdb` is an engine, which this command measures: assay run readrandom --engine lmdb
    ");
    let unknown = workspace.assay(&["ibench-2023"]);
    let command = "assay run --workload ibench-2023 --engine postgres@15.10";
    assert!(unknown.code == 2 && unknown.err.contains(command), "{}", unknown.err);
}

#[test]
fn independent_mistakes_are_reported_at_once() {
    let workspace = Workspace::new();
    let typed = ["run", "raedrandom", "--engine", "lmbd", "--duration", "soon"];
    assert_snapshot!(rejected_at_once(&workspace, &typed), @"
      × --duration: `soon` is not a duration: write 500ms, 60s, 10m or 2h

      × unknown step `raedrandom`
      help: did you mean `readrandom`?

      × --engine: unknown engine `lmbd`
      help: did you mean `lmdb`?
      nothing was run
    ");
    let file = TINY.replace("readrandom", "raedrandom").replace("\"sqlite\"", "\"sqlit\"");
    workspace.write("mine.toml", file.replace("300ms", "soon"));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml"]), @r#"
      × `soon` is not a duration: write 500ms, 60s, 10m or 2h
       ╭─[mine.toml:8:12]
     7 │ rows = "2k"
     8 │ duration = "soon"
       ·            ───┬──
       ·               ╰── here
     9 │ 
       ╰────

      × unknown step `raedrandom`
       ╭─[mine.toml:6:21]
     5 │ [benchmark]
     6 │ steps = ["fillseq", "raedrandom"]
       ·                     ──────┬─────
       ·                           ╰── no such step
     7 │ rows = "2k"
       ╰────
      help: did you mean `readrandom`?

      × unknown engine `sqlit`
        ╭─[mine.toml:12:10]
     11 │ name = "one"
     12 │ engine = "sqlit"
        ·          ───┬───
        ·             ╰── here
        ╰────
      help: did you mean `sqlite`?
      nothing was run
    "#);
}

#[test]
fn plan_rejects_an_invalid_experiment_too() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replace("readrandom", "raedrandom"));
    let output = workspace.assay(&["plan", "mine.toml"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert!(output.err.contains("did you mean `readrandom`?"), "{}", output.err);
}

#[test]
fn unknown_command_suggests_the_nearest() {
    let output = Workspace::new().assay(&["runn"]);
    assert_eq!(output.code, 2);
    assert_snapshot!(output.err, @"
    error: unrecognized subcommand 'runn'

      tip: a similar subcommand exists: 'run'

    Usage: assay [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}
