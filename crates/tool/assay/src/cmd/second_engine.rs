//! The command that compares the engine of an experiment with a second one.

use model::secret::masked;
use model::{Manifest, ShellCommand, shell_word};

use crate::registry;

/// Options of typed steps that are one engine's own.
const OWN_OPTIONS: [&str; 3] = ["--option", "--engine-profile", "--workload"];

/// Returns the command that follows an experiment of one variant: runs without another variant
/// decide nothing, however many there are.
///
/// Typed steps are run again with a second engine; for others the engines are listed.
pub(super) fn command(manifest: &Manifest) -> Option<String> {
    let experiment = &manifest.plan.experiment;
    let [variant] = &experiment.variants[..] else { return None };
    if experiment.device.is_some() {
        return None;
    }
    let typed = manifest.command_line.get(1..).unwrap_or_default();
    let has = |option: &str| {
        typed.iter().any(|word| word.split('=').next().is_some_and(|name| name == option))
    };
    let second = registry::other_linked(&variant.build.engine);
    let second = second.filter(|_| variant.dsn.is_none() && has("--engine"));
    Some(match second.filter(|_| !OWN_OPTIONS.into_iter().any(has)) {
        Some(second) => {
            let args = typed.iter().map(|arg| shell_word(&masked(arg)));
            let args = args.collect::<Vec<_>>().join(" ");
            format!("assay {args} --engine {second}")
        }
        None => ShellCommand::of("assay engine list").to_string(),
    })
}
