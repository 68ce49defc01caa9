//! Warm-up trims in every output.

use std::collections::BTreeMap;

use model::Nanos;
use model::time_profile::{Stalls, TimeProfile, TrendClass};
use render::{Compared, Format, Meta, Report, RunReport, Style, render_answer, render_html};

use crate::fixture::{Fixture, two_releases};

const STEP: &str = "readrandom";

/// Two releases of which one is faster in its first 4 of 20 seconds of reading.
fn trimmed() -> Fixture {
    let mut fixture = two_releases(20);
    for run in &mut fixture.runs {
        let is_first = run.cell.variant == fixture.manifest.plan.experiment.base;
        let class = if is_first { TrendClass::SlowDown } else { TrendClass::Flat };
        let steady_from_ns = Nanos::from_secs(if is_first { 4 } else { 0 });
        for step in run.steps.iter_mut().filter(|step| step.step.name == STEP) {
            step.warmup_trim_ns = Some(Nanos::from_secs(4));
            step.time_profile = Some(TimeProfile {
                class,
                steady_from_ns,
                drifts: BTreeMap::new(),
                cycle: None,
                stalls: Stalls::default(),
                seconds: 16,
                long_run_variance: 0.0004,
                effective_seconds: 14.2,
            });
        }
    }
    fixture
}

#[test]
fn every_output_reports_the_trim_with_its_reason() {
    let fixture = trimmed();
    let expected = format!(
        "{STEP}: measured after 4 s in all runs, because not every run was steady before (--whole \
         counts everything)."
    );
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    let wide = Style { width: 400, ..Style::default() };
    for text in [
        compared.render(Format::Text, wide),
        compared.render(Format::Markdown, wide),
        render_answer(&compared, wide),
        render_html(&fixture.input()),
    ] {
        assert_eq!(text.matches(&expected).count(), 1, "{text}");
    }
}

#[test]
fn trimmed_part_is_shaded_in_the_picture_of_seconds() {
    let page = render_html(&trimmed().input());
    let (_, seconds) = page.split_once("<figure id=\"seconds\"").unwrap();
    let (seconds, _) = seconds.split_once("</figure>").unwrap();
    assert_eq!(seconds.matches("class=\"trimmed\"").count(), 2, "one panel per release");
    assert!(seconds.contains("measured after 4 s: slow-down before"), "{seconds}");
    assert!(!render_html(&two_releases(20).input()).contains("class=\"trimmed\""));
}

#[test]
fn run_has_its_time_profile() {
    let fixture = trimmed();
    let base = &fixture.manifest.plan.experiment.base;
    let run = fixture.runs.iter().find(|run| run.cell.variant == *base).unwrap();
    let text = RunReport { manifest: &fixture.manifest, run }
        .render(Format::Text, Style { width: 200, ..Style::default() });
    let expected = "Over time\nreadrandom: slow-down, then steady after 4 s; measured after 4 s: \
                slow-down before; 16 s are worth 14.2";
    assert!(text.contains(expected), "{text}");
}
