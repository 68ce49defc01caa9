//! The text format of Prometheus.
//!
//! Source: Prometheus documentation, "Exposition formats", text-based format 0.0.4, and "Metric and
//! label naming": a prefix, base units, a suffix with the unit. A node exporter refuses samples
//! with time stamps in its text files, so they have none.

use std::fmt::Write as _;

use model::metric::{Metric, Unit};
use model::{Manifest, RunRecord};

use super::points::{by_metric, labels_of, points};

/// A unit of ours: its part of names, and the base unit with its size.
struct BaseUnit {
    own: &'static str,
    base: &'static str,
    factor: f64,
}

/// Returns runs as text for the directory of a node exporter.
///
/// Every metric is a gauge: a counter of ours is its growth over one step that has ended.
pub fn render_prometheus(manifest: &Manifest, runs: &[RunRecord]) -> String {
    let mut text = String::new();
    let complete = runs
        .iter()
        .map(|run| (labels_of(manifest, run), if run.end.is_complete() { 1.0 } else { 0.0 }));
    let help = "whether every step of the run was executed";
    write_metric(&mut text, "assay_run_complete", help, complete);
    let points = points(manifest, runs);
    for (metric, values) in by_metric(&points) {
        let unit = base_unit(metric.unit);
        let samples = values.into_iter().map(|(point, value)| {
            (point.labels.clone(), unit.as_ref().map_or(value, |unit| value * unit.factor))
        });
        write_metric(&mut text, &name(metric, unit.as_ref()), metric.meaning, samples);
    }
    text
}

/// Writes a metric with its samples; without samples nothing.
fn write_metric(
    text: &mut String,
    name: &str,
    help: &str,
    samples: impl Iterator<Item = (Vec<(&'static str, String)>, f64)>,
) {
    const NEVER: &str = "writing to a text does not fail";
    let help = help.replace('\\', "\\\\").replace('\n', "\\n");
    for (at, (labels, value)) in samples.enumerate() {
        if at == 0 {
            write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n").expect(NEVER);
        }
        let label = |(key, value): &(&str, String)| format!("{key}=\"{}\"", escaped(value));
        let labels: Vec<_> = labels.iter().map(label).collect();
        writeln!(text, "{name}{{{}}} {value:?}", labels.join(",")).expect(NEVER);
    }
}

/// Escapes the value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the base unit of a unit that is none itself.
fn base_unit(unit: Unit) -> Option<BaseUnit> {
    let (own, base, factor) = match unit {
        Unit::Nanos => ("ns", "seconds", 1e-9),
        Unit::Micros => ("us", "seconds", 1e-6),
        Unit::Seconds => ("s", "seconds", 1.0),
        Unit::Kibibytes => ("kib", "bytes", 1024.0),
        Unit::Megahertz => ("mhz", "hertz", 1e6),
        Unit::Microjoules => ("uj", "joules", 1e-6),
        Unit::Count
        | Unit::Bytes
        | Unit::Share
        | Unit::Ratio
        | Unit::OpsPerSecond
        | Unit::Celsius => return None,
    };
    Some(BaseUnit { own, base, factor })
}

/// Returns the name of a metric with its base unit.
fn name(metric: &Metric, unit: Option<&BaseUnit>) -> String {
    let part = |part| match unit {
        Some(unit) if part == unit.own => unit.base,
        _ => part,
    };
    let parts: Vec<_> = metric.name.split('_').map(part).collect();
    let name = format!("assay_{}", parts.join("_"));
    name.strip_suffix("_per_s").map_or_else(|| name.clone(), |start| format!("{start}_per_second"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::metric::METRICS;

    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own_in_base_units() {
        let names: BTreeSet<_> =
            METRICS.iter().map(|metric| name(metric, base_unit(metric.unit).as_ref())).collect();
        assert_eq!(names.len(), METRICS.len());
        for name in names {
            let parts: Vec<_> = name.split('_').collect();
            let other = ["ns", "us", "s", "kib", "mhz", "uj", "ms"];
            assert!(!other.iter().any(|unit| parts.contains(unit)), "{name}");
            // Suffixes of other types. Source: promtool check metrics.
            let suffixes = ["_total", "_count", "_sum", "_bucket"];
            assert!(!suffixes.iter().any(|suffix| name.ends_with(suffix)), "{name}");
        }
    }

    #[test]
    fn labels_are_escaped() {
        let mut text = String::new();
        let labels = vec![("variant", "a\"b\\c\nd".to_owned())];
        write_metric(&mut text, "assay_x", "two\nlines", [(labels, 1.5)].into_iter());
        let expected = "# HELP assay_x two\\nlines\n# TYPE assay_x gauge\n\
                        assay_x{variant=\"a\\\"b\\\\c\\nd\"} 1.5\n";
        assert_eq!(text, expected);
    }
}
