//! Completes a stored experiment.

use archive::{ArchiveError, ExperimentDir, Results};
use load::{Clock as _, SteadyClock};
use miette::{Result, miette};
use model::{Bytes, Experiment, Manifest, Nanos, ShellCommand};

use super::bench::Bench;
use super::consent::Origin;
use super::fleet;
use super::fleet_options::FleetArgs;
use super::servers::{self, MissingPassword};
use super::{plan as planning, requested_build};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Process;

/// Longest time for which a machine holds the lock while it moves its runs into the archive.
const COLLECTED_WITHIN: Nanos = Nanos::from_secs(10);

/// A stored experiment.
pub(super) struct Stored {
    dir: ExperimentDir,
    /// Its plan, as it is resumed.
    pub(super) manifest: Manifest,
    /// Whose it is.
    pub(super) origin: Origin,
    /// What its manifest becomes when repetitions are added.
    extended: Option<Manifest>,
}

impl Stored {
    /// Finds an experiment that can be resumed.
    pub(super) fn find(results: &Results, name: &str, environment: &Environment) -> Result<Self> {
        let dir = misplaced::find(results, name)?;
        if dir.is_unpacked() {
            return Err(miette!(
                help = format!(
                    "{}, then resume the experiment by its name",
                    ShellCommand::of("assay import").operands([name])
                ),
                "{name} is a result in one file, to which no run can be added"
            ));
        }
        let manifest = dir.manifest().into_report()?;
        let origin = Origin::of(&dir, &manifest, environment);
        Ok(Self { dir, manifest, origin, extended: None })
    }

    /// Returns the machines that run its blocks, if they are others.
    pub(super) fn fleet(&self, given: &FleetArgs) -> Result<Option<FleetArgs>> {
        let options = fleet::options_of(
            given,
            &self.manifest.plan.experiment,
            Some((&self.dir, &self.manifest)),
        )?;
        if options.is_some() && self.origin != Origin::Own {
            let rerun = "assay rerun repeats the experiment on this machine";
            let has_hosts = self.manifest.plan.experiment.hosts.is_some();
            return Err(miette!(
                help = if has_hosts { fleet::OWN_HOSTS } else { rerun },
                "this account did not begin the experiment here: it is not sent to other machines"
            ));
        }
        Ok(options)
    }

    /// Locks an experiment that runs on other machines.
    pub(super) fn attach(
        self,
        Process { environment, ui }: Process<'_>,
    ) -> Result<(ExperimentDir, Manifest)> {
        let Self { mut dir, manifest, origin, extended } = self;
        lock_soon(&mut dir).into_report()?;
        let Some(extended) = extended else { return Ok((dir, manifest)) };
        origin.mark(&dir, &extended, environment, ui);
        dir.extend(&extended).into_report()?;
        Ok((dir, extended))
    }

    /// Adds repetitions to an experiment of one run per cell.
    ///
    /// One run has no verdict: what is added then does not depend on a result, as it would where
    /// runs were added until a verdict pleases.
    pub(super) fn lengthen(
        &mut self,
        repetitions: u32,
        floor: Bytes,
        environment: &Environment,
    ) -> Result<()> {
        let Experiment { name, repetitions: planned, .. } = &self.manifest.plan.experiment;
        if *planned != 1 || repetitions < 2 {
            return Err(miette!(
                help = format!(
                    "run the experiment anew with --repetitions {repetitions}; --until 2% extends \
                     a pilot of 3 or more repetitions, once"
                ),
                "--repetitions adds runs to an experiment of one run per cell, which has no \
                 verdict yet; `{name}` has {planned}, and {repetitions} was given"
            ));
        }
        self.extended = Some(longer(&self.manifest, repetitions, floor, environment)?);
        Ok(())
    }
}

/// Locks an experiment, also if a machine of it moves its runs into the archive at this moment.
fn lock_soon(dir: &mut ExperimentDir) -> std::result::Result<(), ArchiveError> {
    let clock = SteadyClock::kernel();
    let until = clock.now().after(COLLECTED_WITHIN);
    loop {
        match dir.lock() {
            Err(ArchiveError::Busy(_)) if clock.now() < until => {
                clock.rest_until(clock.now().after(Nanos::from_millis(100)));
            }
            locked => return locked,
        }
    }
}

/// Returns a manifest with more repetitions, planned anew.
pub(super) fn longer(
    manifest: &Manifest,
    repetitions: u32,
    floor: Bytes,
    environment: &Environment,
) -> Result<Manifest> {
    let experiment = Experiment { repetitions, ..manifest.plan.experiment.clone() };
    let plan = planning::expand(experiment, floor, environment)?.plan;
    Ok(Manifest { plan, ..manifest.clone() })
}

/// Resumes an experiment; its machine and its builds must be the same.
pub(super) fn resume(
    stored: Stored,
    bench: &mut Bench<'_>,
    Process { environment, ui }: Process<'_>,
) -> Result<(ExperimentDir, Manifest)> {
    let Stored { mut dir, mut manifest, origin, extended } = stored;
    dir.lock().into_report()?;
    let here = sampler::host_facts(bench.engines.data.path());
    if !here.is_same_machine(&manifest.host) {
        return Err(miette!(
            help = "resume on the same file system (--data-dir) and under the same limits of memory \
                    and CPUs; on another machine `assay rerun` repeats the experiment",
            "{} was begun on host {}, but this host is {}",
            manifest.plan.experiment.name,
            manifest.host.fingerprint,
            here.fingerprint
        ));
    }
    take_builds(bench, &manifest, Process { environment, ui })?;
    if let Some(extended) = extended {
        origin.mark(&dir, &extended, environment, ui);
        dir.extend(&extended).into_report()?;
        manifest = extended;
    }
    Ok((dir, manifest))
}

/// Obtains the builds of a stored experiment, and checks that they are the same.
pub(super) fn take_builds(
    bench: &mut Bench<'_>,
    manifest: &Manifest,
    Process { environment, ui }: Process<'_>,
) -> Result<()> {
    bench.engines.servers = servers::of(&manifest.plan.experiment, Process { environment, ui })
        .map_err(|MissingPassword { variant, message }| {
            miette!(
                help = "passwords are never stored: a resumed experiment needs them again",
                "variant {variant}: {message}"
            )
        })?;
    for variant in &manifest.plan.experiment.variants {
        let Some(library) = requested_build::library(&variant.build, environment, ui)? else {
            continue;
        };
        let before = manifest.builds.get(&variant.name).and_then(|build| build.sha256.as_deref());
        if before.is_some_and(|before| before != library.sha256) {
            return Err(miette!(
                help = "start a new experiment, or restore the old library",
                "the library of {} changed since the experiment began",
                variant.build
            ));
        }
        bench.engines.libraries.insert(variant.name.clone(), library);
    }
    bench.defer_stops();
    bench.open_storage(&manifest.plan.experiment, &manifest.host)?;
    let identities = bench.identities(&manifest.plan.experiment, ui).into_report()?;
    for (variant, before) in &manifest.builds {
        let version = identities.get(variant).map(|found| &found.version);
        if let Some(version) = version.filter(|version| **version != before.version) {
            return Err(miette!(
                help = "start a new experiment",
                "variant {variant} was {} {} when the experiment began, and is {version} now",
                before.engine,
                before.version
            ));
        }
    }
    Ok(())
}
