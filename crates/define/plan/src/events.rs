//! The events of a step's table, and their times.

use model::{EVENT_STEP_MAX, Step, StepEvent, StepInfo, StepRole, StopRule};
use reader::error::PlanError;
use reader::place::Place;

use crate::settings::{AT, DO, EVENTS};
use crate::spec::Section;

/// Returns the events that a step's table requests.
///
/// # Errors
/// Events of a step that does not end by duration or fills the engine, and times that are not
/// possible.
pub(crate) fn requested(
    table: &Section,
    info: &StepInfo,
    stop: StopRule,
) -> Result<Vec<StepEvent>, PlanError> {
    if table.get(EVENTS).is_none() {
        return Ok(Vec::new());
    }
    let tables = table.tables.as_deref().unwrap_or_default();
    let refuse = |at: Place, why: String, remedy: &str| {
        Err(PlanError::here(at, format!("step {}: {why}", info.name)).remedy(remedy))
    };
    let length = match stop {
        StopRule::Duration(length) if info.role != StepRole::Load => length,
        StopRule::Duration(_) | StopRule::Operations(_) => {
            let remedy = "write the events into a step that ends by duration, such as overwrite";
            let why = "events have times, and the step ends by count".to_owned();
            return refuse(table.place_of(EVENTS), why, remedy);
        }
    };
    if Step::new(&*info.name, stop).adds_rows() {
        let why = "its reads expect rows whose insert may fail at an event".to_owned();
        let remedy = "write the events into another step, such as ycsb-a";
        return refuse(table.place_of(EVENTS), why, remedy);
    }
    if length > EVENT_STEP_MAX {
        let why = format!("a step with events lasts at most {EVENT_STEP_MAX}, and not {length}");
        return refuse(table.place_of(EVENTS), why, "give a shorter `duration`");
    }
    let event = |one: &Section| Some(StepEvent { at: one.value(AT)?, kind: one.value(DO)? });
    let events: Vec<StepEvent> = tables.iter().filter_map(event).collect();
    if events.len() < tables.len() || table.is_partial {
        // What is wrong has been reported.
        return Ok(Vec::new());
    }
    match StepEvent::check_all(&events, length) {
        Err(fault) => refuse(tables[fault.index].place.clone(), fault.why, &fault.remedy),
        Ok(()) => Ok(events),
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;
    use model::{EventKind, Nanos};

    use super::*;
    use crate::tests::sample::{checked, experiment};

    const LAST: &str = "\"readwhilewriting\"";

    fn step(events: &str) -> String {
        format!("{{ step = \"readwhilewriting\", duration = \"10s\", events = [{events}] }}")
    }

    #[test]
    fn events_of_a_step_are_read_with_their_times() {
        let events = "{ at = \"2s\", do = \"reopen\" }, { at = \"4500ms\", do = \"reopen\" }";
        let read = experiment(LAST, &step(events)).steps.remove(2).events;
        let at = |ms| StepEvent { at: Nanos::from_millis(ms), kind: EventKind::Reopen };
        assert_eq!(read, [at(2_000), at(4_500)]);
    }

    #[test]
    fn an_embedded_engine_has_faults_of_its_disk_before_it_is_opened_again() {
        let events = "{ at = \"1s\", do = \"disk_full\" }, { at = \"2s\", do = \"disk_free\" }, { \
                      at = \"3s\", do = \"reopen\" }";
        let read = experiment(LAST, &step(events));
        assert!(read.has_disk_events() && read.load_number(1).is_none());
    }

    #[test]
    fn events_that_cannot_be_done_are_refused_with_a_remedy() {
        let reopen = "{ at = \"2s\", do = \"reopen\" }";
        for (old, new, why) in [
            (LAST, step("{ at = \"10s\", do = \"reopen\" }"), "is too late for the step"),
            (LAST, step("{ at = \"2s\", do = \"kill\" }"), "the engine runs in the client"),
            (LAST, step("{ at = \"2s\", do = \"kil\" }"), "unknown do `kil`"),
            (LAST, step("{ at = \"2s\", do = \"network_cut\" }"), "has no end"),
            (LAST, step("{ at = \"2s\", do = \"failover\" }"), "the engine runs in the client"),
            (LAST, step("{ at = \"2s\", do = \"fsync_fails\" }"), "until it is opened again"),
            (LAST, step("{ at = \"2s\", do = \"disk_full\" }"), "has no end"),
            (LAST, step("{ at = \"2s\" }"), "missing field `do`"),
            (LAST, step("{ at = \"soon\", do = \"kill\" }"), "soon"),
            (LAST, step(&format!("{reopen}, {reopen}")), "is not later than"),
            (
                "\"fillseq\"",
                format!("{{ step = \"fillseq\", events = [{reopen}] }}"),
                "the step ends by count",
            ),
            (LAST, step(reopen).replace("10s", "2h"), "a step with events lasts at most"),
            (
                LAST,
                step(reopen).replace(" }] }", " }], load = { sla = \"p99 < 2ms\" } }"),
                "events need a closed loop or a rate",
            ),
        ] {
            let error = checked(old, &new).unwrap_err();
            let text = format!("{error:?}");
            assert!(error.to_string().contains(why) || text.contains(why), "{why}: {text}");
            let has_remedy = error.help().is_some() || why.starts_with("missing") || why == "soon";
            assert!(has_remedy, "{why}: {text}");
        }
    }
}
