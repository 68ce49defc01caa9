//! A command line that cannot be meant is refused like a file, without a place.

use insta::assert_snapshot;

use crate::place::Place;
use crate::refusal::{TINY, refused_at_once};

#[test]
fn the_command_line_is_refused_as_clearly() {
    let place = Place::new();
    place.write("mine.toml", TINY);
    let said = |arguments: &[&str]| refused_at_once(&place, arguments);
    assert_snapshot!(said(&["run"]), @"
    × what should be run?
    help: give an experiment file, or steps such as `readrandom --engine lmdb`
    nothing was run
    ");
    assert_snapshot!(said(&["run", "yours.toml"]), @"
    × cannot read the experiment file yours.toml
    ╰─▶ No such file or directory (os error 2)
    nothing was run
    ");
    assert_snapshot!(said(&["run", "readrandom"]), @"
    × how many rows?
    help: give `rows` in [benchmark] (or --rows), or a `workload` preset that derives them from the
          machine
    nothing was run
    ");
    assert_snapshot!(said(&["run", "readrandom", "--rows", "10"]), @"
    × nothing to compare: the experiment has no variant
    help: add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)
    nothing was run
    ");
    assert_snapshot!(said(&["run", "mine.toml", "--engine", "lmdb"]), @"
    × --engine, --profile and --option go with steps, not with a file
    help: add a [[variant]] to the file, or type steps in place of the file
    nothing was run
    ");
    assert_snapshot!(said(&["run", "mine.toml", "mine.toml"]), @"
    × one experiment file at a time, without further steps
    nothing was run
    ");
    assert_snapshot!(said(&["run", "mine.toml", "--rows", "many"]), @"
    × `many` does not start with a number
    nothing was run
    ");
    assert_snapshot!(said(&["run", "readrandom", "--engine", "lmdb", "--option", "a"]), @"
    × `--option a` is not NAME=VALUE
    nothing was run
    ");
}

#[test]
fn a_wrong_experiment_is_refused_by_plan_too() {
    let place = Place::new();
    place.write("mine.toml", TINY.replace("readrandom", "raedrandom"));
    let said = place.assay(&["plan", "mine.toml"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("did you mean `readrandom`?"), "{}", said.err);
}
