//! `assay plan --on`: wall time and precision by number of machines.

use std::collections::BTreeSet;

use analysis::budget::{MachineDeviation, StepNoise, half_width_on};
use miette::{Result, miette};
use model::units::many;
use model::{Nanos, Plan, Unit, count};
use render::figure::figure;
use serde_json::{Value, json};

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
    target: Target,
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
        Ok(Some(Self { target, most: requested, blocks }))
    }

    /// Returns the prices of one machine to the most.
    pub(super) fn priced(&self, plan: &Plan, evidence: &Evidence) -> PricedMachines {
        let noise = &evidence.noise[..];
        let block = Nanos(plan.estimated_ns.0 / u64::from(self.blocks.max(1)));
        let measured = evidence.pilot.machines;
        let between = measured.map_or(ASSUMED, |one| one.cov);
        let numbers = STEPS.into_iter().filter(|one| *one < self.most).chain([self.most]);
        let price = |machines: u32| {
            let rounds = u64::from(self.blocks.div_ceil(machines));
            MachinePrice {
                machines,
                wall: Nanos(block.0.saturating_mul(rounds)),
                if_equal: known(noise, half_width_on(noise, self.blocks, machines, 0.0)),
                half_width: known(noise, half_width_on(noise, self.blocks, machines, between)),
            }
        };
        PricedMachines {
            target: match &self.target {
                Target::Slurm { constraint: Some(class) } => format!("slurm, class {class}"),
                Target::Slurm { constraint: None } => "slurm".to_owned(),
                Target::Hosts(_) => "hosts".to_owned(),
            },
            blocks: self.blocks,
            block,
            measured,
            pilot: evidence.pilot.id.clone(),
            between,
            noise: noise_lines(noise, &evidence.pilot),
            rows: numbers.map(price).collect(),
        }
    }
}

/// Returns a half-width where steps are measured.
fn known(noise: &[StepNoise], half_width: f64) -> Option<f64> {
    (!noise.is_empty()).then_some(half_width)
}

/// Prices of a plan by number of machines.
pub(super) struct PricedMachines {
    target: String,
    blocks: u32,
    /// Machine time of one block.
    block: Nanos,
    measured: Option<MachineDeviation>,
    /// The experiment that was measured.
    pilot: String,
    /// Deviation of ratios between machines, a share.
    between: f64,
    /// The noise of a block, in lines.
    noise: Vec<String>,
    rows: Vec<MachinePrice>,
}

/// Wall time and precision of a number of machines.
struct MachinePrice {
    machines: u32,
    wall: Nanos,
    /// Half-width if ratios do not differ between machines, a share.
    if_equal: Option<f64>,
    /// Half-width with the deviation between machines, a share.
    half_width: Option<f64>,
}

impl PricedMachines {
    /// Formats the prices in lines, after the noise unless it is stated before.
    pub(super) fn lines(&self, has_noise: bool) -> Vec<String> {
        let blocks = many(self.blocks as usize, "block");
        let mut lines = if has_noise { Vec::new() } else { self.noise.clone() };
        lines.push(format!(
            "machines  {}: {blocks} of about {}, each on one machine",
            self.target, self.block
        ));
        let between = figure(Unit::Share, self.between);
        let deviation = match self.measured {
            Some(one) => format!(
                "{}: {} on {} of {}",
                cov(one.cov),
                if one.machines < KNOWN_FROM { "80 % upper bound" } else { "measured" },
                many(one.machines, "machine"),
                self.pilot
            ),
            None => format!("{between}: assumed, no fleet of this experiment was measured"),
        };
        lines.push(format!("between   the ratio deviates between machines by {deviation}"));
        let row = |one: &MachinePrice| {
            let text = |half_width: Option<f64>| half_width.map_or("unknown".to_owned(), within);
            let own = "for this one machine only".to_owned();
            let (equal, differing) = match one.machines {
                1 => (text(one.if_equal), own),
                _ => (
                    format!("{} if machines do not differ", text(one.if_equal)),
                    format!("{} if ratios deviate by {between}", text(one.half_width)),
                ),
            };
            let machines = many(one.machines as usize, "machine");
            [format!("or        {machines}"), one.wall.to_string(), equal, differing]
        };
        lines.extend(aligned(&self.rows.iter().map(row).collect::<Vec<_>>()));
        lines
    }

    /// Returns the prices for programs; half-widths and deviations are shares.
    pub(super) fn data(&self) -> Value {
        let row = |one: &MachinePrice| {
            json!({
                "machines": one.machines,
                "wall_ns": one.wall,
                "half_width_if_equal": one.if_equal,
                "half_width": one.half_width,
            })
        };
        json!({
            "target": self.target,
            "blocks": self.blocks,
            "block_ns": self.block,
            "cov_between_machines": self.between,
            "is_between_measured": self.measured.is_some(),
            "measured_machines": self.measured.map(|one| one.machines),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}
