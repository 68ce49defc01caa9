//! Checks that an application's step can be executed.

use model::sql::{CallMix, Copies, Draw, Procedure, Table};
use model::{Application, Step};
use workload::{WorkloadError, check_distribution};

use crate::payload::LETTERS_BYTES;
use crate::source::text_bytes;

/// Most bytes of the texts of one call: no server takes a statement that long.
const CALL_BYTES_MAX: u64 = 1 << 30;

/// Checks that `step` of the application can be executed.
///
/// # Errors
/// [`WorkloadError::UnknownStep`] when the application has no such step, else
/// [`WorkloadError::Step`], which names the procedure and the draw.
pub fn check_application(application: &Application, step: &Step) -> Result<(), WorkloadError> {
    let Some(traffic_spec) = application.step(&step.name) else {
        let known: Vec<_> = application.steps.iter().map(|step| step.name.as_str()).collect();
        return Err(WorkloadError::UnknownStep(step.name.clone(), known.join(", ")));
    };
    let wrong = |reason| WorkloadError::Step(step.name.clone(), reason);
    if step.clients == 0 {
        return Err(wrong("clients must be at least 1".to_owned()));
    }
    let background = traffic_spec.background.as_ref();
    if background.is_some_and(|it| !(it.rows_per_s > 0.0 && it.rows_per_s.is_finite())) {
        return Err(wrong("`rows_per_s` of `background` must be above 0".to_owned()));
    }
    let mut call_mixes =
        traffic_spec.clients.iter().chain(background.map(|background| &background.call_mix));
    if call_mixes.any(is_nothing) {
        return Err(wrong(
            "the traffic calls no procedure: name one, with a weight above 0".to_owned(),
        ));
    }
    check_procedures(application, traffic_spec.positions()).map_err(wrong)
}

/// Returns whether a mix calls nothing.
fn is_nothing(call_mix: &CallMix) -> bool {
    match call_mix {
        CallMix::Mix(weights) => weights.iter().all(|(_, weight)| *weight == 0),
        CallMix::InTurn(_) | CallMix::Once(_) => call_mix.positions().next().is_none(),
    }
}

fn check_procedures(
    application: &Application,
    positions: impl Iterator<Item = u16>,
) -> Result<(), String> {
    for at in positions {
        let procedure = application.procedures.get(usize::from(at));
        let procedure = procedure.ok_or_else(|| format!("there is no procedure {at}"))?;
        check_procedure(application, procedure)
            .map_err(|reason| format!("procedure `{}`: {reason}", procedure.name))?;
    }
    Ok(())
}

fn check_procedure(application: &Application, procedure: &Procedure) -> Result<(), String> {
    let table = application.tables.get(usize::from(procedure.table));
    let table = table.ok_or_else(|| format!("there is no table {}", procedure.table))?;
    if table.copies == Copies::Fixed(0) {
        return Err(format!("table `{}` needs at least one copy", table.name));
    }
    if procedure.rows == 0 && !procedure.row.is_empty() {
        return Err("the procedure draws values for rows and has no rows: give `rows`".to_owned());
    }
    for draws in [&procedure.arguments, &procedure.row] {
        for (at, draw) in draws.iter().enumerate() {
            check_draw(draw, at, table).map_err(|reason| format!("value {}: {reason}", at + 1))?;
        }
    }
    let bytes = |draws: &[Draw]| draws.iter().map(text_bytes).sum::<u64>();
    let rows = u64::from(procedure.rows);
    let call_bytes = bytes(&procedure.arguments).saturating_add(rows * bytes(&procedure.row));
    if call_bytes > CALL_BYTES_MAX {
        return Err(format!("a call has {call_bytes} bytes of text: the limit is 1 GiB"));
    }
    Ok(())
}

/// Checks the draw at position `at` among those made together.
fn check_draw(draw: &Draw, at: usize, table: &Table) -> Result<(), String> {
    match draw {
        Draw::Integer { distribution, from, count } => {
            let has_room = i64::try_from(*count).is_ok_and(|it| from.checked_add(it).is_some());
            if *count == 0 || !has_room {
                return Err("an integer's `count` must be 1 or more, below 2^63".to_owned());
            }
            check_distribution(distribution, *count)
        }
        Draw::Real { below, plus, scale } => {
            if !(below.is_finite() && scale.is_finite()) {
                return Err("`below` and `scale` of a real number must be finite".to_owned());
            }
            match plus {
                Some(plus) if usize::from(*plus) >= at => {
                    Err("`plus` must name a value that is drawn earlier".to_owned())
                }
                Some(_) | None => Ok(()),
            }
        }
        Draw::Payload { bytes_min, bytes_max, random } => {
            if !(0.0..=1.0).contains(random) {
                return Err("the random share of a payload must be from 0 to 1".to_owned());
            }
            if bytes_min > bytes_max || u64::from(*bytes_max) > LETTERS_BYTES as u64 {
                return Err("a payload's `bytes` must be a range up to 4 MiB".into());
            }
            Ok(())
        }
        Draw::Moment { calls_per_second: 0 } => {
            Err("a moment must have at least 1 call per second".to_owned())
        }
        Draw::Id | Draw::FirstId if table.id.is_none() => {
            Err(format!("table `{}` assigns no ids: name its id column", table.name))
        }
        Draw::Part { of, .. } | Draw::Syllables { of, .. } | Draw::Other { of, .. }
            if usize::from(*of) >= at =>
        {
            Err("the value is made of another, which must be drawn earlier".to_owned())
        }
        Draw::Pattern(_)
        | Draw::Moment { .. }
        | Draw::Id
        | Draw::FirstId
        | Draw::Number
        | Draw::Nurand { .. }
        | Draw::Chance(_)
        | Draw::Part { .. }
        | Draw::Syllables { .. }
        | Draw::Other { .. }
        | Draw::Read(_) => Ok(()),
    }
}
