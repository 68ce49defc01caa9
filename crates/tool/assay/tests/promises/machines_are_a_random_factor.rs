//! Runs of several machines are compared on each, and `plan --on` prices their number.

use insta::assert_snapshot;

use crate::plan_proposes_designs_for_a_budget::TYPED;
use crate::workspace::Workspace;

/// Outputs that are the same on one machine as on the host.
const OUTPUTS: [&[&str]; 8] = [
    &["compare", "pair"],
    &["compare", "pair", "--costs"],
    &["compare", "pair", "--format", "json"],
    &["compare", "pair", "--format", "csv"],
    &["explain", "one", "two", "--in", "pair"],
    &["lint", "pair"],
    &["history", "--engine", "sqlite", "--format", "json"],
    &["report", "pair", "--output", "-"],
];

/// Goal: a fleet of one machine has the outputs of a local experiment.
///
/// Method: one stored experiment, with the host of the manifest as a machine and without it.
#[test]
fn one_machine_is_the_host() {
    let local = Workspace::with_pair();
    let one = Workspace::with_pair().on_machines(["n1", "n1"]);
    for arguments in OUTPUTS {
        let [local, one] = [&local, &one].map(|workspace| workspace.assay(arguments));
        assert_eq!((local.code, &local.out), (one.code, &one.out), "{arguments:?}");
        assert!(!local.out.is_empty(), "{arguments:?}: {}", local.err);
    }
}

#[test]
fn two_machines_are_compared_block_by_block() {
    let workspace = Workspace::with_pair().on_machines(["n1", "n2"]);
    let text = workspace.assay(&["compare", "pair"]);
    assert_eq!(text.err, "");
    for expected in ["n1 (1 block), n2 (1 block)", "t-test on the mean log ratios of machines"] {
        assert!(text.out.replace('\n', " ").contains(expected), "{expected}: {}", text.out);
    }
    let json = workspace.assay(&["compare", "pair", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["comparison"]["machines"]["ratios"][0]["more"]["machines"], 4);
    let across = workspace.assay(&["compare", "pair", "--across", "hosts"]);
    assert!(across.out.contains("\nn2 "), "{}{}", across.out, across.err);
    let lint = workspace.assay(&["lint", "pair"]).out;
    assert!(!["A046", "A075", "A076", "A077"].iter().any(|code| lint.contains(code)), "{lint}");
}

/// Returns a plan of six repetitions of two engines without history, with options.
fn plan<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TYPED[..], &["--repetitions", "6"], more].concat()
}

#[test]
fn plan_prices_machines() {
    let workspace = Workspace::new();
    let planned = |more: &[&str]| workspace.assay(&plan(more));
    let slurm = planned(&["--on", "slurm", "--constraint", "fast", "--machines", "4"]);
    assert_eq!((slurm.code, slurm.err.as_str()), (0, ""));
    let lines = slurm.out.lines().skip_while(|line| !line.starts_with("machines  "));
    let lines: Vec<&str> = lines.take(6).collect();
    assert_snapshot!(lines.join("\n"), @"
    machines  6 blocks of about 23.5 s, each on one machine
    between   the ratio deviates between machines by 2.00 %: assumed, no fleet of this experiment was measured
    or        1 machine   2m21s   ±4.07 %                            for this one machine only
    or        2 machines  1m10s   ±20.1 % if machines do not differ  ±29.3 % if ratios deviate by 2.00 %
    or        3 machines  47.1 s  ±6.41 % if machines do not differ  ±8.28 % if ratios deviate by 2.00 %
    or        4 machines  47.1 s  ±4.99 % if machines do not differ  ±5.99 % if ratios deviate by 2.00 %
    ");
    let json = planned(&["--on", "slurm", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["machines"]["rows"][4]["machines"], 6);
    assert!(json["machines"]["rows"][4]["half_width"].as_f64() > Some(0.0));
    assert!(planned(&["--format", "json"]).out.contains("\"sizes\""));
}

#[test]
fn unusable_numbers_of_machines_are_rejected_with_the_remedy() {
    let workspace = Workspace::new();
    workspace.write("hosts.toml", "[[host]]\nname = \"n1\"\nssh = \"n1\"\n");
    let refused = |more: &[&str]| {
        let output = workspace.assay(&plan(more));
        assert_eq!((output.code, output.out.as_str()), (1, ""), "{more:?}");
        output.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let none = refused(&["--on", "slurm", "--machines", "0"]);
    assert!(none.contains("--machines 1 or more"), "{none}");
    let many = refused(&["--on", "slurm", "--machines", "7"]);
    assert!(many.contains("7 machines have only 6 blocks"), "{many}");
    assert!(many.contains("--machines 6 or fewer, or --repetitions 7"), "{many}");
    let hosts = refused(&["--on", "hosts.toml", "--machines", "2"]);
    assert!(hosts.contains("write --machines 1 or fewer"), "{hosts}");
}
