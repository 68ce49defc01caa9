//! Starts the blocks of an experiment on other machines, and attaches to them again.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{ArchiveError, ExperimentDir, Results};
use fleet::{BuildEntry, Fleet, FleetError, Order, Slurm, Transport, collect};
use miette::{Result, miette};
use model::client_host::slurm_class;
use model::{Experiment, Hosts, Manifest, Password};

use super::super::fleet_options::{FleetArgs, Target};
use super::super::{requested_build, servers};
use super::board::{Board, FleetRun};
use super::{lanes, slurm};
use crate::diagnostic::IntoReport as _;
use crate::phase;
use crate::ui::Process;

/// Remedy for an experiment with hosts of someone else.
pub(crate) const OWN_HOSTS: &str =
    "copy the experiment's file, name your machines in [hosts], and run it";
/// File with the options of the machines, in the directory of the blocks.
const OPTIONS: &str = "options.json";

/// Runs the open blocks on other machines; returns the number of complete runs.
///
/// A request to stop leaves blocks of Slurm running: `--resume` attaches to them.
pub(crate) fn measure_on(run: &FleetRun<'_>) -> Result<usize> {
    let target = run.target()?;
    // Its program is started on every machine.
    let place = run.fleet();
    let is_closed = trust::check(place.path(), trust::Entries::Closed);
    is_closed.map_err(|error| miette!("cannot use {}: {error}", place.path().display()))?;
    let mut board = Board::open(run)?;
    if board.open_blocks().is_empty() {
        return board.close();
    }
    prepare(run)?;
    match target {
        None => {
            return Err(miette!(
                help = "name the machines: --on slurm, or --on with a file of hosts",
                "blocks are open, and the machines that run them are not known"
            ));
        }
        Some(Target::Slurm { constraint }) if run.options.stream => {
            Slurm::find().into_report()?;
            let transport = Transport::Srun { constraint };
            let most = run.options.machines.unwrap_or(board.blocks()).min(board.blocks());
            lanes::run(&mut board, vec![transport; most.max(1) as usize])?;
        }
        Some(Target::Slurm { constraint }) => slurm::run(&mut board, constraint.as_deref())?,
        // One after the other: a server has one machine.
        Some(Target::Server(transport)) => lanes::run(&mut board, vec![transport])?,
        Some(Target::Hosts(hosts)) => {
            let most = run.options.machines.map_or(usize::MAX, |most| most as usize);
            let config = hosts.ssh_config.clone();
            let of = |host| Transport::Ssh { host, config: config.clone() };
            let transports = hosts.hosts.into_iter().take(most).map(of).collect();
            lanes::run(&mut board, transports)?;
        }
    }
    board.close()
}

/// Makes the directory of the blocks with all that a machine needs.
///
/// Program and builds stay those with which the experiment began.
pub(crate) fn prepare(run: &FleetRun<'_>) -> Result<()> {
    let fleet = run.fleet();
    let named = [run.process.environment.named_cache_dir.as_deref(), run.data_dir];
    if let Some(dir) = named.into_iter().flatten().find(|dir| dir.to_str().is_none()) {
        return Err(miette!(
            help = "name another directory with --data-dir or --cache-dir",
            "machines cannot use the directory {}, which is not UTF-8",
            dir.display()
        ));
    }
    let earlier = fleet.order().ok();
    let absolute = |dir: &Path| std::path::absolute(dir).ok();
    let environment = run.process.environment;
    let builds = match &earlier {
        Some(order) => order.builds.clone(),
        None => {
            let program = std::env::current_exe().into_report()?;
            fleet.create(&program).into_report()?;
            let entries = builds(run.manifest, run.process)?;
            let is_empty = entries.is_empty();
            (!is_empty).then(|| fleet.write_builds(&entries)).transpose().into_report()?
        }
    };
    let data_dir = run.data_dir.and_then(absolute);
    let cache_dir = environment.named_cache_dir.as_deref().and_then(absolute);
    let order = Order {
        manifest: run.manifest.clone(),
        builds,
        limits: run.limits.of_blocks(),
        data_dir: data_dir.or_else(|| earlier.as_ref().and_then(|it| it.data_dir.clone())),
        cache_dir: cache_dir.or_else(|| earlier.and_then(|it| it.cache_dir)),
        address: run.manifest.plan.experiment.hosts.as_ref().map_or(Ok(None), address)?,
    };
    fleet.write(OPTIONS, &run.options.absolute()).into_report()?;
    fleet.write_order(&order).into_report()
}

/// Completes the path of the configuration of ssh: a later command may start in another directory.
pub(crate) fn resolve(experiment: &mut Experiment) -> Result<()> {
    if let Some(config) = experiment.hosts.as_mut().and_then(|it| it.ssh_config.as_mut()) {
        let whole = std::path::absolute(&*config).into_report()?;
        *config = whole.to_string_lossy().into_owned();
    }
    Ok(())
}

/// Returns the passwords that the machine of the server needs, by variant.
pub(crate) fn passwords(experiment: &Experiment) -> Result<BTreeMap<String, Password>> {
    if experiment.hosts.is_none() {
        return Ok(BTreeMap::new());
    }
    servers::passwords(experiment).map_err(|missing| {
        miette!(
            help = "passwords are never stored: a resumed experiment needs them again",
            "variant {}: {}",
            missing.variant,
            missing.message
        )
    })
}

/// Returns the address at which clients reach the server; `None` for the name of a machine that
/// Slurm chooses.
fn address(hosts: &Hosts) -> Result<Option<String>> {
    if hosts.address.is_some() || slurm_class(&hosts.server).is_some() {
        return Ok(hosts.address.clone());
    }
    let config = hosts.ssh_config.as_ref().map(Path::new);
    Transport::address(&hosts.server, config).map(Some).into_report()
}

/// Returns the entries of the cache that the experiment's variants need, each once.
fn builds(
    manifest: &Manifest,
    Process { environment, ui }: Process<'_>,
) -> Result<Vec<BuildEntry>> {
    let mut entries = Vec::new();
    for variant in &manifest.plan.experiment.variants {
        if requested_build::artifact(&variant.build, environment, ui)?.is_none() {
            continue;
        }
        let dir = requested_build::store(environment)?.dir_of(&variant.build).into_report()?;
        let version = variant.build.version.as_deref().unwrap_or_default();
        let name = format!("engines/{}/{version}", variant.build.engine);
        entries.push(BuildEntry { name, dir });
    }
    entries.sort();
    entries.dedup();
    Ok(entries)
}

/// Moves complete blocks into the archive, unless the submitter does so.
///
/// All of them, and again after the end of the lock: a block that ended meanwhile found it held.
pub(super) fn collect_if_free(fleet: &Fleet, manifest: &Manifest, process: Process<'_>) {
    let blocks = manifest.plan.cells.iter().map(|cell| cell.repetition).max().unwrap_or(0);
    let has_runs = |block: &u32| fleet.state(*block).done.is_some_and(|it| !it.runs().is_empty());
    let mut before = Vec::new();
    loop {
        let ended: Vec<u32> = (1..=blocks).filter(has_runs).collect();
        if ended == before {
            return;
        }
        match collect_all(fleet, manifest, &ended) {
            // The submitter or another machine holds the lock.
            Err(FleetError::Archive(ArchiveError::Busy(_))) => return,
            collected => collected.unwrap_or_else(|error| process.ui.status(error)),
        }
        before = ended;
    }
}

/// Moves complete blocks into the archive, which must be free.
fn collect_all(
    fleet: &Fleet,
    manifest: &Manifest,
    blocks: &[u32],
) -> std::result::Result<(), FleetError> {
    let root = fleet.path().ancestors().nth(2).unwrap_or(fleet.path());
    let name = format!("{}/{}", manifest.plan.experiment.name, manifest.id);
    let mut dir = Results::at(root).find_within(&name)?;
    dir.lock()?;
    blocks.iter().try_for_each(|block| collect(fleet, &dir, manifest, *block).map(drop))
}

/// Refuses what cannot run on several machines.
pub(crate) fn check(experiment: &Experiment) -> Result<()> {
    if experiment.hosts.is_some() {
        return Err(miette!(
            help = "run it with `assay run`, without --on: its blocks run on these machines",
            "the experiment names its machines in [hosts]"
        ));
    }
    if let Some(variant) = experiment.variants.iter().find(|variant| variant.dsn.is_some()) {
        return Err(miette!(
            help = "leave out --on, or name an engine that each machine can start",
            "variant {}: blocks of several machines would share one running server",
            variant.name
        ));
    }
    if experiment.cuts.is_some() {
        return Err(miette!(
            help = "leave out --on, or [durability]",
            "[durability] cuts the variants on this machine, not on others"
        ));
    }
    if experiment.device.is_some() {
        return Err(miette!(
            help = "run the experiment on each machine, then compare with --across hosts",
            "the experiment measures the storage of one machine"
        ));
    }
    Ok(())
}

/// Checks that the machines of an experiment can be reached, before anything is stored.
pub(crate) fn check_reach(hosts: &Hosts) -> Result<()> {
    phase::enter("for the machines in [hosts] to answer, up to 15 s");
    let mut classes = hosts.clients.iter().chain([&hosts.server]).filter_map(|it| slurm_class(it));
    classes.try_for_each(|it| Slurm::find()?.check(Some(it))).into_report()?;
    fleet::check_reach(hosts).map_err(|unreachable| {
        let help = format!("find out why with `{}`", unreachable.command);
        miette!(help = help, "{unreachable}")
    })
}

/// Returns whether the blocks of a stored experiment run on other machines.
pub(crate) fn is_elsewhere(results: &Results, name: &str) -> bool {
    let options = results.find(name).and_then(|dir| {
        let Manifest { id, plan, .. } = dir.manifest()?;
        let options = Fleet::at(Results::of(&dir).fleet_dir(&id)).path().join(OPTIONS);
        Ok(plan.experiment.hosts.is_some() || options.exists())
    });
    options.unwrap_or(false)
}

/// Returns the machines of a run: the machines that the experiment names, the given ones, or those
/// on which it was begun.
///
/// # Errors
/// When blocks cannot run on the given machines, or the experiment was begun on other machines that
/// are not known any more.
pub(crate) fn options_of(
    given: &FleetArgs,
    experiment: &Experiment,
    stored: Option<(&ExperimentDir, &Manifest)>,
) -> Result<Option<FleetArgs>> {
    if experiment.hosts.is_some() {
        if given.on.is_some() {
            check(experiment)?;
        }
        Transport::check_ssh().into_report()?;
        return Ok(Some(given.clone()));
    }
    let Some((dir, manifest)) = stored else {
        return Ok(given.on.is_some().then(|| given.clone()));
    };
    let fleet = Fleet::at(Results::of(dir).fleet_dir(&manifest.id));
    let earlier = fleet.path().join(OPTIONS).exists().then(|| fleet.read(OPTIONS));
    match earlier {
        Some(Ok(earlier)) => return Ok(Some(given.or(earlier))),
        _ if given.on.is_some() => return Ok(Some(given.clone())),
        Some(Err(error)) => return Err(miette!("{error}")),
        None => {}
    }
    let runs = dir.each_run(manifest).into_iter().flatten();
    match runs.into_iter().any(|run| run.machine.is_some()) {
        true => Err(miette!(
            help = "name the machines again with --on",
            "{} has runs of other machines: a block is run on one machine",
            manifest.plan.experiment.name
        )),
        false => Ok(None),
    }
}
