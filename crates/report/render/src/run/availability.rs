//! Events of the steps of a run, with the availability after each.

use model::{EventRecord, Nanos, StepRecord, Unit};

use crate::comparison::{EVENT_COLUMNS, writes_sentence};
use crate::document::{Part, Table, known};
use crate::figure::figure;

fn seconds(time: Option<Nanos>) -> String {
    known(time.map(|time| figure(Unit::Seconds, time.as_secs_f64())))
}

/// Returns the events of a run's steps; nothing without any.
pub(crate) fn availability(steps: &[&StepRecord]) -> Vec<Part> {
    let rows: Vec<(&StepRecord, &EventRecord)> =
        steps.iter().flat_map(|step| step.events.iter().map(|event| (*step, event))).collect();
    let mut table = Table::named("step", rows.iter().map(|(step, _)| step.step.name.as_str()));
    table.labels("event", rows.iter().map(|(_, event)| event.planned.to_string()));
    let mut column = |heading: &str, value: &dyn Fn(&EventRecord) -> Option<Nanos>| {
        table.figures(heading, rows.iter().map(|(_, event)| seconds(value(event))));
    };
    column("began\nat", &|event| Some(event.action.start_ns));
    column("action\ntook", &|event| Some(event.action.length()));
    column("unavail-\nable", &|event| Some(event.unavailable()));
    column("longest", &|event| event.outages.iter().map(|outage| outage.length()).max());
    column("through-\nput back", &|event| event.throughput_back_ns);
    column("p99\nback", &|event| event.p99_back_ns);
    table.labels("failed operations", rows.iter().map(|(_, event)| event.failures.cell()));
    if rows.is_empty() {
        return Vec::new();
    }
    let policies = steps.iter().find_map(|step| step.reconnect).map(|policy| {
        format!(
            " Sessions connected again with a pause of {} after a failed attempt; a login may take \
             {}, a statement {}.",
            policy.pause_ns, policy.connect_within_ns, policy.statement_within_ns
        )
    });
    let meaning = format!("{EVENT_COLUMNS}{}", policies.unwrap_or_default());
    let writes = steps.iter().filter_map(|step| Some((step, step.writes?)));
    let writes = writes
        .map(|(step, it)| Part::Note(format!("{}: {}", step.step.name, writes_sentence(&it))));
    let parts = [Part::Table(table), Part::Note(meaning)].into_iter().chain(writes);
    Part::Text("Events".to_owned()).above(parts)
}
