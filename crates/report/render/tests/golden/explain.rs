//! Explanations in every format.

use analysis::explain::{Question, StepProfiles, explain};
use analysis::{Explanation, compare};
use model::validity::Calibration;
use model::{Nanos, RunRecord, metric};
use render::{Compared, Explained, Format, Meta, Report, Style};

use crate::fixture::{Fixture, quickstart};

/// Explains the reads of two variants, of whose time this share is accounted for.
fn explained(fixture: &mut Fixture, evidence: f64, blocking: &[String], format: Format) -> String {
    for run in &mut fixture.runs {
        wait(run, evidence);
    }
    let experiment = &fixture.manifest.plan.experiment;
    let (base, variant) = ("rocksdb-9.10", "lmdb");
    let comparison =
        compare(&fixture.runs, experiment, base, &analysis::NoiseHistory::default()).unwrap();
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&comparison, &meta, &fixture.runs, host, &[]);
    let question = |step| Question {
        experiment,
        runs: &fixture.runs,
        comparison: &comparison,
        step,
        variant,
        metric: None,
        cpus: host.cpus,
        blocking,
        profiles: StepProfiles::default(),
    };
    let reads = comparison.steps.iter().filter(|step| step.name == "readrandom");
    let explanations: Vec<Explanation> =
        reads.filter_map(|step| explain(&question(step))).collect();
    let style = Style::default();
    Explained { compared: &compared, explanations: &explanations, storage: &[] }
        .render(format, style)
}

/// Adds wait counters to a run for this share of its time.
pub(crate) fn wait(run: &mut RunRecord, evidence: f64) {
    run.calibration = Some(Calibration {
        clients: 1,
        closed_ns_per_op: 90.0,
        ceiling_ops_per_s: 1e7,
        start_lag: None,
        start_lag_ops_per_s: None,
    });
    for step in run.steps.iter_mut().filter(|step| !step.clients.is_empty()) {
        let Nanos(ns) = step.duration_ns;
        let of = |name: &str| step.counters.get(name).copied().unwrap_or_default();
        let clients_us = ns as f64 / 1e3 * f64::from(step.step.clients);
        let cpu = of("client_cpu_user_us") + of("client_cpu_kernel_us");
        let waited = (clients_us - cpu) * evidence;
        *step.counters.get_mut("client_cpu_user_us").unwrap() *= evidence;
        let waits = [
            ("client_run_queue_us", 0.01),
            ("client_storage_wait_us", 0.29),
            ("client_sleep_us", 0.70),
        ];
        for (name, share) in waits {
            step.counters.insert(name.to_owned(), waited * share);
        }
    }
}

#[test]
fn explanation_is_headline_account_and_untested_causes() {
    let text = explained(&mut quickstart(5), 0.98, &[], Format::Text);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "wider than the style:\n{text}");
    insta::assert_snapshot!(text);
}

/// Adds the counters of a server and its network to a run: its share of the operations' time.
fn serve(run: &mut RunRecord, share: f64) {
    for step in run.steps.iter_mut().filter(|step| !step.clients.is_empty()) {
        let ops: u64 = step.clients.values().map(|it| it.response.count).sum();
        let median = step.clients.values().map(|it| it.response.p50_ns).max().unwrap_or(0) as f64;
        for (metric, per_op) in [
            (metric::SERVER_CPU_USER_US, 0.1),
            (metric::NETWORK_RECEIVED_BYTES, 188.0),
            (metric::NETWORK_SENT_BYTES, 1_250.0 + 100.0 * share),
            (metric::NETWORK_RECEIVED_PACKETS, 2.0),
            (metric::NETWORK_SENT_PACKETS, 2.0),
            (metric::TCP_RETRANSMITS, 0.0),
            (metric::HOST_SOFTIRQ_US, 1.4),
        ] {
            step.counters.set(metric, per_op * ops as f64);
        }
        step.gauges_end.set(metric::SERVER_ROUND_TRIP_US, median * share / 1e3);
    }
}

#[test]
fn network_is_counted_per_operation_and_as_a_share_of_the_response_time() {
    let mut fixture = quickstart(5);
    for run in &mut fixture.runs {
        serve(run, if run.cell.variant == "lmdb" { 0.2 } else { 0.125 });
    }
    let text = explained(&mut fixture, 0.98, &[], Format::Text);
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("Network per operation")).unwrap();
    insta::assert_snapshot!(lines[at..at + 5].join("\n"));
    let document = explained(&mut fixture, 0.98, &[], Format::Json);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let network = &document["explanations"][0]["network"];
    assert_eq!(network["per_op"].as_array().map(Vec::len), Some(6));
    assert_eq!(network["per_op"][1]["metric"], "network_sent_bytes");
    assert_eq!(network["per_op"][1]["value"]["base"], 1_262.5);
    assert_eq!(network["round_trip"]["share"]["base"], 0.125);
}

#[test]
fn markdown_has_the_same_explanation() {
    insta::assert_snapshot!(explained(&mut quickstart(5), 0.98, &[], Format::Markdown));
}

#[test]
fn large_residual_leaves_the_account_without_claim() {
    let text = explained(&mut quickstart(5), 0.5, &[], Format::Text);
    assert!(text.contains("Not explained: ") && !text.contains("In the same runs"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn bogus_comparison_has_no_account() {
    let blocking = ["A001 durability mismatch: lmdb does not sync".to_owned()];
    let text = explained(&mut quickstart(5), 0.98, &blocking, Format::Text);
    assert!(text.contains("Not explained: A001 durability mismatch"), "{text}");
    assert!(!text.contains('\u{2588}') && !text.contains("times"), "{text}");
}

#[test]
fn json_has_every_part() {
    let text = explained(&mut quickstart(5), 0.98, &[], Format::Json);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = &document["explanations"][0];
    assert_eq!(one["subject"], "time_per_operation");
    assert_eq!(one["account"]["components"].as_array().map(Vec::len), Some(6));
    assert_eq!((&one["rung"], &document["label"]), (&"association".into(), &"true".into()));
}
