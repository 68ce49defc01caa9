//! Reports of refused settings, at their places in the experiment file.

use std::path::Path;

use archive::{ArchiveError, Results};
use engine::Refusal;
use engine::refusal::listed;
use miette::{Report, Result, miette};
use model::Experiment;
use model::secret::masked;
use plan::{Checked, KnownOptions, PlanError};
use runner::{DataRoot, Place, RunnerError};

use super::{requested_build, servers};
use crate::catalog::Program;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::registry;

/// Files and directories of a run in the results, and of the experiment.
///
/// Our choice: those of an embedded engine have 10 or fewer, those of a server with its logs more.
const RESULT_FILES: u64 = 16;

/// Checks what the text of an experiment decides, before anything is planned or started.
pub(super) fn check_text(checked: &Checked, environment: &Environment) -> Result<()> {
    let done = runner::check_text(&checked.experiment, &registry::driver, &registry::kind);
    done.map_err(|error| rejection(checked, &error, &environment.nearest_dir()))
}

/// Checks a stored experiment as one that is written, before it is run.
pub(super) fn check_stored(experiment: &Experiment) -> Result<()> {
    plan::check_loads(experiment)?;
    runner::check_text(experiment, &registry::driver, &registry::kind).into_report()
}

/// Returns what this host denies an experiment, as `run` reports it before the first run.
///
/// Limits that this process may raise are raised. `results` is where a new experiment is stored.
pub(super) fn by_host(
    experiment: &Experiment,
    results: Option<&Results>,
    environment: &Environment,
) -> Vec<RunnerError> {
    let mut found = Vec::new();
    found.extend(results.and_then(|it| check_results(it, experiment, environment).err()));
    found.extend(DataRoot::check(&environment.data_dir).err());
    for variant in &experiment.variants {
        let build = requested_build::check(&variant.build, environment);
        let password =
            servers::check_password(variant, environment).map_err(|missing| missing.message);
        let reasons = build.map_err(|report| report.to_string()).err().into_iter();
        found.extend(
            reasons.chain(password.err()).map(|reason| {
                RunnerError::Refused(variant.name.clone(), Refusal::Build { reason })
            }),
        );
    }
    let place = Place {
        data: &environment.data_dir,
        server_user: environment.server_user.as_deref(),
        allocators: &environment.allocators,
    };
    found.extend(runner::host_refusals(experiment, &registry::driver, &registry::kind, place));
    found
}

/// Checks that the results of an experiment can be written.
fn check_results(
    results: &Results,
    experiment: &Experiment,
    environment: &Environment,
) -> std::result::Result<(), RunnerError> {
    let runs = experiment.variants.len() * experiment.clients.len();
    let files = RESULT_FILES * (1 + runs as u64 * u64::from(experiment.repetitions));
    let place = &environment.results;
    let write = |error| ArchiveError::Write(place.clone(), error);
    sampler::check_inodes(place, files).map_err(write)?;
    Ok(results.check_writable()?)
}

/// Checks a stored or changed experiment as [`by_host`] does.
pub(super) fn check_host(
    experiment: &Experiment,
    results: Option<&Results>,
    environment: &Environment,
) -> Result<()> {
    let first = by_host(experiment, results, environment).into_iter().next();
    first.map_or(Ok(()), |error| Err(miette!("{}", text(&error))))
}

/// Returns a refusal with its remedy in one text.
pub(super) fn text(error: &RunnerError) -> String {
    let text = if let RunnerError::Refused(_, Refusal::Setting { remedy, .. }) = error {
        format!("{error}: {remedy}")
    } else {
        error.to_string()
    };
    masked(&text).into_owned()
}

/// Returns the report of a rejected setting, at its place in the file.
pub(super) fn rejection(checked: &Checked, error: &RunnerError, data: &Path) -> Report {
    if let RunnerError::Refused(variant, refusal) = error {
        return refused_variant(checked, variant, refusal, data).into();
    }
    if let RunnerError::Load(step_index, message, remedy) = error {
        return checked.load_refusal(*step_index, message, remedy).into();
    }
    if let RunnerError::Clients(message, remedy) = error {
        return checked.clients_refusal(message, remedy).into();
    }
    miette!("{}", masked(&error.to_string()))
}

/// Returns the error of a refused variant, at the option or setting that is the cause.
fn refused_variant(checked: &Checked, variant: &str, refusal: &Refusal, data: &Path) -> PlanError {
    match refusal {
        Refusal::Option { name, reason, known } => {
            let mut all = known_options(data);
            if let Some(found) = checked.experiment.variant(variant) {
                all.entry(found.build.engine.clone()).or_default().extend(known.iter().cloned());
            }
            let reason = format!("{reason}{}", listed(name, reason, known));
            checked.option_refusal(variant, name, &reason, &all)
        }
        Refusal::Capability { option, .. } => {
            checked.setting_refusal(variant, option, &refusal.to_string(), refusal.remedy())
        }
        Refusal::Setting { setting, reason, remedy } => {
            checked.setting_refusal(variant, setting.name(), reason, remedy)
        }
        Refusal::Statement { owner, index, reason } => {
            checked.statement_refusal(variant, owner, *index, reason)
        }
        Refusal::Build { reason } => checked.variant_error(variant, reason),
    }
}

/// Returns the known options of engines, to suggest one for a rejected one.
fn known_options(data: &Path) -> KnownOptions {
    let mut known = plan::profile_options(&Program::default());
    for (engine, names) in registry::known_options(data) {
        known.entry(engine.to_owned()).or_default().extend(names);
    }
    known
}

#[cfg(test)]
mod tests {
    use engine::{EngineError, Setting};
    use miette::Diagnostic as _;
    use model::{Bytes, CpuCount};
    use plan::{Machine, Overrides};

    use super::*;

    const FILE: &str = r#"[experiment]
name = "tiny"
question = "Is it refused?"
[benchmark]
steps = ["fillseq"]
rows = 10
[[variant]]
name = "one"
engine = "sqlite"
cache = "8MiB"
[variant.options]
"assay.cache" = "hyper_clock"
page_sise = 4096
"#;

    /// Returns the text a refusal points at, and its help.
    fn place_and_help(error: EngineError) -> (String, String) {
        let (cpus, memory_bytes) = (CpuCount::of(4), Bytes::GIB);
        let machine = Machine { cpus, memory_bytes, free_bytes: Bytes::GIB };
        let checked =
            plan::load("f.toml", FILE, &Overrides::default(), &Program::default(), machine)
                .expect("valid");
        let refused =
            refused_variant(&checked, "one", &error.into(), Path::new("/no/such/directory"));
        let label = refused.labels().and_then(|mut labels| labels.next()).expect("a place");
        let place = FILE[label.offset()..label.offset() + label.len()].to_owned();
        (place, refused.help().map_or(String::new(), |help| help.to_string()))
    }

    #[test]
    fn unknown_option_is_marked_and_the_nearest_name_suggested() {
        let error = EngineError::unknown("page_sise", "no option", &["page_size", "synchronous"]);
        let (place, help) = place_and_help(error);
        assert_eq!(place, "page_sise");
        let list = "the engine reports: no option; known: page_size, synchronous";
        assert_eq!(help, format!("{list}\ndid you mean `page_size`?"));
    }

    #[test]
    fn refused_setting_is_marked_whatever_its_reason_names() {
        let error = EngineError::setting(Setting::Cache, "direct_io needs another compression");
        assert_eq!(place_and_help(error).0, "\"8MiB\"");
    }

    #[test]
    fn capability_that_a_build_lacks_is_marked_at_its_option() {
        let reason = "a HyperClock block cache needs RocksDB 8.1";
        let (place, help) = place_and_help(EngineError::capability("assay.cache", reason));
        assert_eq!(place, "\"assay.cache\"");
        assert!(help.contains("assay engine show"), "{help}");
    }

    #[test]
    fn refused_build_is_marked_at_the_variant() {
        let error = EngineError::Fatal("no cache, no compression".to_owned());
        assert_eq!(place_and_help(error).0, "\"one\"");
    }
}
