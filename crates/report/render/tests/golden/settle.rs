//! A settle after a step: its costs stand next to the step's, and are none of them.

use analysis::explain::{Question, StepProfiles, explain};
use model::metric;
use render::{Compared, Explained, Format, Meta, Report, RunReport, Style, render_html};

use crate::fixture::{Fixture, SETTLED, ibench, settled};
use crate::page::assert_well_nested;

fn compared(fixture: &Fixture, format: Format) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    compared.render(format, Style { has_costs: true, ..Style::default() })
}

fn run_shown(fixture: &Fixture) -> String {
    let run = fixture.runs.iter().find(|run| run.cell.id == "innodb-8.0.c1.r1").unwrap();
    RunReport { manifest: &fixture.manifest, run }
        .render(Format::Text, Style { width: 190, ..Style::default() })
}

/// Explains innodb-8.0 in the steps of these names.
pub(crate) fn explained(fixture: &Fixture, names: &[&str], format: Format) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    let of = |name: &&str| fixture.comparison.steps.iter().find(|step| step.name == *name);
    let question = |step| Question {
        experiment: &fixture.manifest.plan.experiment,
        runs: &fixture.runs,
        comparison: &fixture.comparison,
        step,
        variant: "innodb-8.0",
        metric: None,
        cpus: model::CpuCount::of(2),
        blocking: &[],
        profiles: StepProfiles::default(),
    };
    let all: Vec<_> =
        names.iter().filter_map(of).filter_map(|step| explain(&question(step))).collect();
    Explained { compared: &compared, explanations: &all, storage: &[] }
        .render(format, Style::default())
}

/// Returns the lines that hold `name`.
fn lines(text: &str, name: &str) -> String {
    text.lines().filter(|line| line.contains(name)).collect::<Vec<_>>().join("\n")
}

#[test]
fn run_has_columns_of_the_settle_next_to_the_step_s() {
    let text = run_shown(&settled());
    let (_, table) = text.split_once("rows\n").unwrap_or(("", &text));
    let (table, _) = table.split_once("Closed loops").unwrap();
    insta::assert_snapshot!(table);
}

#[test]
fn costs_of_the_settle_are_compared() {
    let text = compared(&settled(), Format::Text);
    let (_, costs) = text.split_once("Costs per operation").unwrap();
    let (_, of_step) = costs.split_once(SETTLED).unwrap();
    insta::assert_snapshot!(of_step.split_once("qr100").unwrap().0);
}

#[test]
fn csv_has_totals_of_the_settle_and_costs_per_row() {
    let csv = compared(&settled(), Format::Csv);
    insta::assert_snapshot!(lines(&lines(&csv, SETTLED), "settle_"));
}

/// Goal: a settle of any length moves no rate and no cost of the step before it.
/// Method: the same runs without a settle.
#[test]
fn settle_changes_no_figure_of_its_step() {
    let (with, without) = (settled(), ibench());
    let of = |fixture: &Fixture, name: &str| -> Vec<String> {
        let steps = fixture.comparison.steps.iter().filter(|step| step.name == SETTLED);
        let cells = steps.flat_map(|step| &step.cells);
        cells.filter_map(|cell| Some(format!("{:?}", cell.metric(name)?.spread))).collect()
    };
    for metric in [
        metric::THROUGHPUT_OPS_PER_S,
        metric::CPU_US_PER_OP,
        metric::SERVER_CPU_US_PER_OP,
        metric::SERVER_WRITE_KIB_PER_OP,
        metric::SERVER_WRITES_PER_OP,
    ] {
        let own = of(&without, metric.name);
        assert_eq!((own.len(), &of(&with, metric.name)), (2, &own), "{}", metric.name);
    }
    // The line of 21 columns: wps, CPU per operation and the like.
    let line = |text: &str| lines(text, SETTLED).lines().next().unwrap().to_owned();
    let (with_line, own_line) = (line(&run_shown(&with)), line(&run_shown(&without)));
    let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(fields(&with_line)[..10], fields(&own_line)[..10]);
    let own = |fixture| explained(fixture, &[SETTLED], Format::Text);
    let of_settle = paragraph(&own(&with));
    assert_eq!(own(&with).replace(&of_settle, ""), own(&without));
}

/// Returns the sentence of an explanation that is about the settle.
fn paragraph(text: &str) -> String {
    let begin =
        text.find("  Costs of settling after the step").expect("a sentence about the settle");
    let end = text[begin + 2..].find("\n  In use by").expect("a sentence after it");
    text[begin..begin + 2 + end + 1].to_owned()
}

#[test]
fn explanation_has_the_costs_of_the_settle_apart_from_the_account() {
    insta::assert_snapshot!(paragraph(&explained(&settled(), &[SETTLED], Format::Text)), @r"
    Costs of settling after the step, not part of the step's time, by geometric means: settle_s (time the engine took to
      settle) 8.00 s → 16.0 s, 2.00x; settle_cpu_us_per_op (CPU time used while the engine settled after a step, per
      operation of the step) 11.5 µs → 33.9 µs, 2.94x [2.90, 2.98]; settle_write_bytes (bytes the engine wrote to storage
      while it settled) 1.49 GiB → 2.98 GiB, 2.00x.
    ");
    let json = explained(&settled(), &[SETTLED], Format::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let costs = json["explanations"][0]["settle"].as_array().unwrap();
    let names: Vec<&str> = costs.iter().filter_map(|one| one["metric"].as_str()).collect();
    assert_eq!(names, ["settle_s", "settle_cpu_us_per_op", "settle_write_bytes"]);
    assert_eq!((&costs[0]["base"], &costs[0]["variant"]), (&8.0.into(), &16.0.into()));
}

#[test]
fn page_has_the_settle() {
    let page = render_html(&settled().input());
    assert_well_nested(&page);
    assert!(page.contains("time to settle, all steps"), "no picture of the settles");
    assert!(
        page.contains("Costs of settling after the step, not part of the step"),
        "not explained"
    );
}
