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
    help: give an experiment file, steps such as `readrandom --engine lmdb`, or an application:
          `--workload ibench-current --engine postgres@15.10`
    nothing was run
    ");
    assert_snapshot!(output(&["run", "yours.toml"]), @"
    × cannot read the experiment file yours.toml: No such file or directory (os error 2)
    help: name an experiment file (.toml), or steps: `readrandom --engine lmdb`
    nothing was run
    ");
    assert_snapshot!(output(&["run", "readrandom"]), @"
    × there is nothing to compare: the experiment has no variant
    help: add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)
    nothing was run
    ");
    assert_snapshot!(output(&["run", "readrandom", "--rows", "10"]), @"
    × there is nothing to compare: the experiment has no variant
    help: add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)
    nothing was run
    ");
    assert_snapshot!(output(&["run", "mine.toml", "--engine", "lmdb"]), @"
    × --engine, --profile and --option go with steps, not with a file
    help: add a [[variant]] to the file, or give steps instead of the file
    nothing was run
    ");
    assert_snapshot!(output(&["run", "mine.toml", "mine.toml"]), @"
    × one experiment file at a time, without further steps
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
    help: leave it out, or add a step such as readwhilewriting
    nothing was run
    ");
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
