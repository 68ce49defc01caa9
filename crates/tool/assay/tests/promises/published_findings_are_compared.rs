//! Published findings are compared with results, in every format.

use std::fs;
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::rejection::rejected_at_once;
use crate::stored::HELD;
use crate::workspace::Workspace;

/// Two simulated servers, one with twice the work per operation.
const EXPERIMENT: &str = r#"[experiment]
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
source = "Example, 2026, A planted truth"
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

/// Its stored result, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    workspace.import(HELD);
    workspace.until_exit()
});

fn result_of(arguments: &[&str]) -> String {
    let output = RUN.assay(arguments);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    output.out
}

const COUNT: &str = "Of 3 published findings, 1 reproduces, 1 is the opposite here and 1 differs \
                     here, published as the same.";

/// Goal: a planted truth reproduces and wrong findings do not, in every output format.
#[test]
fn planted_findings_get_the_right_verdicts() {
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [result_of(&["compare", "held"]), result_of(&["show", "held"])] {
        let text = joined(&text);
        assert!(text.contains(COUNT), "{text}");
        assert!(text.contains("it was made up"), "{text}");
    }
    let one = result_of(&["show", "held", "slow.c1.r1"]);
    assert!(!one.contains("Published"), "one run is not compared: {one}");
    let markdown = result_of(&["compare", "held", "--format", "markdown"]);
    assert!(markdown.contains("## Published and here") && markdown.contains(COUNT), "{markdown}");
    let json = result_of(&["compare", "held", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let findings = json["published"][0]["findings"].as_array().expect("findings");
    let verdicts: Vec<_> = findings.iter().filter_map(|one| one["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["reproduces", "opposite", "differs"]);
    let csv = result_of(&["compare", "held", "--format", "csv"]);
    let outcomes = [",reproduces,", ",opposite,", ",differs,"];
    let lines = csv.lines().filter(|line| line.starts_with("published,"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), outcomes.len(), "{csv}");
    for (line, outcome) in lines.iter().zip(outcomes) {
        assert!(line.contains(outcome), "{outcome}: {line}");
    }
    let page = result_of(&["report", "held"]);
    let page = fs::read_to_string(RUN.path(page.trim())).expect("the page");
    assert!(page.contains("id=\"published\"") && page.contains(COUNT));
}

/// Goal: another base changes the tables but no published finding.
#[test]
fn another_base_changes_no_published_finding() {
    let section = |more: &[&str]| {
        let text = result_of(&[&["compare", "held"], more].concat());
        let (_, section) = text.split_once("Published and here").expect("a section");
        section.split("Reproduces:").next().map(str::to_owned)
    };
    assert_eq!(section(&[]), section(&["--base", "slow"]));
}

#[test]
fn two_single_runs_leave_findings_undecided() {
    let both = result_of(&["compare", "held/quick.c1.r1", "held/slow.c1.r1"]);
    assert!(both.contains("run-to-run noise is unknown"), "{both}");
    assert!(both.contains("All 3 published findings are undecided."), "{both}");
}

#[test]
fn findings_of_experiments_are_written_to_pages() {
    let index = result_of(&["report", "held", "--reproduced", "pages"]);
    assert_eq!(index.trim(), "pages/README.md");
    let read = |name: &str| fs::read_to_string(RUN.path("pages").join(name)).expect("a page");
    let (index, page) = (read("README.md"), read("held.md"));
    let rows = page.lines().filter(|line| line.starts_with("| "));
    assert_eq!(rows.count(), 4, "a heading and three findings: {page}");
    assert!(index.contains("- [held](held.md): 3 findings, "), "{index}");
    assert!(page.starts_with("# held\n\n3 findings, "), "{page}");
    assert!(page.contains("\n\n## Example, 2026, A planted truth\n\n- "), "{page}");
    assert!(page.contains("\n- here: ") && page.contains("| slow / "), "{page}");
    let workspace = Workspace::with_pair();
    let output = workspace.assay(&["report", "pair", "--reproduced", "pages"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.err.contains("published findings"), "{}", output.err);
    let twice = RUN.assay(&["report", "held", "held", "--reproduced", "twice"]);
    assert!(twice.code == 1 && twice.err.contains("held is named twice"), "{}", twice.err);
}

#[test]
fn pages_keep_the_findings_of_other_experiments() {
    let file = "other/findings.tsv";
    result_of(&["report", "held", "--reproduced", "other"]);
    let own = fs::read_to_string(RUN.path(file)).expect("the findings");
    RUN.write(file, own.replace("held\t", "earlier\t"));
    result_of(&["report", "held", "--reproduced", "other"]);
    let index = fs::read_to_string(RUN.path("other/README.md")).expect("the index");
    assert!(index.contains("\n3 findings tested, "), "{index}");
    assert!(index.contains("in two files, so there are 6 rows ("), "{index}");
    assert!(index.contains("(earlier.md)") && index.contains("(held.md)"), "{index}");
    RUN.write(file, "no\nsuch\n");
    let output = RUN.assay(&["report", "held", "--reproduced", "other"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.err.contains("cannot read other/findings.tsv"), "{}", output.err);
}

#[test]
fn operations_in_process_have_ten_fine_buckets() {
    let costs = result_of(&["compare", "held", "--costs"]);
    assert!(costs.contains("Service times in ten buckets") && costs.contains("<=10ms"), "{costs}");
}

#[test]
fn one_repetition_leaves_findings_undecided() {
    let workspace = Workspace::new();
    let options = "[variant.options]\n\"server.work\" = ";
    let quick = EXPERIMENT.replace(&format!("\"faulty\"\n{options}\"2ms\""), "\"memory\"");
    let quick = quick.replace(&format!("\"faulty\"\n{options}\"4ms\""), "\"sqlite\"");
    let other = "[[variant]]\nname = \"other\"\nengine = \"sqlite\"\n\n[[published]]";
    let quick = quick.replace("[[published]]\nsource", &format!("{other}\nsource"));
    // The client costs more than the memory engine, which is irrelevant here.
    let quick = quick + "\n[[waive]]\ncode = \"A008\"\nreason = \"nothing is concluded\"\n";
    workspace.write("held.toml", quick);
    let output = workspace.assay(&["plan", "held.toml", "--repetitions", "1"]);
    assert!(
        output.out.contains(
            "\nundecided one repetition decides no published finding: run three repetitions\n"
        ),
        "{}{}",
        output.out,
        output.err
    );
    let output = workspace.recorded(&["run", "held.toml", "--repetitions", "1"]);
    assert!(output.out.contains("All 3 published findings are undecided."), "{}", output.out);
    // Runs of variants without findings show none.
    let other = workspace.assay(&["compare", "held/slow.c1.r1", "held/other.c1.r1"]);
    assert!(other.code == 0 && !other.out.contains("Published"), "{}{}", other.out, other.err);
}

#[test]
fn plan_shows_how_many_findings_will_be_tested() {
    let workspace = Workspace::new();
    workspace.write("held.toml", EXPERIMENT);
    let lines = |more: &[&str]| {
        let output = workspace.assay(&[&["plan", "held.toml"], more].concat());
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        let is_ours = |line: &&str| {
            ["published", "scaled", "not tested"].iter().any(|word| line.starts_with(word))
        };
        output.out.lines().filter(is_ours).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(lines(&[]), @"
    published Example, 2026, A planted truth: 3 of 3 findings will be tested
    scaled    20 rows
    ");
    assert_snapshot!(lines(&["--clients", "2"]), @"
    published Example, 2026, A planted truth: 2 of 3 findings will be tested
    scaled    20 rows
    not tested Twice the work takes as long: there is no level of 1 client
    ");
}

#[test]
fn invalid_published_finding_is_rejected_at_its_line() {
    let workspace = Workspace::new();
    workspace
        .write("held.toml", EXPERIMENT.replacen("variant = \"slow\"", "variant = \"slwo\"", 1));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "held.toml"]), @r#"
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
    workspace.write("held.toml", EXPERIMENT.replacen("base_value = 2e6\n", "", 1));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "held.toml"]), @r#"
     × the ratio of `value` to `base_value` needs `base_value`
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
