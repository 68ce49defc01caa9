//! Checks of an experiment's text, which need no build, no server and no measurement.

use std::path::{Path, PathBuf};

use engine::{Driver, EngineError, OpenSpec, Refusal};
use model::server::{REPLICA, TRANSPORT};
use model::{Address, Endpoint, Experiment, Variant};
use server::{Kind, ServerSpec, Site};

use super::connections::{check_connections, with_connections};
use crate::error::RunnerError;
use crate::needs::{Needs, unsupported};
use crate::worker::Registry;

/// A path that nothing can be created at, and where nothing listens.
const NOWHERE: &str = "/dev/null/none";

/// Returns the server kind of an engine; `None` for a library.
pub type Kinds = dyn Fn(&str) -> Option<&'static dyn Kind>;

/// Checks steps, settings and options, as far as the text of the experiment decides.
///
/// Engines that are linked and servers are checked; the options of another build are known once it
/// is loaded.
///
/// # Errors
/// [`RunnerError::Refused`] with the reason, or [`RunnerError::Step`].
pub fn check_text(
    experiment: &Experiment,
    registry: &Registry,
    kinds: &Kinds,
) -> Result<(), RunnerError> {
    if experiment.device.is_some() {
        return Ok(());
    }
    for clients in &experiment.clients {
        for step in experiment.steps_for(*clients) {
            match &experiment.application {
                Some(own) if own.step(&step.name).is_some() => {
                    calls::check_application(own, &step)?;
                }
                Some(_) | None => workload::check(&step, &experiment.data)?,
            }
        }
    }
    for variant in &experiment.variants {
        let checked = check_variant(experiment, variant, registry, kinds);
        checked.map_err(|refusal| RunnerError::Refused(variant.name.clone(), refusal))?;
    }
    Ok(())
}

fn check_variant(
    experiment: &Experiment,
    variant: &Variant,
    registry: &Registry,
    kinds: &Kinds,
) -> Result<(), Refusal> {
    let kind = kinds(&variant.build.engine);
    if kind.is_none() && variant.build.version.is_some() {
        return Ok(());
    }
    let Ok(driver) = registry(&variant.build.engine, None) else { return Ok(()) };
    let unsupported = unsupported(&*driver, &experiment.data, &Needs::of(experiment));
    unsupported.map_or(Ok(()), Err)?;
    refused(opened_nowhere(&*driver, experiment, variant).err())?;
    match kind.filter(|_| variant.dsn.is_none()) {
        Some(kind) => check_server(kind, experiment, variant),
        None => Ok(()),
    }
}

/// Opens an engine where it cannot be: an engine checks settings and options before its data.
fn opened_nowhere(
    driver: &dyn Driver,
    experiment: &Experiment,
    variant: &Variant,
) -> Result<(), EngineError> {
    let database = variant.dsn.as_ref().map_or_else(String::new, |dsn| dsn.database.clone());
    let endpoint = Endpoint {
        address: Address::Socket(NOWHERE.into()),
        user: String::new(),
        password: None,
        database,
        is_foreign: variant.dsn.is_some(),
        login: model::LoginOptions::default(),
    };
    let opened = driver.open(&OpenSpec {
        options: variant.options.clone(),
        endpoint: Some(endpoint),
        ..OpenSpec::embedded(NOWHERE.into(), variant.settings.clone(), experiment.data)
    });
    opened.map(drop)
}

/// Checks the configuration of a server that Assay starts, without starting it.
fn check_server(
    kind: &'static dyn Kind,
    experiment: &Experiment,
    variant: &Variant,
) -> Result<(), Refusal> {
    let Some(release) = &variant.build.version else { return Ok(()) };
    kind.check_name(release).map_err(|reason| Refusal::Build {
        reason: format!("{reason}: `assay engine list` shows the releases"),
    })?;
    let options = with_connections(&variant.options, experiment);
    check_connections(&variant.options, &variant.options, experiment)?;
    let transport = options.get(TRANSPORT).and_then(|text| text.parse().ok()).unwrap_or_default();
    let log = Path::new(NOWHERE).join("log");
    let site = Site { data: PathBuf::from("/data"), log, transport, ..Site::default() };
    let spec = ServerSpec {
        program: Path::new(NOWHERE),
        version: &kind.version_text(release),
        site: &site,
        settings: &variant.settings,
        options: &options,
    };
    refused(kind.set_up(&spec).err())?;
    refused(kind.serve(&spec).err())?;
    let has_standby = options.get(REPLICA).is_some();
    refused(has_standby.then(|| kind.standby(&spec, &site).err()).flatten())
}

/// Returns the refusal of an option or a setting; other errors are none of the text.
fn refused(error: Option<EngineError>) -> Result<(), Refusal> {
    match error.map(Refusal::from) {
        None | Some(Refusal::Build { .. } | Refusal::Statement { .. }) => Ok(()),
        Some(refusal) => Err(refusal),
    }
}
