//! Step descriptions of an application, for the planner.

use model::sql::{CallMix, TrafficSpec};
use model::{Application, OpKind, StepInfo};

/// Returns the descriptions of the application's steps.
pub(crate) fn step_infos(application: &Application) -> Vec<StepInfo> {
    application.steps.iter().map(|step| info(application, step)).collect()
}

fn info(application: &Application, step: &TrafficSpec) -> StepInfo {
    let background = step.background.as_ref().map(|background| &background.call_mix);
    let kinds =
        step.clients.iter().chain(background).flat_map(|call_mix| kinds(application, call_mix));
    let ends_by_rows = step.rows.is_some() || matches!(step.clients, Some(CallMix::Once(_)));
    StepInfo {
        name: step.name.clone().into(),
        about: step.about.clone().into(),
        needs: kinds.collect(),
        role: step.role,
        share_of_rows: ends_by_rows.then_some(1.0),
        // The rate of its writers is the application's own.
        has_writer: false,
        is_single_client: false,
    }
}

fn kinds(application: &Application, call_mix: &CallMix) -> Vec<OpKind> {
    let positions: Vec<u16> = match call_mix {
        CallMix::Mix(weights) => weights.iter().map(|(position, _)| *position).collect(),
        CallMix::InTurn(list) | CallMix::Once(list) => list.clone(),
    };
    let kind = |position: u16| {
        application.procedures.get(usize::from(position)).map(|procedure| procedure.kind)
    };
    positions.into_iter().filter_map(kind).collect()
}
