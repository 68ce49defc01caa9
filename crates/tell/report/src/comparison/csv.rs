//! The comparison as comma-separated values: one line per step, variant and metric.

use analysis::{CellComparison, Comparison, Measured};
use model::metric;

use crate::figure::unit_name;

const HEADER: &str = "scope,clients,step_index,step,variant,metric,unit,runs_planned,n,median,min,\
                      max,ratio,ratio_low,ratio_high,p,q,verdict";

/// Returns every metric of every step and of whole runs; an unknown ratio is an empty field.
pub(super) fn render(comparison: &Comparison) -> String {
    let mut lines = vec![HEADER.to_owned()];
    let planned = comparison.repetitions;
    for step in &comparison.steps {
        let scope = format!("step,{},{},{}", step.clients, step.index, field(&step.name));
        lines.extend(step.cells.iter().flat_map(|cell| metrics(&scope, cell, planned)));
    }
    for runs in &comparison.runs {
        let scope = format!("run,{},,", runs.clients);
        lines.extend(runs.cells.iter().flat_map(|cell| metrics(&scope, cell, planned)));
    }
    lines.join("\n") + "\n"
}

fn metrics(scope: &str, cell: &CellComparison, planned: u32) -> Vec<String> {
    let line = |(name, measured): (&String, &Measured)| {
        let unit = metric::find(name).map_or("", |metric| unit_name(metric.unit));
        let spread = &measured.spread;
        let versus = measured.versus_base.map_or_else(
            || ",,,,,".to_owned(),
            |versus| {
                let of = |value: Option<f64>| value.map(|one| one.to_string()).unwrap_or_default();
                let low = of(versus.interval.map(|one| one.low));
                let high = of(versus.interval.map(|one| one.high));
                let verdict = format!("{:?}", versus.verdict).to_lowercase();
                format!("{},{low},{high},{},{},{verdict}", versus.ratio, of(versus.p), of(versus.q))
            },
        );
        let numbers = format!("{},{},{},{}", spread.n, spread.median, spread.min, spread.max);
        format!("{scope},{},{name},{unit},{planned},{numbers},{versus}", field(&cell.variant))
    };
    cell.metrics.iter().map(line).collect()
}

/// Returns `text` as a field, quoted where it must be.
///
/// Source: Y. Shafranovich, 2005, RFC 4180, section 2, rules 5 to 7.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
