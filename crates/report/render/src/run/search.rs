//! One search: its result, then every probe with its reason.

use model::validity::{Outcome, ProbeRecord, SearchRecord};
use model::{RunRecord, StepRecord, Unit};

use crate::document::{Part, Table, known};
use crate::figure::{digits, figure, limits};
use crate::label::run_name;
use crate::validity::{answer, is_of_clients, span};

/// Returns the search's part.
pub(super) fn searched(step: &StepRecord, search: &SearchRecord) -> Vec<Part> {
    let mut lines = vec![format!("{}: {}", step.step.name, answer(search))];
    if !search.ended.is_empty() {
        lines.push(format!("The search ended: {}.", search.ended.trim_end_matches('.')));
    }
    if search.is_path_dependent {
        lines.push(
            "A rate that had passed failed after a probe at a higher rate: the result depends on \
             the order of the probes."
                .to_owned(),
        );
    }
    let reason = |probe: &ProbeRecord| {
        format!("#{} {}: {}", probe.number, probe.outcome.name(), probe.reason)
    };
    let reasons = search.probes.iter().map(reason).collect();
    vec![Part::Sentences(lines), Part::Table(table(search)), Part::Items(reasons)]
}

/// Returns the probe tables of every search of a run, folded.
pub(crate) fn probe_tables(run: &RunRecord) -> Vec<Part> {
    let searches = run.steps.iter().filter_map(|step| Some((step, step.search.as_ref()?)));
    let folded = |(step, search): (&StepRecord, &SearchRecord)| {
        let mut table = table(search);
        table.labels("why", search.probes.iter().map(|probe| probe.reason.as_str()));
        let (run, name) = (run_name(&run.id), &step.step.name);
        let summary = format!("Probes of {run}, {name}: {}", answer(search));
        Part::Folded(summary, vec![Part::Table(table)])
    };
    searches.map(folded).collect()
}

fn table(search: &SearchRecord) -> Table {
    let of_clients = is_of_clients(search);
    // A closed loop does not measure waiting.
    let (what, time) =
        if of_clients { ("clients", "service") } else { ("offered\nops/s", "response") };
    let mut table = Table::new([
        "probe",
        "<purpose",
        what,
        "through-\nput/s",
        "good-\nput/s",
        &format!("{time}\np50"),
        "\np99",
        "\np99.9",
        "late [95 %]",
        "debt\ngrew by",
    ]);
    for probe in &search.probes {
        let load = if of_clients {
            probe.clients.to_string()
        } else {
            probe.offered_ops_per_s.map_or_else(|| "closed".to_owned(), ops)
        };
        let times = if of_clients { &probe.service } else { &probe.response };
        // Of an invalid probe without a valid interval nothing is known.
        let is_known = probe.outcome != Outcome::Invalid || probe.throughput_ops_per_s > 0.0;
        let shown = |text: String| known(is_known.then_some(text));
        table.push([
            format!("#{} {}", probe.number, probe.outcome.name()),
            probe.purpose.name().to_owned(),
            load,
            shown(ops(probe.throughput_ops_per_s)),
            shown(ops(probe.goodput_ops_per_s)),
            shown(span(times.p50_ns)),
            shown(span(times.p99_ns)),
            shown(span(times.p999_ns)),
            shown(late(probe)),
            debt(probe),
        ]);
    }
    table
}

fn ops(per_s: f64) -> String {
    figure(Unit::OpsPerSecond, per_s)
}

/// Returns the share of late operations with its interval, in per cent.
fn late(probe: &ProbeRecord) -> String {
    let percent = |share: f64| digits(100.0 * share);
    let (low, high) = probe.late_interval;
    format!("{} % {}", percent(probe.late_share), limits(percent(low), percent(high)))
}

/// Returns by how much the engine's debt grew.
fn debt(probe: &ProbeRecord) -> String {
    known(probe.debt_bytes.map(|(before, after)| {
        let sign = if after < before { "-" } else { "" };
        format!("{sign}{}", figure(Unit::Bytes, (after - before).abs()))
    }))
}
