//! What an application reports of one run, in the comparison and on its page.

use analysis::{NoiseHistory, compare};
use model::record::{FailureClass, Percentiles, ProcedureRecord};
use model::waits::{IDLE, RUNNING};
use model::{Nanos, StatementRecord, StatementTotals, StepRecord, WaitProfile};
use render::{
    Compared, Format, Lines, LinesOf, Meta, MetricReport, Report, Style, render_answer, render_html,
};

use crate::fixture::{Fixture, ibench};

const DISCLAIMER: &str = "Its figures are no results of any consortium.";

/// The Insert Benchmark with two procedures in a step, their statements, and samples of waits; the
/// newer release calls a fifth less, and repeats attempts that the older does not.
fn application() -> Fixture {
    let mut fixture = ibench();
    fixture.manifest.plan.experiment.application.as_mut().unwrap().disclaimer =
        Some(DISCLAIMER.to_owned());
    for run in &mut fixture.runs {
        let (is_old, repetition) = (run.cell.variant == "innodb-5.6", run.cell.repetition);
        let step = run.steps.iter_mut().find(|step| step.step.name == "qr100").unwrap();
        report(step, is_old, u64::from(repetition));
    }
    let (experiment, runs) = (&fixture.manifest.plan.experiment, &fixture.runs);
    fixture.comparison = compare(runs, experiment, "innodb-5.6", &NoiseHistory::default()).unwrap();
    fixture
}

fn report(step: &mut StepRecord, is_old: bool, repetition: u64) {
    let calls = |of: u64| (if is_old { of } else { of * 4 / 5 }) + 10 * repetition;
    let procedure = |name: &str, done: u64| ProcedureRecord {
        name: name.to_owned(),
        done,
        rolled_back: done / 100,
        service: Percentiles {
            count: done,
            p50_ns: 2_000_000,
            p90_ns: 3_000_000,
            p99_ns: 9_000_000,
            ..Percentiles::default()
        },
        limit_ns: Some(Nanos::from_secs(5)),
        within_limit: Some(done),
        ..ProcedureRecord::default()
    };
    step.procedures = vec![procedure("order", calls(45_000)), procedure("pay", calls(43_000))];
    if !is_old {
        step.procedures[0].retried.add(FailureClass::Deadlock);
        step.procedures[0].retry_ns = Nanos::from_millis(3);
    }
    let totals = StatementTotals {
        calls: calls(45_000),
        server_us: 40.0 * calls(45_000) as f64,
        rows: calls(45_000),
        examined: Some(3 * calls(45_000)),
        pages: None,
    };
    let plan =
        if is_old { "index range scan on market_items" } else { "index lookup on market_items" };
    let statement = |number, totals| StatementRecord {
        procedure: "order".to_owned(),
        number,
        plan_before: Some(if number == 1 { plan } else { "insert on orders" }.to_owned()),
        plan_after: None,
        totals,
        shared_with: Vec::new(),
    };
    step.statements = vec![statement(1, Some(totals)), statement(2, None)];
    let mut waits = WaitProfile { samples: 100, ..WaitProfile::default() };
    let commit = if is_old { "stage:query end" } else { "stage:waiting for handler commit" };
    for (event, count) in [(RUNNING, 60), (commit, 30 + repetition), (IDLE, 10)] {
        (0..count).for_each(|_| waits.clients.add(event));
    }
    // A rare lock, which one run alone has found.
    if is_old && repetition == 1 {
        (0..3).for_each(|_| waits.clients.add("InnoDB:row lock"));
    }
    step.waits = Some(Box::new(waits));
}

fn with<T>(fixture: &Fixture, text: impl FnOnce(&Compared<'_>) -> T) -> T {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    text(&Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings))
}

#[test]
fn comparison_has_procedures_and_on_request_statements_plans_and_events() {
    let fixture = application();
    let text = |format, has_costs| {
        let style = Style { has_costs, ..Style::default() };
        with(&fixture, |compared| compared.render(format, style))
    };
    let plain = text(Format::Text, false);
    let (_, procedures) = plain.split_once("By procedure").unwrap();
    assert!(!procedures.contains("order 1") && plain.contains(DISCLAIMER), "{plain}");
    insta::assert_snapshot!(procedures.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"));
    let costs = text(Format::Text, true);
    let (_, details) = costs.split_once("By kind of operation").unwrap();
    insta::assert_snapshot!(details.split_once("Warnings").unwrap().0);
    let markdown = text(Format::Markdown, true);
    for expected in ["| order, innodb-8.0 ", "| order 1 ", "index lookup on market", DISCLAIMER] {
        assert!(markdown.contains(expected), "{expected}: {markdown}");
    }
}

#[test]
fn data_has_every_part_with_its_verdict() {
    let fixture = application();
    let text = |format| with(&fixture, |it| it.render(format, Style::default()));
    let csv = text(Format::Csv);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|one| *one == name).unwrap();
    let rows = |part: &str, metric: &str| -> Vec<Vec<String>> {
        let rows = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        rows.filter(|row| row[place("part")] == part && row[place("metric")] == metric).collect()
    };
    let [old, new] = &rows("order", "committed_per_min")[..] else { panic!("{csv}") };
    assert_eq!((old[place("scope")].as_str(), old[place("n")].as_str()), ("procedure", "3"));
    let ratio: f64 = new[place("ratio")].parse().unwrap();
    assert!((ratio - 0.8).abs() < 0.001, "{new:?}");
    assert_eq!(new[place("verdict")], "below");
    assert!(!new[place("q")].is_empty() && new[place("unit")] == "count");
    // Both releases commit in one class, and a run without a rare event has no session in it.
    assert_eq!(rows("clients commit", "session_share").len(), 2);
    let locks = rows("clients InnoDB:row lock", "session_share");
    assert_eq!(
        (locks.len(), locks[0][place("n")].as_str(), locks[0][place("min")].as_str()),
        (1, "3", "0")
    );
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).unwrap();
    assert_eq!(json["experiment"]["disclaimer"], DISCLAIMER);
    let steps = json["comparison"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == "qr100").unwrap();
    let parts = step["parts"].as_array().unwrap();
    let statement = parts.iter().find(|part| part["name"] == "order 1").unwrap();
    assert_eq!(statement["kind"], "statement");
    assert_eq!(statement["plans"]["innodb-8.0"][0], "index lookup on market_items");
    assert!(json["comparison"]["families"]["parts"]["comparisons"].as_u64().unwrap() > 4);
}

#[test]
fn page_answer_lines_and_metric_have_the_disclaimer_and_the_page_the_parts() {
    let fixture = application();
    let page = render_html(&fixture.input());
    for expected in [
        DISCLAIMER,
        "By procedure",
        "order, innodb-8.0",
        "Statements as the server",
        "index range scan on market_items",
        "clients commit",
        "Plans of the statements",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let style = Style::default();
    let cpus = fixture.manifest.host.cpus;
    let texts = with(&fixture, |it| {
        let metric = MetricReport::of(it, "committed_per_min").unwrap().render(Format::Text, style);
        assert!(metric.contains("qr100, order") && metric.contains("lower"), "{metric}");
        let lines = LinesOf { compared: it, lines: Lines::Ibench, cpus };
        let lines = lines.render(Format::Text, style);
        [metric, lines, render_answer(it, style)]
    });
    assert!(texts.iter().all(|text| text.contains(DISCLAIMER)), "{texts:?}");
}
