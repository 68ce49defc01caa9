//! The tables of comparison, run and list, in every format.

use model::Waiver;
use model::validity::Outcome;
use render::{
    Compared, Format, Meta, Report, RunList, RunReport, RunSummary, Style, next_steps,
    render_answer,
};

use crate::fixture::{
    Fixture, adaptive, bogus, controlled, open_loops, quickstart, sweep, two_releases,
};

/// The columns of published findings in a line of another kind.
const NO_FINDING: &str = ",,,,,,,,,";

fn rendered(format: Format, style: Style) -> String {
    compared(&quickstart(5), format, style)
}

fn answer(fixture: &Fixture, style: Style) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    render_answer(
        &Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings),
        style,
    )
}

fn compared(fixture: &Fixture, format: Format, style: Style) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    compared.render(format, style)
}

#[test]
fn comparison_has_sentences_tables_and_warnings() {
    let text = rendered(Format::Text, Style::default());
    // Two tables of eight variants and a sentence or two for each of five steps.
    assert!(text.lines().count() <= 56, "too long:\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "too wide:\n{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn narrow_terminal_gets_the_tables_in_blocks() {
    let style = Style { width: 80, ..Style::default() };
    let text = rendered(Format::Text, style);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "too wide:\n{text}");
}

#[test]
fn costs_follow_on_request() {
    let style = Style { has_costs: true, ..Style::default() };
    let text = rendered(Format::Text, style);
    let (_, costs) = text.split_once("Costs per operation").unwrap();
    insta::assert_snapshot!(costs);
}

#[test]
fn colour_is_written_only_on_request_and_changes_no_text() {
    let plain = rendered(Format::Text, Style::default());
    let coloured = rendered(Format::Text, Style { has_colour: true, ..Style::default() });
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
    let mut text = String::new();
    let mut parts = coloured.split('\u{1b}');
    text.push_str(parts.next().unwrap());
    parts.for_each(|part| text.push_str(part.split_once('m').unwrap().1));
    assert_eq!(text, plain);
}

#[test]
fn answer_is_a_sentence_for_each_step_and_one_table() {
    let fixture = quickstart(5);
    let style = Style { width: 150, ..Style::default() };
    insta::assert_snapshot!(answer(&fixture, style));
    let narrow = answer(&fixture, Style { width: 100, ..Style::default() });
    assert!(narrow.lines().count() <= 48, "more than a screen:\n{narrow}");
    assert!(narrow.contains("more: assay compare quickstart\n"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 100), "too wide:\n{narrow}");
}

#[test]
fn one_repetition_shows_no_difference() {
    insta::assert_snapshot!(compared(&two_releases(5), Format::Text, Style::default()));
}

#[test]
fn markdown_can_be_pasted() {
    insta::assert_snapshot!(rendered(Format::Markdown, Style::default()));
}

#[test]
fn csv_has_a_line_per_metric_and_as_many_fields_as_its_header() {
    let csv = rendered(Format::Csv, Style::default());
    let fields = |line: &str| line.split(',').count();
    let expected = fields(csv.lines().next().unwrap());
    assert!(csv.lines().all(|line| fields(line) == expected));
    let documented: Vec<&str> = render::CSV_COLUMNS.iter().map(|(name, _)| *name).collect();
    assert_eq!(csv.lines().next(), Some(documented.join(",").as_str()));
    let shown: Vec<&str> = csv
        .lines()
        .filter(|line| line.starts_with("scope") || line.contains("throughput_ops_per_s"))
        .take(10)
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn json_holds_every_metric_with_its_range() {
    let json = rendered(Format::Json, Style::default());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["experiment"]["name"], "quickstart");
    let fill = &value["comparison"]["steps"][0]["cells"][4];
    insta::assert_json_snapshot!(fill["metrics"]["throughput_ops_per_s"]);
    assert_eq!(value["comparison"]["incomplete"].as_array().unwrap().len(), 1);
}

#[test]
fn run_has_one_line_summaries_with_their_glossary() {
    let fixture = quickstart(5);
    let style = Style { width: 170, ..Style::default() };
    let run = fixture.runs.iter().find(|run| run.cell.id == "rocksdb-9.10.c1.r1").unwrap();
    insta::assert_snapshot!(
        RunReport { manifest: &fixture.manifest, run }.render(Format::Text, style)
    );
}

#[test]
fn run_killed_before_its_first_step_has_no_table() {
    let fixture = quickstart(5);
    let mut run = fixture.runs[0].clone();
    run.steps.clear();
    run.identity = None;
    run.end = model::RunEnd::Running;
    let text =
        RunReport { manifest: &fixture.manifest, run: &run }.render(Format::Text, Style::default());
    assert!(text.ends_with("killed with Assay\n\nNo step was finished.\n"), "{text}");
    assert!(text.contains("(never opened)"), "{text}");
}

/// Returns a list that is never split into blocks, as `assay list` prints it.
fn listed(runs: &[RunSummary], planned: usize) -> String {
    let style = Style { width: usize::MAX, ..Style::default() };
    RunList { runs, planned }.render(Format::Text, style)
}

#[test]
fn list_groups_runs_by_experiment() {
    let (first, second) = (quickstart(5), two_releases(5));
    let runs = first.runs.iter().skip(20).chain(&second.runs);
    let summaries: Vec<RunSummary> = runs.map(RunSummary::of).collect();
    insta::assert_snapshot!(listed(&summaries, 0));
    assert!(listed(&[], 9).contains("No runs"));
    let of_more = listed(&summaries[..1], 24);
    assert!(of_more.contains("1 of 24 runs is complete"), "{of_more}");
}

fn shown(fixture: &Fixture, cell: &str, width: usize) -> String {
    let run = fixture.runs.iter().find(|run| run.cell.id == cell).unwrap();
    let text = RunReport { manifest: &fixture.manifest, run }
        .render(Format::Text, Style { width, ..Style::default() });
    let from = text.find("Closed loops").or_else(|| text.find("readrandom:")).unwrap();
    let until = text.find("  ips    rows put").unwrap();
    text[from..until].trim_end().to_owned()
}

#[test]
fn open_loop_has_both_times_and_invalid_intervals() {
    insta::assert_snapshot!(shown(&open_loops(), "rocksdb-11.8.c1.r2", 120));
}

#[test]
fn summary_lines_note_that_they_count_invalid_intervals() {
    let is_noted = |fixture: &Fixture, cell: &str| {
        let run = fixture.runs.iter().find(|run| run.cell.id == cell).unwrap();
        let text = RunReport { manifest: &fixture.manifest, run }
            .render(Format::Text, Style { width: 300, ..Style::default() });
        text.contains("Invalid intervals are in these lines")
    };
    assert!(is_noted(&open_loops(), "rocksdb-11.8.c1.r2"));
    assert!(!is_noted(&quickstart(5), "lmdb.c1.r1"));
}

#[test]
fn overloaded_engine_has_no_response_times() {
    insta::assert_snapshot!(shown(&open_loops(), "rocksdb-11.8-universal.c1.r1", 120));
}

#[test]
fn search_for_clients_has_a_row_per_probe() {
    insta::assert_snapshot!(shown(&adaptive(), "rocksdb-11.8.c1.r1", 120));
}

#[test]
fn probe_without_a_valid_interval_has_no_figures() {
    let mut fixture = open_loops();
    let searches = fixture.runs.iter_mut().flat_map(|run| &mut run.steps);
    let probes = searches.filter_map(|step| step.search.as_mut()).flat_map(|it| &mut it.probes);
    for probe in probes.filter(|probe| probe.outcome == Outcome::Invalid) {
        (probe.throughput_ops_per_s, probe.goodput_ops_per_s) = (0.0, 0.0);
    }
    let text = shown(&fixture, "rocksdb-11.8.c1.r1", 120);
    let line = text.lines().find(|line| line.starts_with("#9 invalid")).expect("a probe");
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(fields[5..11], ["NA"; 6], "{line}");
}

#[test]
fn invalid_run_is_marked() {
    let fixture = open_loops();
    let run = fixture.runs.iter().find(|run| run.invalid.is_some()).unwrap();
    let text =
        RunReport { manifest: &fixture.manifest, run }.render(Format::Text, Style::default());
    assert!(text.contains("complete\nINVALID, must not be used: 13 of 20 intervals"), "{text}");
    let listed = listed(&[RunSummary::of(run)], 1);
    assert!(listed.contains("its run is not complete"), "{listed}");
    assert!(listed.contains("complete, INVALID: 13 of 20 intervals"), "{listed}");
}

#[test]
fn given_rate_has_no_ratio_and_a_search_has_one() {
    insta::assert_snapshot!(compared(&open_loops(), Format::Text, Style::default()));
}

#[test]
fn sweep_has_a_row_per_level_and_the_fitted_law() {
    insta::assert_snapshot!(compared(&sweep(), Format::Text, Style::default()));
}

#[test]
fn open_loops_and_sweeps_can_be_pasted() {
    let text = compared(&open_loops(), Format::Markdown, Style::default());
    assert!(
        text.contains("## readwhilewriting: open loop, 50,000/s, poisson, limit p99.9"),
        "{text}"
    );
    assert!(text.contains("## readrandom: highest rate within p99.9 &lt; 2.00 ms"), "{text}");
    assert!(text.contains("- A011 client late: "), "{text}");
    let text = compared(&sweep(), Format::Markdown, Style::default());
    assert!(text.contains("## readrandom by clients"), "{text}");
}

/// The same with a waived rule that would block every verdict.
fn waived() -> Fixture {
    let mut fixture = open_loops();
    fixture.manifest.plan.experiment.waivers = vec![Waiver {
        code: "A011".to_owned(),
        reason: "what the client disturbed is not counted.".to_owned(),
    }];
    fixture.compared()
}

#[test]
fn waiver_is_in_the_first_line_of_every_output() {
    let fixture = waived();
    let waiver = "A011 waived: what the client disturbed is not counted.";
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let style = Style::default();
    for text in [
        compared(&fixture, Format::Text, style),
        compared(&fixture, Format::Markdown, style),
        answer(&fixture, style),
    ] {
        assert!(first(&text).contains(waiver), "{}", first(&text));
    }
    let json: serde_json::Value =
        serde_json::from_str(&compared(&fixture, Format::Json, style)).unwrap();
    let label = lint::label(&fixture.findings).name().to_lowercase();
    let label = label.as_str();
    assert_ne!(label, "bogus");
    assert_eq!((&json["label"], &json["waived"][0]["code"]), (&label.into(), &"A011".into()));
    let csv = compared(&fixture, Format::Csv, style);
    let end = format!(",{label},A011{NO_FINDING}");
    assert!(csv.lines().count() > 1, "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.ends_with(&end)));
    insta::assert_snapshot!(compared(&fixture, Format::Text, style));
}

#[test]
fn bogus_comparison_has_no_verdict() {
    let (fixture, style) = (bogus(), Style { has_costs: true, ..Style::default() });
    for text in [
        compared(&fixture, Format::Text, style),
        compared(&fixture, Format::Markdown, style),
        answer(&fixture, style),
        render::render_html(&fixture.input()),
    ] {
        assert!(text.contains(
            "Verdict: BOGUS. No verdict may be drawn from this comparison: A001 durability"
        ));
        for sign in
            ["\u{25b2}", "\u{25bc}", "\u{25b3}", "\u{25bd}", "\u{2248}", " did more", "fewer op"]
        {
            assert!(!text.contains(sign), "{sign} in {text}");
        }
    }
    let csv = compared(&fixture, Format::Csv, style);
    let end = format!(",bogus,{NO_FINDING}");
    assert!(csv.lines().count() > 1, "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.ends_with(&end)));
    assert!(!csv.contains(",above,") && csv.contains(",bogus,,bogus,"));
    let json: serde_json::Value =
        serde_json::from_str(&compared(&fixture, Format::Json, style)).unwrap();
    assert_eq!((&json["label"], &json["findings"][0]["code"]), (&"bogus".into(), &"A001".into()));
    insta::assert_snapshot!(compared(&fixture, Format::Text, Style::default()));
}

#[test]
fn control_has_a_row_and_a_note() {
    let fixture = controlled();
    insta::assert_snapshot!(compared(&fixture, Format::Text, Style::default()));
    let answer = answer(&fixture, Style::default());
    assert!(answer.contains("rocksdb-9.10-again (control)"), "{answer}");
    assert!(answer.contains("Control: rocksdb-9.10-again is a copy of rocksdb-9.10"), "{answer}");
}

#[test]
fn next_steps_follow_from_open_questions() {
    let next = |fixture: &Fixture| {
        let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
        let (comparison, findings) = (&fixture.comparison, &fixture.findings);
        next_steps(&Compared::of(comparison, &meta, &fixture.runs, host, findings)).join("\n")
    };
    insta::assert_snapshot!(next(&quickstart(5)), @r"
    assay run --resume quickstart --until 2%
    assay explain rocksdb-9.10 sqlite filluniquerandom --in quickstart
    assay compare quickstart --costs
    assay report quickstart
    ");
    insta::assert_snapshot!(next(&two_releases(5)), @r"
    assay run --resume releases --repetitions 3
    assay compare releases --costs
    assay report releases
    ");
    insta::assert_snapshot!(next(&bogus()), @r"
    assay lint unlike
    assay compare unlike --costs
    assay report unlike
    ");
}

/// Returns the first variant's runs.
fn alone(mut fixture: Fixture) -> Fixture {
    let variants = &mut fixture.manifest.plan.experiment.variants;
    variants.truncate(1);
    let only = variants[0].name.clone();
    fixture.runs.retain(|run| run.cell.variant == only);
    fixture.compared()
}

#[test]
fn single_variant_has_a_row_for_each_step_and_no_range_of_one_run() {
    let one_run = alone(two_releases(5));
    let text = answer(&one_run, Style::default());
    assert!(!["n=1", "..", "base", "NA"].iter().any(|it| text.contains(it)), "{text}");
    insta::assert_snapshot!(
        text + "\n=====\n\n" + &answer(&alone(quickstart(5)), Style::default())
    );
    let whole = compared(&one_run, Format::Text, Style::default());
    assert!(
        whole.contains("\nreadrandom: rocksdb-9.10 did 174 k operations per second.\n"),
        "{whole}"
    );
}

/// Goal: whatever was found, a text has the answer, five lines of warnings and one that counts the
/// rest, and nothing that was found is left out of the count.
#[test]
fn answer_has_five_lines_of_warnings_and_one_of_the_rest() {
    let mut fixture = alone(two_releases(5));
    let finding = |rule: &&lint::Rule| lint::LintFinding {
        code: rule.code,
        name: rule.name,
        severity: rule.severity,
        evidence: "readrandom: the evidence".to_owned(),
        remedy: "the remedy".to_owned(),
        place: lint::Place { steps: vec!["readrandom".to_owned()], ..lint::Place::default() },
        places: Vec::new(),
        waived: None,
    };
    fixture.findings = lint::rules().iter().map(finding).collect();
    fixture.findings.sort_by_key(|one| std::cmp::Reverse(one.weight()));
    for width in [60, 80, 120, 200] {
        let style = Style { width, ..Style::default() };
        let text = answer(&fixture, style);
        let (before, warnings) = text.split_once("\nWarnings\n").unwrap();
        let (shown, rest) = warnings.split_once("\n  assay lint releases shows ").unwrap();
        assert!((1..=5).contains(&shown.lines().count()), "{text}");
        assert!(rest.lines().count() <= 1 + 2 * usize::from(width < 150), "{text}");
        assert!(before.lines().count() <= 40, "{text}");
        let counts = rest.split_whitespace().filter_map(|word| word.parse::<usize>().ok());
        let entries = shown.matches("BLOCKING: ").count();
        assert_eq!(entries + counts.sum::<usize>(), lint::rules().len(), "{text}");
        let whole = compared(&fixture, Format::Text, style);
        assert!(whole.contains("\n  assay lint releases shows "), "{whole}");
    }
    let markdown = compared(&fixture, Format::Markdown, Style::default());
    for rule in lint::rules() {
        assert!(markdown.contains(&format!("{} {}", rule.code, rule.name)), "{}", rule.code);
    }
}

#[test]
fn curves_are_in_the_json() {
    let json = compared(&open_loops(), Format::Json, Style::default());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["rate_curves"].as_array().unwrap().len() >= 3);
    let json = compared(&sweep(), Format::Json, Style::default());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["scalability"][0]["levels"].as_array().unwrap().len(), 6);
}

#[test]
fn answer_has_open_loops_and_sweeps() {
    let answer = |fixture: &Fixture| answer(fixture, Style::default());
    insta::assert_snapshot!(answer(&open_loops()) + "\n=====\n\n" + &answer(&sweep()));
}
