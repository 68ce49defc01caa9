//! Metrics of OpenTelemetry: a file in the JSON encoding of OTLP.
//!
//! Source: OpenTelemetry, "OTLP Specification", JSON Protobuf encoding, and "OpenTelemetry Protocol
//! File Exporter": one line for each request. Units: The Unified Code for Units of Measure. The
//! crate `opentelemetry-proto` would bring the SDK and its futures; a test parses the lines with
//! the official library for Python.

use jiff::Timestamp;
use model::metric::Unit;
use model::{Manifest, Nanos, RunRecord};
use serde_json::{Value, json};

use super::points::{Point, by_metric, points};

/// Returns runs as one line of OTLP in JSON, each metric a gauge at the end of its step.
pub fn render_otlp(manifest: &Manifest, runs: &[RunRecord]) -> String {
    let points = points(manifest, runs);
    let metrics = by_metric(&points).map(|(metric, values)| {
        let points: Vec<_> = values.into_iter().map(|(point, value)| data(point, value)).collect();
        json!({
            "name": format!("assay.{metric}"),
            "description": metric.meaning,
            "unit": unit(metric.unit),
            "gauge": { "dataPoints": points },
        })
    });
    let version = &manifest.assay_version;
    let resource = [("service.name", "assay"), ("service.version", version)];
    let metrics = json!({
        "resourceMetrics": [{
            "resource": { "attributes": attributes(resource) },
            "scopeMetrics": [{
                "scope": { "name": "assay", "version": version },
                "metrics": metrics.collect::<Vec<_>>(),
            }],
        }],
    });
    format!("{metrics}\n")
}

/// Returns a value as a data point.
fn data(point: &Point<'_>, value: f64) -> Value {
    let labels = point.labels.iter().map(|(key, value)| (*key, value.as_str()));
    let mut data = json!({ "attributes": attributes(labels), "asDouble": value });
    if let Ok(began) = point.step.started_at.parse::<Timestamp>() {
        let Nanos(length) = point.step.duration_ns;
        // The encoding writes whole numbers of 64 bits as texts.
        data["startTimeUnixNano"] = json!(began.as_nanosecond().to_string());
        let end = began.as_nanosecond().saturating_add(length.into());
        data["timeUnixNano"] = json!(end.to_string());
    }
    data
}

fn attributes<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Value> {
    let attribute = |(key, value)| json!({ "key": key, "value": { "stringValue": value } });
    labels.into_iter().map(attribute).collect()
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Count | Unit::Share | Unit::Ratio => "1",
        Unit::Bytes => "By",
        Unit::Kibibytes => "KiBy",
        Unit::Micros => "us",
        Unit::Nanos => "ns",
        Unit::Seconds => "s",
        Unit::OpsPerSecond => "{operation}/s",
        Unit::Megahertz => "MHz",
        Unit::Celsius => "Cel",
        Unit::Microjoules => "uJ",
    }
}
