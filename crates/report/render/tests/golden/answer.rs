//! Questions that name their metrics: headline, tables, note and pictures.

use render::{Compared, Format, Meta, Report, Style, next_steps, render_answer, render_html};

use crate::fixture::{Fixture, open_loops, quickstart, sweep};

/// Returns the fixture with a question about these metrics of these steps.
fn about(mut fixture: Fixture, metrics: &[&str], steps: &[&str]) -> Fixture {
    let experiment = &mut fixture.manifest.plan.experiment;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    (experiment.answer, experiment.measure) = (owned(metrics), owned(steps));
    // Three are enough; the first is the base.
    let few: Vec<String> =
        experiment.variants.iter().take(3).map(|variant| variant.name.clone()).collect();
    experiment.variants.truncate(3);
    fixture.runs.retain(|run| few.contains(&run.cell.variant));
    fixture.compared()
}

fn with<T>(fixture: &Fixture, shown: impl FnOnce(&Compared<'_>) -> T) -> T {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let comparison = &fixture.comparison;
    shown(&Compared::of(comparison, &meta, &fixture.runs, host, &fixture.findings))
}

fn compared(fixture: &Fixture, format: Format) -> String {
    with(fixture, |compared| compared.render(format, Style::default()))
}

#[test]
fn named_metrics_have_the_headline_a_table_and_their_meaning() {
    let metrics = ["cpu_us_per_op", "busy_threads", "commits_per_fsync"];
    let fixture = about(quickstart(5), &metrics, &["fwdrange"]);
    let answer = with(&fixture, |compared| {
        render_answer(compared, Style { width: 150, ..Style::default() })
    });
    insta::assert_snapshot!("answer", answer);
    insta::assert_snapshot!("comparison", compared(&fixture, Format::Text));
    // Nothing can be explained that is not time per operation.
    let next = with(&fixture, next_steps);
    assert!(!next.is_empty());
    assert!(next.iter().all(|command| !command.starts_with("assay explain")), "{next:?}");
    let json: serde_json::Value = serde_json::from_str(&compared(&fixture, Format::Json)).unwrap();
    assert_eq!(json["comparison"]["answer"][0], "cpu_us_per_op");
    let primary: Vec<_> = json["comparison"]["steps"].as_array().unwrap().iter().collect();
    assert_eq!(primary[3]["primary"], "cpu_us_per_op");
    assert_eq!(primary[2]["primary"], "throughput_ops_per_s");
}

#[test]
fn first_pictures_are_of_the_named_metrics() {
    let page = render_html(&about(quickstart(5), &["cpu_us_per_op"], &["fwdrange"]).input());
    crate::page::assert_well_nested(&page);
    crate::page::store("answer.html", page.as_bytes());
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("missing: {text}"));
    assert!(place("id=\"verdicts\"") < place("id=\"cpu_us_per_op\""));
    assert!(place("id=\"cpu_us_per_op\"") < place("id=\"throughput\""));
    let verdicts = &page[place("id=\"verdicts\"")..place("id=\"cpu_us_per_op\"")];
    assert!(verdicts.contains("more (worse)") && verdicts.contains("less (better)"), "{verdicts}");
    assert!(!verdicts.contains("readrandom"), "a step that only prepares: {verdicts}");
}

#[test]
fn sweep_has_the_named_metric_by_clients_before_its_throughput() {
    let text = compared(&about(sweep(), &["cpu_us_per_op"], &[]), Format::Text);
    let (before, _) = text.split_once("\nreadrandom by clients: operations").unwrap();
    let (_, answer) = before.split_once("readrandom by clients: cpu_us_per_op, and its").unwrap();
    assert!(answer.contains("CPU/op against rocksdb-9.10 by clients:"), "{text}");
    assert!(!text.contains("operations per second against"), "{text}");
}

#[test]
fn open_loop_has_the_named_response_time() {
    let text = compared(&about(open_loops(), &["response_ns_p99"], &[]), Format::Text);
    assert!(text.contains("response p99"), "{text}");
    assert!(!text.contains("goodput than"), "{text}");
}

#[test]
fn question_whose_metric_was_never_measured_has_no_result() {
    let fixture = about(quickstart(5), &["server_reads_per_op"], &["readrandom"]);
    let text = compared(&fixture, Format::Text);
    assert!(text.starts_with("Verdict: NOTHING"), "{text}");
    assert!(
        text.contains("readrandom: no server reads/op of rocksdb-9.10 was measured."),
        "{text}"
    );
    assert!(text.contains("server_reads_per_op: read requests of the server per operation; less"));
    let (_, table) = text.split_once("server_reads_per_op: mean").unwrap();
    assert!(table.lines().any(|line| line.starts_with("rocksdb-11.8") && line.ends_with("NA")));
}

#[test]
fn settle_step_has_a_row_where_the_question_is_about_it() {
    let text = compared(&about(quickstart(5), &["settle_s"], &["settle"]), Format::Text);
    assert!(text.contains("\nsettle, time to settle against rocksdb-9.10: "), "{text}");
    let (_, table) = text.split_once("settle_s: mean").unwrap();
    assert!(table.lines().any(|line| line.starts_with("rocksdb-11.8 ") && line.contains(" s [")));
}
