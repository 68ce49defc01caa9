//! `assay plan --on`: wall time and precision by number of machines.

use std::collections::BTreeSet;

use analysis::budget::{MachineDeviation, half_width_on};
use miette::{Result, miette};
use model::units::many;
use model::{Nanos, Plan, count};
use serde::Serialize;

use super::budget::{Evidence, cov, noise_lines, within};
use super::fleet_options::{FleetArgs, Target};
use crate::ui::aligned;

/// Deviation of ratios between machines that is assumed if no fleet was measured.
///
/// Our choice: as much as the margin of a comparison. Servers that were meant to be identical
/// differ by several per cent in throughput; ratios on them differ by less.
const ASSUMED: f64 = 0.02;

/// Machines from which a measured deviation is not an upper bound.
///
/// Source: [`stats::planning::between_runs`].
const KNOWN_FROM: usize = 5;

/// Numbers of machines that are priced.
const STEPS: [u32; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];

/// Machines of a plan, checked before machine time is spent.
pub(super) struct Machines {
    /// Most machines: as requested, else one for each block.
    most: u32,
    blocks: u32,
}

impl Machines {
    /// Returns the machines of a plan; `None` for this machine.
    pub(super) fn of(
        target: Option<Target>,
        args: &FleetArgs,
        plan: &Plan,
    ) -> Result<Option<Self>> {
        let Some(target) = target else { return Ok(None) };
        let blocks: BTreeSet<u32> = plan.cells.iter().map(|cell| cell.repetition).collect();
        let blocks = count(blocks.len());
        let known = match &target {
            Target::Hosts(hosts) => count(hosts.hosts.len()),
            Target::Slurm { .. } => blocks,
            Target::Server(_) => 1,
        };
        let requested = args.machines.unwrap_or(known.min(blocks));
        if requested > blocks {
            return Err(miette!(
                help = format!(
                    "write --machines {blocks} or fewer, or --repetitions {requested}: a block is \
                     one repetition of all variants, and runs on one machine"
                ),
                "{requested} machines have only {}",
                many(blocks as usize, "block")
            ));
        }
        if let (Target::Hosts(_), true) = (&target, requested > known) {
            return Err(miette!(
                help = format!("write --machines {known} or fewer, or add hosts to the file"),
                "--machines is {requested}, and the file of hosts has {known}"
            ));
        }
        Ok(Some(Self { most: requested, blocks }))
    }

    /// Returns the prices of one machine to the most.
    pub(super) fn priced(&self, plan: &Plan, evidence: &Evidence) -> PricedMachines {
        let Evidence { noise, pilot } = evidence;
        let block_ns = Nanos(plan.estimated_ns.0 / u64::from(self.blocks.max(1)));
        let cov_between_machines = pilot.machines.map_or(ASSUMED, |one| one.cov);
        let numbers = STEPS.into_iter().filter(|one| *one < self.most).chain([self.most]);
        let price = |machines: u32| {
            let rounds = u64::from(self.blocks.div_ceil(machines));
            let half_width = |between| half_width_on(noise, self.blocks, machines, between);
            MachinePrice {
                machines,
                wall_ns: Nanos(block_ns.0.saturating_mul(rounds)),
                half_width_if_equal: half_width(0.0),
                half_width: half_width(cov_between_machines),
            }
        };
        PricedMachines {
            blocks: self.blocks,
            block_ns,
            cov_between_machines,
            measured: pilot.machines,
            pilot: pilot.id.clone(),
            noise: noise_lines(noise, pilot),
            rows: numbers.map(price).collect(),
        }
    }
}

/// Prices of a plan by number of machines.
#[derive(Serialize)]
pub(super) struct PricedMachines {
    blocks: u32,
    /// Machine time of one block.
    block_ns: Nanos,
    /// Deviation of ratios between machines, a share.
    cov_between_machines: f64,
    /// Source of the deviation; `None` where it is assumed.
    measured: Option<MachineDeviation>,
    /// The experiment that was measured.
    #[serde(skip)]
    pilot: String,
    /// The noise of a block, in lines.
    #[serde(skip)]
    noise: Vec<String>,
    rows: Vec<MachinePrice>,
}

/// Wall time and precision of a number of machines; half-widths are shares.
#[derive(Serialize)]
struct MachinePrice {
    machines: u32,
    wall_ns: Nanos,
    /// With ratios that do not differ between machines.
    half_width_if_equal: Option<f64>,
    /// With the deviation between machines.
    half_width: Option<f64>,
}

impl PricedMachines {
    /// Formats the prices in lines, after the noise unless it is stated before.
    pub(super) fn lines(&self, has_noise: bool) -> Vec<String> {
        let blocks = many(self.blocks as usize, "block");
        let between = cov(self.cov_between_machines);
        let source = match self.measured {
            Some(one) => {
                let how = if one.machines < KNOWN_FROM { "80 % upper bound" } else { "measured" };
                format!("{how} on {} of {}", many(one.machines, "machine"), self.pilot)
            }
            None => "assumed, no fleet of this experiment was measured".to_owned(),
        };
        let mut lines = if has_noise { Vec::new() } else { self.noise.clone() };
        lines.extend([
            format!("machines  {blocks} of about {}, each on one machine", self.block_ns),
            format!("between   the ratio deviates between machines by {between}: {source}"),
        ]);
        let row = |one: &MachinePrice| {
            let text = |half_width: Option<f64>| half_width.map_or("unknown".to_owned(), within);
            let equal = text(one.half_width_if_equal);
            let (equal, differing) = match one.machines {
                1 => (equal, "for this one machine only".to_owned()),
                _ => (
                    format!("{equal} if machines do not differ"),
                    format!("{} if ratios deviate by {between}", text(one.half_width)),
                ),
            };
            let machines = many(one.machines as usize, "machine");
            [format!("or        {machines}"), one.wall_ns.to_string(), equal, differing]
        };
        lines.extend(aligned(&self.rows.iter().map(row).collect::<Vec<_>>()));
        lines
    }
}
