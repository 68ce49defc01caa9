//! Printed figures, and the ratios printed with them.

use std::collections::BTreeMap;

use model::Nanos;
use model::metric::METRICS;
use proptest::prelude::*;
use render::{Compared, Format, Meta, MetricReport, Report, Style};

use crate::fixture::{Fixture, controlled, ibench, open_loops, published, quickstart, sweep};
use crate::published::csv_fields;

type Line = BTreeMap<String, String>;

/// Fields that a line shares with the line of its base.
const PLACE: [&str; 5] = ["scope", "clients", "step_index", "part", "metric"];

fn with<T>(fixture: &Fixture, render: impl Fn(&Compared<'_>) -> T) -> T {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    render(&Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings))
}

/// Returns the ratios of the CSV format, each with the quotient of the means in its lines.
fn in_csv(fixture: &Fixture) -> Vec<(f64, f64)> {
    let csv = with(fixture, |it| it.render(Format::Csv, Style::default()));
    let mut lines = csv.lines().map(csv_fields);
    let names = lines.next().unwrap();
    let lines: Vec<Line> =
        lines.map(|fields| names.iter().cloned().zip(fields).collect()).collect();
    let place = |line: &Line| PLACE.map(|name| line[name].clone());
    let mut bases = BTreeMap::new();
    for line in lines.iter().filter(|line| line["role"] == "base") {
        bases.entry(place(line)).or_insert_with(|| line["mean"].clone());
    }
    let number = |text: &str| text.parse::<f64>().unwrap();
    let with_ratio = lines.iter().filter(|line| !line["ratio"].is_empty());
    let pair = |line: &Line| {
        let against = &line["against_mean"];
        let base = if against.is_empty() { &bases[&place(line)] } else { against };
        (number(&line["ratio"]), number(&line["mean"]) / number(base))
    };
    with_ratio.map(pair).collect()
}

/// Returns the least and the most that a printed number may stand for; `None` of `<0.001`.
fn bounds(text: &str) -> Option<[f64; 2]> {
    let (number, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let suffix = rest.split(' ').next().unwrap_or_default();
    let scale = match suffix {
        "k" | "\u{b5}s" => 1e3,
        "M" | "ms" => 1e6,
        "G" | "s" => 1e9,
        "KiB" => 1_024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => 1.0,
    };
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap()) * (1.0 + 1e-9);
    let value: f64 = number.parse().ok()?;
    Some([(value - half) * scale, (value + half) * scale])
}

/// Holds each ratio of one metric's tables against the figures printed with it; returns how many.
fn in_text(compared: &Compared<'_>, metric: &str) -> usize {
    let style = Style { width: 300, ..Style::default() };
    let text = MetricReport::of(compared, metric);
    let text = text.map(|it| it.render(Format::Text, style)).unwrap_or_default();
    let mut base = None;
    let mut checked = 0;
    for line in text.lines() {
        let cells: Vec<&str> = line.split("  ").filter(|cell| !cell.is_empty()).collect();
        let [name, _, figure, rest @ ..] = &cells[..] else { continue };
        if name.ends_with("(base)") {
            base = bounds(figure);
        }
        let ratio = rest.first().and_then(|ratio| bounds(ratio));
        let Some(((ratio, own), base)) = ratio.zip(bounds(figure)).zip(base) else { continue };
        let quotient = [own[0] / base[1], own[1] / base[0]];
        let is_possible = ratio[0] <= quotient[1] && (quotient[0] <= ratio[1] || base[0] <= 0.0);
        assert!(is_possible, "{metric}: {line}\n{text}");
        checked += 1;
    }
    checked
}

fn assert_agree(fixture: &Fixture) {
    let ratios = in_csv(fixture);
    assert!(ratios.len() > 20, "{}", ratios.len());
    for (ratio, quotient) in ratios {
        assert!((ratio / quotient - 1.0).abs() < 1e-9, "{ratio} is not {quotient}");
    }
    let checked: usize =
        with(fixture, |it| METRICS.iter().map(|metric| in_text(it, metric.name)).sum());
    assert!(checked > 20, "{checked}");
}

#[test]
fn printed_ratio_is_the_quotient_of_the_printed_figures() {
    for fixture in [quickstart(5), controlled(), open_loops(), sweep(), ibench(), published()] {
        assert_agree(&fixture);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Goal: the same of random runs, in pairs and not, with one that does not count.
    #[test]
    fn ratio_of_random_runs_is_the_quotient_of_the_figures(
        percents in prop::collection::vec(50..200_u64, 18),
        is_paired: bool,
        invalid in prop::option::of(0..9_usize),
    ) {
        let mut fixture = if is_paired { controlled() } else { published() };
        for (run, percent) in fixture.runs.iter_mut().zip(percents) {
            for step in &mut run.steps {
                step.duration_ns = Nanos(step.duration_ns.0 / 100 * percent);
            }
        }
        if let Some(index) = invalid {
            fixture.runs[index].invalid = Some("the client was late".to_owned());
        }
        assert_agree(&fixture.compared());
    }
}
