//! Load of an application's background writers.

use model::sql::TrafficSpec;
use model::{Application, Arrivals, Load, OpenLoad, Pace, Pacing, Rate};

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
