//! The steps of an application, for planner and runner.

use model::sql::{CallMix, TrafficSpec};
use model::{Application, Arrivals, Load, OpenLoad, Pace, Pacing, Rate, StepInfo};

/// Returns the steps of the application in its own order.
///
/// [`Application::calls`] counts the calls of a step; `share_of_rows` is what that comes to
/// for each row loaded, where it depends on nothing else.
pub fn step_infos(application: &Application) -> Vec<StepInfo> {
    application.steps.iter().map(|traffic_spec| info(application, traffic_spec)).collect()
}

fn info(application: &Application, traffic_spec: &TrafficSpec) -> StepInfo {
    let background = traffic_spec.background.as_ref().map(|background| &background.call_mix);
    let called = traffic_spec.clients.iter().chain(background).flat_map(procedures_of);
    let kinds = called.filter_map(|at| application.procedures.get(usize::from(at)));
    let share = |call_mix: &CallMix| match (call_mix, traffic_spec.rows) {
        (CallMix::Once(_), _) => Some(0.0),
        (_, rows) => rows.map(|rows| rows.share / application.rows_per_call(call_mix)),
    };
    StepInfo {
        name: traffic_spec.name.clone().into(),
        about: traffic_spec.about.clone().into(),
        needs: kinds.map(|procedure| procedure.kind).collect(),
        role: traffic_spec.role,
        share_of_rows: traffic_spec.clients.as_ref().and_then(share),
        has_writer: traffic_spec.background.is_some(),
        is_single_client: false,
    }
}

/// Returns the positions of the procedures that are called, some perhaps more than once.
pub(super) fn procedures_of(call_mix: &CallMix) -> Vec<u16> {
    match call_mix {
        CallMix::Mix(weights) => weights.iter().map(|(procedure, _)| *procedure).collect(),
        CallMix::InTurn(turns) | CallMix::Once(turns) => turns.clone(),
    }
}

/// Returns the load of a step's background writers; `None` without any.
///
/// Evenly paced, never in bursts: each client's rate times the clients, divided by the rows of a
/// call. Where inserts and deletes take turns, both reach the rate.
pub fn background_load(
    application: &Application,
    traffic_spec: &TrafficSpec,
    clients: u32,
) -> Option<Load> {
    let background = traffic_spec.background.as_ref()?;
    let rows_per_s = background.rows_per_s * f64::from(clients);
    let calls_per_s = rows_per_s / application.rows_per_call(&background.call_mix);
    Some(Load::Open(OpenLoad {
        rate: Rate::constant(calls_per_s),
        pace: Pace { arrivals: Arrivals::Constant, pacing: Pacing::Auto },
    }))
}
