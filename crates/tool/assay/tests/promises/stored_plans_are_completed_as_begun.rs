//! An experiment is completed as it was begun: with its plan, on its machine, with its builds.

use std::fs;
use std::path::PathBuf;

use crate::workspace::Workspace;

/// Returns the directory of the experiment.
fn experiment(workspace: &Workspace) -> PathBuf {
    let mut dirs = fs::read_dir(workspace.path("results/pair")).expect("the experiment");
    dirs.next().expect("one").expect("readable").path()
}

#[test]
fn options_that_would_change_the_plan_are_refused() {
    let workspace = Workspace::with_pair();
    for (flag, value) in [
        ("--repetitions", "9"),
        ("--duration", "9s"),
        ("--engine", "lmdb"),
        ("--option", "a=1"),
        ("--waive", "A001=why"),
    ] {
        let output = workspace.assay(&["run", "--resume", "pair", flag, value]);
        assert_eq!(output.code, 1, "{}", output.out);
        let expected = format!("--resume completes the stored plan: {flag} does not apply");
        assert!(output.err.contains(&expected), "{}", output.err);
        assert!(output.err.ends_with("  nothing was run\n"), "{}", output.err);
    }
}

#[test]
fn another_machine_or_build_completes_nothing() {
    let workspace = Workspace::with_pair_file();
    workspace.recorded(&["run", "pair.toml", "--repetitions", "1"]);
    let path = experiment(&workspace).join("manifest.json");
    let text = fs::read_to_string(&path).expect("the manifest");
    for (field, expected) in
        [("fingerprint", "was begun on elsewhere, and"), ("version", "was sqlite elsewhere when")]
    {
        let start = format!("\"{field}\": \"");
        let (before, after) = text.split_once(&start).expect("the field");
        let (_, after) = after.split_once('"').expect("its end");
        fs::write(&path, format!("{before}{start}elsewhere\"{after}")).expect("writable");
        let output = workspace.assay(&["run", "--resume", "pair"]);
        assert_eq!(output.code, 1, "{}", output.out);
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

#[test]
fn runs_are_counted_against_the_plan_and_listed_names_are_accepted() {
    let workspace = Workspace::with_pair();
    fs::remove_dir_all(experiment(&workspace).join("runs/one.c1.r1")).expect("a run");
    let listed = workspace.assay(&["list", "pair"]);
    assert!(listed.out.contains("  3 of 4 runs complete\n"), "{}", listed.out);
    let all = workspace.assay(&["list"]).out;
    assert!(all.contains("  3 of 4 runs complete"), "{all}");
    let name = all.split_whitespace().next().expect("a name");
    let shown = workspace.assay(&["show", name]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{}", shown.out);
    let typo = workspace.assay(&["compare", "/pair"]);
    assert!(typo.err.contains("no results named `/pair`"), "{}", typo.err);
}

#[test]
fn an_archive_without_experiments_is_not_sound() {
    let output = Workspace::new().assay(&["verify"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    assert!(output.err.contains("no experiment found in results"), "{}", output.err);
}
