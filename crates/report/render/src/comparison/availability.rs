//! Unavailability after the events of steps, over the runs of a comparison.

use analysis::{Distribution, EventSummary, Return, event_summaries, write_checks};
use model::{Unit, WriteCheck};
use serde_json::{Value, json};

use super::section::Section;
use crate::document::{Table, known};
use crate::figure::{count, figure};
use crate::input::Compared;
use crate::label::{step_heading, variant_label};

/// What the columns are.
pub(crate) const EVENT_COLUMNS: &str = "Unavailable is the time in which operations waited and no client had a \
                       success. Throughput and p99 are back in the first whole second after the \
                       event within 5 % of the median second before the first event; NA: not \
                       within the step.";

/// Returns what became of the writes of steps with events.
pub(crate) fn writes_sentence(check: &WriteCheck) -> String {
    let WriteCheck { rows, acknowledged, lost, failed, applied } = *check;
    let [rows, acknowledged, lost, failed, applied] =
        [rows, acknowledged, lost, failed, applied].map(count);
    format!(
        "Of {acknowledged} acknowledged writes to {rows} compared rows {lost} were lost, and \
         {applied} of {failed} failed ones were applied."
    )
}

/// Returns the section of the events of a comparison; `None` without any.
pub(super) fn section(compared: &Compared<'_>) -> Option<Section> {
    let comparison = compared.comparison;
    let tables = comparison.steps.iter().map(|step| {
        let rows: Vec<(String, EventSummary)> = step
            .cells
            .iter()
            .flat_map(|cell| {
                let label = variant_label(comparison, &cell.variant);
                let all = event_summaries(&compared.records(step, &cell.variant));
                all.into_iter().map(move |it| (format!("{}, {label}", it.planned), it))
            })
            .collect();
        table(step_heading(comparison, step), &rows)
    });
    let section = Section::of("Unavailability after events: medians of the runs", tables)?;
    let cells =
        comparison.steps.iter().flat_map(|step| step.cells.iter().map(move |it| (step, it)));
    let writes = cells.filter_map(|(step, cell)| {
        let check = write_checks(&compared.records(step, &cell.variant))?;
        let label = variant_label(comparison, &cell.variant);
        Some(format!("{}, {label}: {}", step.name, writes_sentence(&check)))
    });
    let remarks = std::iter::once(EVENT_COLUMNS.to_owned()).chain(writes).collect();
    Some(Section { remarks, ..section })
}

fn table(heading: String, rows: &[(String, EventSummary)]) -> Table {
    let mut table = Table::named(heading, rows.iter().map(|(label, _)| label.as_str()));
    let time = |seconds: f64| figure(Unit::Seconds, seconds);
    let median = |it: &Distribution| match it.interval {
        Some((low, high)) => format!("{} [{}, {}]", time(it.median), time(low), time(high)),
        None => time(it.median),
    };
    let of = |value: &dyn Fn(&Distribution) -> String| -> Vec<String> {
        rows.iter().map(|(_, event)| value(&event.unavailable_s)).collect()
    };
    table.figures("unavailable\n[95 %]", of(&median));
    table.figures("min", of(&|it| time(it.min)));
    table.figures("1st\nquartile", of(&|it| time(it.q1)));
    table.figures("3rd\nquartile", of(&|it| time(it.q3)));
    table.figures("max", of(&|it| time(it.max)));
    let back = |it: &EventSummary, of: Return| match of.median {
        Some(median) if of.runs == it.runs => time(median),
        Some(median) => format!("{} in {} of {}", time(median), of.runs, it.runs),
        None => known(None),
    };
    table.figures(
        "throughput\nback",
        rows.iter().map(|(_, event)| back(event, event.throughput_back_s)),
    );
    table.figures("p99\nback", rows.iter().map(|(_, event)| back(event, event.p99_back_s)));
    table.labels("failed, all runs", rows.iter().map(|(_, event)| event.failures.cell()));
    table
}

/// Returns the same for JSON; `None` without events.
pub(super) fn data(compared: &Compared<'_>) -> Option<Value> {
    let comparison = compared.comparison;
    let mut all = Vec::new();
    for step in &comparison.steps {
        for cell in &step.cells {
            let records = compared.records(step, &cell.variant);
            let (events, writes) = (event_summaries(&records), write_checks(&records));
            let head = json!({
                "step": step.name, "variant": cell.variant, "events": events, "writes": writes,
            });
            all.extend((!events.is_empty()).then_some(head));
        }
    }
    (!all.is_empty()).then(|| json!({ "availability": all }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_applied_writes_are_counted_in_a_sentence() {
        let check = WriteCheck { rows: 750, acknowledged: 12_007, lost: 0, failed: 2, applied: 1 };
        let expected = "Of 12,007 acknowledged writes to 750 compared rows 0 were lost, and 1 of \
                        2 failed ones were applied.";
        assert_eq!(writes_sentence(&check), expected);
    }
}
