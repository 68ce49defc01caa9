//! `assay flame` draws stored profiles, and rejects unknown names and runs without a profile.

use std::fs;
use std::sync::LazyLock;

use crate::workspace::Workspace;

/// The stored experiment, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| Workspace::with_pair().until_exit());

/// Returns the stderr of a failed command, its lines joined.
fn rejection(arguments: &[&str]) -> String {
    let output = RUN.assay(&[&["flame"], arguments].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    output.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn unknown_names_are_rejected_with_suggestions() {
    let cases: &[(&[&str], &str)] = &[
        (&["pear", "one", "readrandom"], "`pear`"),
        (&["pair", "onne", "readrandom"], "`pair` has no variant `onne`"),
        (&["pair", "onne", "readrandom"], "did you mean `one`?"),
        (&["pair", "one", "readrandom", "--versus", "tow"], "did you mean `two`?"),
        (&["pair", "one", "readrandom", "--versus", "one"], "`one` does not differ from itself"),
        (&["pair", "one", "readrandm"], "`pair` has no step `readrandm`"),
        (&["pair", "one", "readrandm"], "did you mean `readrandom`?"),
        (&["pair", "one", "readrandom", "--clients", "7"], "no run had 7 clients"),
    ];
    for (arguments, expected) in cases {
        let error = rejection(arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn runs_without_a_profile_are_named_with_the_remedy() {
    let error = rejection(&["pair", "one", "readrandom", "--format", "svg"]);
    assert!(error.contains("no run of `one` has a profile"), "{error}");
    assert!(error.contains("repeat the run with --profile"), "{error}");
}

#[test]
fn a_profile_is_a_table_a_picture_and_files_for_other_viewers() {
    let workspace = Workspace::with_pair().with_profiles();
    let flame = |more: &[&str]| {
        let output = workspace.assay(&[&["flame", "pair", "one", "readrandom"], more].concat());
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{more:?}");
        output.out
    };
    let text = flame(&[]);
    assert!(text.starts_with("readrandom of pair, 1 client\none: "), "{text}");
    assert!(text.contains("200 samples of 2 runs") && text.contains("Old<int>"), "{text}");
    let folded = flame(&["--versus", "two", "--format", "folded"]);
    assert_eq!(
        folded,
        "worker;client;load::run;sqlite3_step;New<int> 60 0\n\
         worker;client;load::run;sqlite3_step;Old<int> 0 60\n\
         worker;client;load::run;sqlite3_step;read 100 100\n\
         worker;main;main 40 40\n"
    );
    let firefox: serde_json::Value =
        serde_json::from_str(&flame(&["--format", "firefox"])).expect("JSON");
    assert_eq!(firefox["threads"][0]["processName"], "one worker");
    let written = flame(&["--versus", "two", "--output", "flame.svg"]);
    assert_eq!(written, "flame.svg\n");
    let svg = fs::read_to_string(workspace.path("flame.svg")).expect("the picture");
    assert!(svg.contains("Gone: what only two calls") && svg.contains("Old&lt;int&gt;"), "{svg}");
}

#[test]
fn damaged_profile_is_named_and_ends_no_other_report() {
    let workspace = Workspace::with_pair().with_profiles();
    let experiments = fs::read_dir(workspace.path("results/pair")).expect("a directory");
    for experiment in experiments.flatten() {
        for run in fs::read_dir(experiment.path().join("runs")).expect("runs").flatten() {
            fs::write(run.path().join("1.readrandom.profile.folded.gz"), "damaged")
                .expect("a file");
        }
    }
    let explained = workspace.assay(&["explain", "one", "two", "readrandom", "--in", "pair"]);
    assert_eq!(explained.code, 0, "{}", explained.err);
    assert!(explained.err.contains("warning") && explained.err.contains("is damaged"));
    let report = workspace.assay(&["report", "pair"]);
    assert_eq!(report.code, 0, "{}", report.err);
    assert!(report.err.contains("warning") && report.err.contains("is damaged"), "{}", report.err);
    let page = fs::read_to_string(report.out.trim())
        .or_else(|_| fs::read_to_string(workspace.path(report.out.trim())));
    assert!(page.expect("the page").contains("is damaged"));
    let verified = workspace.assay(&["verify", "pair"]);
    assert_eq!(verified.code, 1, "{}", verified.out);
    assert!(verified.out.contains("1.readrandom.profile.folded.gz"), "{}", verified.out);
    let flame = workspace.assay(&["flame", "pair", "one", "readrandom"]);
    assert_eq!((flame.code, flame.out.as_str()), (1, ""), "{}", flame.err);
    assert!(flame.err.contains("is damaged"), "{}", flame.err);
}

#[test]
fn verify_reads_each_profile() {
    let workspace = Workspace::with_pair().with_profiles();
    let verified = workspace.assay(&["verify", "pair"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(verified.out.contains("4 CPU profiles read"), "{}", verified.out);
}

#[test]
fn a_post_has_the_flame_graphs_of_the_page() {
    let workspace = Workspace::with_pair().with_profiles();
    let post = workspace.assay(&["report", "pair", "--markdown", "post"]);
    assert_eq!(post.code, 0, "{}", post.err);
    let text = fs::read_to_string(workspace.path("post/report.md")).expect("the post");
    assert!(text.contains("Where the CPU goes") && text.contains("(flame-0.svg)"), "{text}");
    let picture = fs::read_to_string(workspace.path("post/flame-0.svg")).expect("the picture");
    assert!(picture.contains("Old&lt;int&gt;"), "{picture}");
}
