//! Blocks of an experiment that runs on other machines: open ones, failures, results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use archive::{ExperimentDir, Results};
use fleet::job::BlocksJob;
use fleet::{BlockState, Fleet, Outcome, Transport, collect};
use miette::{Result, miette};
use model::units::many;
use model::{Host, Hosts, Manifest, Nanos, Password};
use runner::Interrupt;

use super::super::bench::Limits;
use super::super::consent::Origin;
use super::super::fleet_options::{FleetArgs, Target};
use super::view::View;
use crate::diagnostic::IntoReport as _;
use crate::ui::Process;

/// Attempts at a block, after which it stays open.
///
/// Our choice: a block that fails on three machines fails because of the experiment.
const ATTEMPTS_MAX: usize = 3;
/// Failures of a machine, after which it gets no block. Source: the limit of two.
const MACHINE_FAILURES_MAX: u32 = 2;

/// An experiment that runs on other machines.
pub(crate) struct FleetRun<'a> {
    /// The machines.
    pub(crate) options: &'a FleetArgs,
    /// The experiment's directory, locked.
    pub(crate) dir: &'a ExperimentDir,
    pub(crate) manifest: &'a Manifest,
    pub(crate) limits: &'a Limits,
    pub(crate) origin: Origin,
    /// Directory for the data on the machines, if the user named one.
    pub(crate) data_dir: Option<&'a Path>,
    pub(crate) interrupt: &'a Interrupt,
    /// Passwords of running servers, by variant.
    pub(crate) passwords: BTreeMap<String, Password>,
    pub(crate) process: Process<'a>,
}

impl FleetRun<'_> {
    /// Returns where the blocks run; `None` if that is not known.
    pub(super) fn target(&self) -> Result<Option<Target>> {
        match &self.manifest.plan.experiment.hosts {
            Some(Hosts { server, ssh_config, .. }) => {
                Ok(Some(Target::Server(Transport::of(server, ssh_config.as_deref()))))
            }
            None => self.options.target(),
        }
    }

    /// Returns the directory of the blocks.
    pub(super) fn fleet(&self) -> Fleet {
        Fleet::at(Results::of(self.dir).fleet_dir(&self.manifest.id))
    }

    /// Returns the name of the jobs of Slurm.
    pub(super) fn job_name(&self) -> String {
        format!("assay-{}", self.manifest.id)
    }

    /// Returns the job with one element for each block.
    pub(crate) fn job(&self, constraint: Option<&str>) -> Result<BlocksJob> {
        let fleet = Fleet::at(std::path::absolute(self.fleet().path()).into_report()?);
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                miette!(
                    help = "name another directory with --results",
                    "a job cannot name the directory {}: it is not UTF-8",
                    path.display()
                )
            })
        };
        let blocks = self.manifest.plan.cells.iter().map(|cell| cell.repetition).max();
        let blocks = blocks.unwrap_or(0);
        Ok(BlocksJob {
            name: self.job_name(),
            blocks,
            machines: self.options.machines.unwrap_or(blocks),
            constraint: constraint.map(str::to_owned),
            program: text(&fleet.program())?,
            fleet_dir: text(fleet.path())?,
        })
    }
}

/// State of an experiment's blocks, and what was printed of it.
pub(super) struct Board<'a> {
    pub(super) run: &'a FleetRun<'a>,
    pub(super) fleet: Fleet,
    view: View,
    blocks: u32,
    /// Blocks that are not complete yet.
    open: BTreeSet<u32>,
    /// Machines of failed attempts by block.
    failed: BTreeMap<u32, Vec<String>>,
    /// Failures by machine.
    machines: BTreeMap<String, u32>,
    /// Blocks that a user cancelled.
    cancelled: BTreeSet<u32>,
    /// Attempts that later owners took over, by block and generation.
    lost: BTreeSet<(u32, u32)>,
}

impl<'a> Board<'a> {
    /// Reads the state of the blocks; blocks with an incomplete run are open again.
    pub(super) fn open(run: &'a FleetRun<'a>) -> Result<Self> {
        let cells = &run.manifest.plan.cells;
        let blocks = cells.iter().map(|cell| cell.repetition).max().unwrap_or(0);
        let mut board = Self {
            run,
            fleet: run.fleet(),
            view: View::new(run.process.ui, run.manifest),
            blocks,
            open: BTreeSet::new(),
            failed: BTreeMap::new(),
            machines: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            lost: BTreeSet::new(),
        };
        for block in 1..=blocks {
            board.collect(block)?;
            if !board.is_complete(block)? {
                board.fleet.reopen(block).into_report()?;
                board.open.insert(block);
            }
        }
        Ok(board)
    }

    /// Returns the number of blocks.
    pub(super) const fn blocks(&self) -> u32 {
        self.blocks
    }

    pub(super) fn state(&self, block: u32) -> BlockState {
        self.fleet.state(block)
    }

    /// Prints what machines logged, and moves complete blocks into the archive.
    pub(super) fn update(&mut self) -> Result<()> {
        for block in self.open.clone() {
            let state = self.fleet.state(block);
            self.view.logs(block, &state);
            for lost in &state.lost {
                if self.lost.insert((block, lost.generation)) {
                    self.run.process.ui.status(format_args!(
                        "block {block}: a later attempt replaces the attempt of {}",
                        lost.machine()
                    ));
                }
            }
            self.collect(block)?;
            if state.done.is_some() {
                self.open.remove(&block);
            }
        }
        Ok(())
    }

    fn collect(&self, block: u32) -> Result<()> {
        let notes = collect(&self.fleet, self.run.dir, self.run.manifest, block).into_report()?;
        notes.iter().for_each(|note| self.run.process.ui.status(note));
        Ok(())
    }

    /// Returns the blocks that are to run, in order.
    pub(super) fn open_blocks(&self) -> Vec<u32> {
        let is_given_up = |block: &u32| self.cancelled.contains(block) || self.is_given_up(*block);
        self.open.iter().copied().filter(|block| !is_given_up(block)).collect()
    }

    /// Returns whether each run of a block is complete in the archive.
    fn is_complete(&self, block: u32) -> Result<bool> {
        let cells = self.run.manifest.plan.cells.iter();
        for cell in cells.filter(|cell| cell.repetition == block) {
            let run = self.run.dir.run(&cell.id).into_report()?;
            if !run.is_some_and(|run| run.end.is_complete()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a block failed too often: failures of machines that are out do not count.
    fn is_given_up(&self, block: u32) -> bool {
        let Some(failed) = self.failed.get(&block) else { return false };
        let counted = failed.iter().filter(|machine| !self.is_excluded(machine)).count();
        counted >= ATTEMPTS_MAX || failed.len() >= 2 * ATTEMPTS_MAX
    }

    /// Notes that an attempt at a block failed on a machine, and prints why.
    pub(super) fn fail(&mut self, block: u32, machine: &str, reason: &str) {
        self.failed.entry(block).or_default().push(machine.to_owned());
        self.fail_machine(block, machine, reason);
        if self.is_given_up(block) {
            let ui = self.run.process.ui;
            ui.status(format_args!("block {block}  failed {ATTEMPTS_MAX} times: it stays open"));
        }
    }

    /// Notes that a machine failed to begin a block, which is no failure of the block.
    pub(super) fn fail_machine(&mut self, block: u32, machine: &str, reason: &str) {
        let ui = self.run.process.ui;
        let name = if machine.is_empty() { "a machine" } else { machine };
        ui.status(format_args!("block {block}  {name}: {reason}"));
        if !machine.is_empty() {
            let failures = self.machines.entry(machine.to_owned()).or_default();
            *failures += 1;
            if *failures == MACHINE_FAILURES_MAX {
                ui.status(format_args!(
                    "{machine}  failed {failures} times: it gets no further block"
                ));
            }
        }
    }

    /// Notes that no machine is left for blocks.
    pub(super) fn stay_open(&self, blocks: usize) {
        let verb = if blocks == 1 { "stays" } else { "stay" };
        let blocks = many(blocks as u64, "block");
        self.run.process.ui.status(format_args!("no machine is left: {blocks} {verb} open"));
    }

    /// Notes that a user cancelled a block.
    pub(super) fn cancel(&mut self, block: u32, text: &str) {
        if self.cancelled.insert(block) {
            self.run.process.ui.status(format_args!("block {block}  {text}; --resume runs it"));
        }
    }

    /// Returns whether a machine gets no further block.
    pub(super) fn is_excluded(&self, machine: &str) -> bool {
        self.machines.get(machine).is_some_and(|failures| *failures >= MACHINE_FAILURES_MAX)
    }

    /// Returns the machines that get no further block.
    pub(super) fn excluded(&self) -> Vec<String> {
        let machines = self.machines.keys().filter(|machine| self.is_excluded(machine));
        machines.cloned().collect()
    }

    /// Returns how the newest attempt at a block ended; `None` without an attempt that has ended.
    pub(super) fn outcome(&self, block: u32) -> Option<Outcome> {
        self.state(block).current?.outcome
    }

    /// Shows a line about all machines.
    pub(super) fn head(&self, waiting: usize, running: usize, note: &str) {
        let machines = running.max(1) as u64;
        let rounds = (waiting as u64 + running as u64).div_ceil(machines);
        let each = self.run.manifest.plan.estimated_ns.0 / u64::from(self.blocks.max(1));
        let left = Nanos(each.saturating_mul(rounds));
        self.view.head(&format!(
            "{} running, {waiting} waiting, {left} left{note}",
            many(running as u64, "block")
        ));
    }

    /// Moves the rest into the archive; returns the number of complete runs.
    ///
    /// The directory of the blocks is removed when no block is open.
    pub(super) fn close(mut self) -> Result<usize> {
        self.update()?;
        let is_over = (1..=self.blocks).all(|block| {
            // Runs that were not taken over stay.
            let done = self.state(block).done;
            done.is_some_and(|done| done.runs().is_empty())
                || self.is_complete(block).is_ok_and(|it| it)
        });
        if is_over && self.fleet.exists() {
            self.fleet.clear().into_report()?;
        }
        let runs = self.run.dir.runs(self.run.manifest).into_report()?;
        if let Some(machine) = runs.iter().find_map(|run| run.machine.as_deref()) {
            self.record_host(&machine.host)?;
        }
        Ok(runs.iter().filter(|run| run.end.is_complete()).count())
    }

    /// Lets the manifest name the class of the machines in place of the submitter's host.
    fn record_host(&self, host: &Host) -> Result<()> {
        let FleetRun { dir, manifest, process, origin, .. } = self.run;
        if manifest.host.is_same_machine(host) {
            return Ok(());
        }
        let manifest = Manifest { host: host.clone(), ..(*manifest).clone() };
        origin.mark(dir, &manifest, process.environment, process.ui);
        dir.extend(&manifest).into_report()
    }
}
