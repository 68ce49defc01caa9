//! What others published is put beside what was found here: before a run, after it, in every form.

use std::fs;
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::place::Place;
use crate::refusal::refused_at_once;

/// Two servers of which one works twice as long on each operation: the truth is planted.
const HELD: &str = r#"[experiment]
name = "held"
question = "Does twice the work take twice as long?"
margin = "10%"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 20
duration = "150ms"
warmup = "10ms"

[factors]
repetitions = 3

[[variant]]
name = "quick"
engine = "faulty"
[variant.options]
"server.work" = "2ms"

[[variant]]
name = "slow"
engine = "faulty"
[variant.options]
"server.work" = "4ms"

[[published]]
source = "Nobody, 2026, A planted truth"
setup = "the script of this test"
scaled = "20 rows"

[[published.finding]]
claim = "Twice the work takes twice as long"
variant = "slow"
step = "readrandom"
metric = "service_ns_p50"
value = 4e6
base_value = 2e6

[[published.finding]]
claim = "Half the work takes longer"
variant = "quick"
base = "slow"
step = "readrandom"
metric = "service_ns_p50"
expect = "higher"
reasons = ["it was made up"]

[[published.finding]]
claim = "Twice the work takes as long"
variant = "slow"
step = "readrandom"
metric = "service_ns_p50"
clients = 1
expect = "same"
"#;

/// The experiment, run once for all tests of this file.
static RUN: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    place.write("held.toml", HELD);
    let said = place.assay(&["run", "held.toml", "--report"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    place.write("answer.txt", said.out);
    place
});

fn answer(arguments: &[&str]) -> String {
    let said = RUN.assay(arguments);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    said.out
}

const COUNT: &str = "Of 3 published findings, 1 reproduces, 1 is the opposite here and 1 differs \
                     here, published as the same.";

/// Goal: a planted truth reproduces, and what is not so does not, whatever the form of the answer.
#[test]
fn a_planted_truth_reproduces_and_what_is_not_so_does_not() {
    let told = fs::read_to_string(RUN.path("answer.txt")).expect("the answer of the run");
    for text in [told, answer(&["compare", "held"]), answer(&["show", "held"])] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(COUNT), "{text}");
        assert!(text.contains("it was made up"), "{text}");
    }
    let one = answer(&["show", "held", "slow.c1.r1"]);
    assert!(!one.contains("Published"), "one run is not compared: {one}");
    let markdown = answer(&["compare", "held", "--format", "markdown"]);
    assert!(markdown.contains("## Published and here") && markdown.contains(COUNT), "{markdown}");
    let json = answer(&["compare", "held", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let findings = json["published"][0]["findings"].as_array().expect("findings");
    let verdicts: Vec<_> = findings.iter().filter_map(|one| one["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["reproduces", "opposite", "differs"]);
    let csv = answer(&["compare", "held", "--format", "csv"]);
    let outcomes = [",reproduces,", ",opposite,", ",differs,"];
    let lines = csv.lines().filter(|line| line.starts_with("published,"));
    assert!(lines.zip(outcomes).all(|(line, outcome)| line.contains(outcome)), "{csv}");
    let page = answer(&["report", "held"]);
    let page = fs::read_to_string(RUN.path(page.trim())).expect("the page");
    assert!(page.contains("id=\"published\"") && page.contains(COUNT));
}

/// Goal: base and findings are apart: another base moves the tables and no finding.
#[test]
fn another_base_changes_no_finding() {
    let section = |more: &[&str]| {
        let text = answer(&[&["compare", "held"], more].concat());
        let (_, section) = text.split_once("Published and here").expect("a section");
        section.split("Reproduces:").next().map(str::to_owned)
    };
    assert_eq!(section(&[]), section(&["--base", "slow"]));
}

#[test]
fn two_runs_alone_decide_nothing() {
    let both = answer(&["compare", "held/quick.c1.r1", "held/slow.c1.r1"]);
    assert!(both.contains("All 3 published findings are undecided."), "{both}");
    assert!(both.contains("one run alone tells nothing of the noise"), "{both}");
}

#[test]
fn one_repetition_leaves_all_undecided_and_the_plan_says_so_before() {
    let place = Place::new();
    let options = "[variant.options]\n\"server.work\" = ";
    let quick = HELD.replace(&format!("\"faulty\"\n{options}\"2ms\""), "\"memory\"");
    let quick = quick.replace(&format!("\"faulty\"\n{options}\"4ms\""), "\"sqlite\"");
    let other = "[[variant]]\nname = \"other\"\nengine = \"sqlite\"\n\n[[published]]";
    let quick = quick.replace("[[published]]\nsource", &format!("{other}\nsource"));
    // The client costs more than the memory engine, which is no matter here.
    let quick = quick + "\n[[waive]]\ncode = \"A008\"\nreason = \"nothing is concluded\"\n";
    place.write("held.toml", quick);
    let said = place.assay(&["plan", "held.toml", "--repetitions", "1"]);
    assert!(
        said.out.contains("\nundecided one repetition decides no published finding: run three\n"),
        "{}{}",
        said.out,
        said.err
    );
    let said = place.assay(&["run", "held.toml", "--repetitions", "1"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("All 3 published findings are undecided."), "{}", said.out);
    // Runs of variants that no finding is about are asked about none.
    let other = place.assay(&["compare", "held/slow.c1.r1", "held/other.c1.r1"]);
    assert!(other.code == 0 && !other.out.contains("Published"), "{}{}", other.out, other.err);
}

#[test]
fn the_plan_says_how_many_findings_will_be_tried_and_what_differs_on_purpose() {
    let place = Place::new();
    place.write("held.toml", HELD);
    let lines = |more: &[&str]| {
        let said = place.assay(&[&["plan", "held.toml"], more].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let is_ours = |line: &&str| {
            ["published", "scaled", "not tried"].iter().any(|word| line.starts_with(word))
        };
        said.out.lines().filter(is_ours).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(lines(&[]), @"
    published Nobody, 2026, A planted truth: all 3 findings will be tried
    scaled    20 rows
    ");
    assert_snapshot!(lines(&["--clients", "2"]), @"
    published Nobody, 2026, A planted truth: 2 of 3 findings will be tried
    scaled    20 rows
    not tried Twice the work takes as long: there is no level of 1 client
    ");
}

#[test]
fn a_finding_on_something_that_is_not_there_is_refused_at_its_word() {
    let place = Place::new();
    place.write("held.toml", HELD.replacen("variant = \"slow\"", "variant = \"slwo\"", 1));
    assert_snapshot!(refused_at_once(&place, &["run", "held.toml"]), @r#"
     × the experiment has no variant `slwo`
       ╭─[held.toml:34:11]
    33 │ claim = "Twice the work takes twice as long"
    34 │ variant = "slwo"
       ·           ───┬──
       ·              ╰── no such variant
    35 │ step = "readrandom"
       ╰────
     help: did you mean `slow`?
     nothing was run
    "#);
    place.write("held.toml", HELD.replacen("base_value = 2e6\n", "", 1));
    assert_snapshot!(refused_at_once(&place, &["run", "held.toml"]), @r#"
     × a ratio needs `base_value` too
       ╭─[held.toml:37:9]
    36 │ metric = "service_ns_p50"
    37 │ value = 4e6
       ·         ─┬─
       ·          ╰── only this
    38 │ 
       ╰────
     help: write `value` and `base_value`, or `ratio`, or `expect`
     nothing was run
    "#);
}
