//! What an experiment's steps and data need of an engine.

use engine::{Driver, Refusal, Setting};
use model::capability::SEQUENCE_SCANS;
use model::{DataShape, Identity, Load, OpKind, Step};
use serde::{Deserialize, Serialize};

/// What steps need beyond plain operations: the first step of each need.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Needs {
    pub(crate) downwards: Option<String>,
    pub(crate) sequences: Option<String>,
    pub(crate) pipelined: Option<String>,
}

impl Needs {
    /// Returns the needs of an experiment's steps.
    pub(crate) fn of(steps: &[Step]) -> Self {
        let first = |needs: &dyn Fn(&Step) -> bool| {
            steps.iter().find(|step| needs(step)).map(|step| step.name.clone())
        };
        let catalog = workload::catalog();
        let scans = |step: &Step| {
            let known = catalog.iter().find(|info| info.name == step.name);
            known.is_some_and(|info| info.needs.contains(&OpKind::ScanSequence))
        };
        Self {
            downwards: first(&|step| workload::reads_downwards(&step.name)),
            sequences: first(&scans),
            pipelined: first(&|step| matches!(step.load, Load::Pipelined(_))),
        }
    }
}

/// Returns why an engine takes neither the data nor the steps, if so.
pub(crate) fn unsupported(driver: &dyn Driver, data: &DataShape, needs: &Needs) -> Option<Refusal> {
    let can = driver.capabilities();
    let step = |step: &Option<String>, capability| {
        step.as_deref().and_then(|step| step_refusal(driver, step, capability))
    };
    length_refusal(driver, data)
        .or_else(|| {
            let is_denied = !engine::scans_in_reverse(&can);
            is_denied.then(|| step(&needs.downwards, engine::REVERSE_SCANS)).flatten()
        })
        .or_else(|| step(&needs.sequences, SEQUENCE_SCANS))
        .or_else(|| step(&needs.pipelined, engine::PIPELINING))
}

/// Returns the refusal of keys or values longer than the engine takes.
fn length_refusal(driver: &dyn Driver, data: &DataShape) -> Option<Refusal> {
    let can = driver.capabilities();
    let lengths = [
        (Setting::KeyBytes, "keys", data.key_bytes, can.key_bytes_max),
        (Setting::ValueBytes, "values", data.value_bytes, can.value_bytes_max),
    ];
    let is_too_long = |bytes: u32, most: Option<u32>| most.is_some_and(|most| bytes > most);
    let found = lengths.into_iter().find(|(.., bytes, most)| is_too_long(*bytes, *most));
    let (setting, what, bytes, most) = found?;
    let (most, Identity { engine, version, .. }) = (most.unwrap_or_default(), driver.identity());
    Some(Refusal::Setting {
        setting,
        reason: format!("{what} of {bytes} bytes: {engine} {version} takes at most {most}"),
        remedy: format!("set `{}` to {most} or less, or leave this variant out", setting.name()),
    })
}

/// Returns why a step that needs a capability of that name cannot be run.
fn step_refusal(driver: &dyn Driver, step: &str, capability: &str) -> Option<Refusal> {
    let can = driver.capabilities();
    let why = can.why_not(capability)?;
    let engine = driver.identity().engine;
    let left_out = if capability == engine::PIPELINING { "the pipeline" } else { "the step" };
    let reason = format!(
        "step `{step}` needs {}: {engine}: {why}; leave {left_out} or this variant out",
        capability.replace('_', " ")
    );
    Some(Refusal::Build { reason })
}
