//! Connections that a run needs of its server.

use model::sql::TrafficSpec;
use model::{Experiment, Options};

use engine::{EngineError, Refusal};

/// The option of every supported server.
const OPTION: &str = "max_connections";
/// Connections next to those of clients and writers: control, state, maintenance, and reconnects.
const OTHERS: u64 = 8;
/// Connections that own servers have by default, at least.
const DEFAULT: u64 = 300;

/// Returns the sessions of clients and writers of the experiment's largest step.
pub(crate) fn sessions_max(experiment: &Experiment) -> u64 {
    let steps = experiment.clients.iter().flat_map(|clients| experiment.steps_for(*clients));
    let of_step = steps.map(|step| {
        let own = experiment.application.as_ref().and_then(|own| own.step(&step.name));
        let each = u64::from(own.map_or(1, TrafficSpec::connections_per_client));
        // A key-value step has one writer at most.
        u64::from(step.clients) * each + 1
    });
    of_step.max().unwrap_or(1)
}

/// Returns the connections of the experiment's largest step.
pub(super) fn needed(experiment: &Experiment) -> u64 {
    sessions_max(experiment) + OTHERS
}

/// Returns the limit as the user has set it: name and value.
fn set_by_user(options: &Options) -> Option<(&str, &str)> {
    let is_it = |name: &str| name.replace('-', "_").eq_ignore_ascii_case(OPTION);
    options.iter().find(|(name, _)| is_it(name))
}

/// Returns the options of an own server, with enough connections unless the user limits them.
pub(crate) fn with_connections(options: &Options, experiment: &Experiment) -> Options {
    let (mut options, needed) = (options.clone(), needed(experiment));
    if needed > DEFAULT && set_by_user(&options).is_none() {
        options.set(OPTION, needed.to_string());
    }
    options
}

/// Checks that a server with these `effective` options takes every client.
///
/// # Errors
/// [`Refusal::Option`] where the user's option is the cause, else [`Refusal::Build`].
pub(crate) fn check_connections(
    effective: &Options,
    options: &Options,
    experiment: &Experiment,
) -> Result<(), Refusal> {
    let Some(most) = effective.get(OPTION) else { return Ok(()) };
    let needed = needed(experiment);
    if most.parse().map_or(true, |most: u64| needed <= most) {
        return Ok(());
    }
    let reason = format!(
        "the server accepts {most} connections, but the experiment's clients need {needed}: set \
         `{OPTION} = {needed}`"
    );
    let refusal = match set_by_user(options) {
        Some((name, _)) => EngineError::unknown(name, format!("{reason} here"), &[name]),
        None => EngineError::build(format!(
            "{reason} where the server is started, raise its limit of open files, or use fewer \
             clients"
        )),
    };
    Err(refusal.into())
}
