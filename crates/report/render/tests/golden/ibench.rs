//! The Insert Benchmark over servers: rates, rows, missed targets.

use model::record::SERVER_NOT_COUNTED;
use model::{ClientHost, Hosts, RunRecord, metric};
use render::{
    Compared, Format, Lines, Meta, Report, RunReport, Style, one_line, render_answer, render_html,
};

use crate::fixture::{Fixture, ibench};
use crate::lines::parsed;
use crate::page::{assert_well_nested, store};
use crate::settle::explained;

fn rendered(fixture: &Fixture, format: Format, has_costs: bool) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    compared.render(format, Style { has_costs, ..Style::default() })
}

#[test]
fn missed_insert_rates_stand_in_brackets() {
    insta::assert_snapshot!(rendered(&ibench(), Format::Text, false));
}

#[test]
fn costs_have_server_and_client_then_ten_buckets() {
    let text = rendered(&ibench(), Format::Text, true);
    let (_, costs) = text.split_once("Costs per operation").unwrap();
    insta::assert_snapshot!(costs);
}

/// Goal: what is written per row put is one figure, in costs and in lines, next to queries too.
/// Method: the mean of runs that differ by 1 % is geometric here and arithmetic there.
#[test]
fn writes_per_row_put_are_those_of_the_lines() {
    let fixture = ibench();
    let lines = parsed(&fixture, Lines::Ibench);
    assert!(lines.len() > 3, "{} lines", lines.len());
    for line in lines {
        let mut steps = fixture.comparison.steps.iter();
        let step = steps.find(|step| line["step"] == step.name.as_str()).unwrap();
        let cell = step.cells.iter().find(|cell| line["variant"] == cell.variant.as_str()).unwrap();
        for (column, metric) in [
            ("wpi", metric::SERVER_WRITES_PER_ROW_PUT),
            ("wkbpi", metric::SERVER_WRITE_KIB_PER_ROW_PUT),
        ] {
            let mean = cell.metric(metric).unwrap().spread.mean;
            let shown = line["values"][column].as_f64().unwrap();
            assert!((shown / mean - 1.0).abs() < 1e-3, "{line}: {mean}");
        }
    }
}

#[test]
fn markdown_has_the_same_parts() {
    let text = rendered(&ibench(), Format::Markdown, true);
    for expected in [
        "## Rows per second of the background writers",
        "| target ",
        "610 missed",
        "In brackets: the background writers reached less",
        "## Service times in the ten buckets",
    ] {
        assert!(text.contains(expected), "missing: {expected}\n{text}");
    }
}

#[test]
fn csv_and_json_have_the_rates_and_the_buckets() {
    let fixture = ibench();
    let csv = rendered(&fixture, Format::Csv, false);
    // No field here is quoted.
    let fields = |line: &str| line.split(',').count();
    let expected = fields(csv.lines().next().unwrap());
    assert!(csv.lines().all(|line| fields(line) == expected));
    let shown = csv.lines().filter(|line| {
        line.contains("qr1000")
            && (line.contains("writer_rate_share") || line.contains("queries <=256us"))
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
    let json: serde_json::Value =
        serde_json::from_str(&rendered(&fixture, Format::Json, false)).unwrap();
    let first = &json["histograms"][0];
    assert_eq!((&first["operations"], &first["step"]), (&"inserts".into(), &"l.i0".into()));
    assert_eq!(json["comparison"]["steps"][0]["unit"], "row");
}

#[test]
fn answer_marks_missed_rates() {
    let fixture = ibench();
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    insta::assert_snapshot!(render_answer(&compared, Style { width: 150, ..Style::default() }));
}

#[test]
fn server_run_has_all_21_columns() {
    let fixture = ibench();
    let run = fixture.runs.iter().find(|run| run.cell.id == "innodb-8.0.c1.r1").unwrap();
    let style = Style { width: 190, ..Style::default() };
    let text = RunReport { manifest: &fixture.manifest, run }.render(Format::Text, style);
    // Four more are shown where the server's writes are not known.
    assert_eq!(render::COLUMNS.len(), 21 + 4);
    assert!(!text.contains("dev_"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn missing_counters_of_a_server_are_shown_with_their_reason() {
    let mut fixture = ibench();
    let run = &mut fixture.runs[0];
    let facts = &mut run.identity.as_mut().unwrap().facts;
    facts.insert(SERVER_NOT_COUNTED.to_owned(), "no control group".to_owned());
    let text = RunReport { manifest: &fixture.manifest, run: &fixture.runs[0] }
        .render(Format::Text, Style { width: 190, ..Style::default() });
    assert!(text.contains("that are NA are not counted: no control group."), "{text}");
}

/// Goal: the machines of an experiment with hosts are named wherever the host is. Method: the page,
/// the verdict and a run of an experiment that has some.
#[test]
fn machines_of_server_and_clients_are_named() {
    let mut fixture = ibench();
    let clients = ["c1", "c2"].map(str::to_owned);
    let hosts = Hosts { server: "db1".to_owned(), clients: clients.to_vec(), ..Hosts::default() };
    fixture.manifest.plan.experiment.hosts = Some(hosts);
    let named = "clients on c1, c2; server on db1: ";
    assert!(rendered(&fixture, Format::Text, false).contains(named));
    assert!(render_html(&fixture.input()).contains(named));
    let mut run =
        fixture.runs.iter().find(|run| run.cell.id == "innodb-8.0.c1.r1").unwrap().clone();
    let cpu_percent = |run: &RunRecord| {
        let line = one_line(&fixture.manifest, run, &run.steps[0]);
        let (_, text) = line.into_iter().find(|(name, _)| *name == "cpups").unwrap();
        text.parse::<f64>().unwrap()
    };
    let alone = cpu_percent(&run);
    let host = &fixture.manifest.host;
    let client = |name| ClientHost { name, host: host.clone(), ..ClientHost::default() };
    run.client_hosts = clients.map(client).to_vec();
    // Three hosts have three times the CPUs.
    assert!((3.0 * cpu_percent(&run) - alone).abs() <= 0.2, "{alone}");
    let text = RunReport { manifest: &fixture.manifest, run: &run }
        .render(Format::Text, Style { width: 190, ..Style::default() });
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("is excluded. The clients' CPU is that of their hosts."), "{text}");
}

#[test]
fn page_has_no_ratio_of_missed_rates() {
    let page = render_html(&ibench().input());
    store("ibench.html", page.as_bytes());
    assert_well_nested(&page);
    for expected in [
        "Rows per second of the background writers",
        "610 missed",
        "rows/s",
        "Service times in the ten buckets",
        "for a server, the CPU time is measured for its control group",
    ] {
        assert!(page.contains(expected), "missing: {expected}");
    }
}

#[test]
fn more_cpu_per_row_is_explained_by_the_server() {
    insta::assert_snapshot!(explained(&ibench(), &["l.i1", "qr1000"], Format::Text));
}
