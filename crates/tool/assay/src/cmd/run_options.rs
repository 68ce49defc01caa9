//! Arguments of `plan` and `run`: a file or steps, and overrides.

use std::fs;
use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use model::{BuildRef, Options, Waiver};
use plan::{Checked, Machine, Overrides, QuickVariant};

use crate::catalog::Program;

/// Syntax of rates, shown below the examples of a command.
macro_rules! rates {
    () => {
        "

Rates:
  50k/s                                  operations per second over all clients
  'ramp 10k/s..100k/s over 60s'          linear; the last rate continues
  'steps 10k/s 20k/s 40k/s every 10s'    in sequence; the last rate continues
  'sine 50k/s +-20k/s every 60s'         a wave
  'file rates.csv'                       lines of t,rate: seconds, operations per second"
    };
}
pub(crate) use rates;

/// The experiment: a file, or steps and engines.
#[derive(Debug, clap::Args)]
pub(crate) struct ExperimentArgs {
    /// Experiment file (.toml), or steps such as `fillseq readrandom`
    #[arg(value_name = "FILE|STEP")]
    inputs: Vec<String>,
    /// Engine to run the steps against, NAME or NAME@VERSION; repeat to compare
    #[arg(long, value_name = "BUILD")]
    engine: Vec<BuildRef>,
    /// Profile of the engines given here that it applies to
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Option of the engines given here, by the engine's own name; repeat for more
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    #[command(flatten)]
    overrides: OverrideArgs,
}

/// Options that override the file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Overrides of the file")]
struct OverrideArgs {
    /// Rows of the key space, such as 200k or 4M
    #[arg(long, value_name = "COUNT")]
    rows: Option<String>,
    /// Bytes of a key
    #[arg(long, value_name = "BYTES")]
    key_bytes: Option<u32>,
    /// Bytes of a value
    #[arg(long, value_name = "BYTES")]
    value_bytes: Option<u32>,
    /// Length of the steps that end by duration, such as 10s
    #[arg(long, value_name = "SPAN")]
    duration: Option<String>,
    /// Unmeasured warm-up of these steps
    #[arg(long, value_name = "SPAN")]
    warmup: Option<String>,
    /// Client threads: levels such as 1,2,4; `sweep` for levels from 1 to 4 times the CPUs;
    /// `adaptive` to find the number with the highest throughput
    #[arg(long, value_name = "LEVELS")]
    clients: Option<String>,
    /// Offered rate of an open loop, such as 50k/s, in steps that end by duration
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    rate: Option<String>,
    /// Arrivals within the rate: poisson or constant
    #[arg(long, value_name = "NAME")]
    arrivals: Option<String>,
    /// How a free client waits for an arrival: auto, spin or hybrid
    #[arg(long, value_name = "NAME")]
    pacing: Option<String>,
    /// Response-time limit, such as 'p99.9 < 2ms': with --rate it is tested at that rate, alone it
    /// finds the highest rate within it
    #[arg(long, value_name = "LIMIT")]
    sla: Option<String>,
    /// Operations that each client has in flight, such as 16: SQL servers only, in steps that end
    /// by duration
    #[arg(long, value_name = "DEPTH")]
    pipeline: Option<u32>,
    /// Repetitions of every cell
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Key distribution, such as uniform, zipf:0.99 or hotspot:64.512
    #[arg(long, value_name = "NAME")]
    distribution: Option<String>,
    /// Rate limit of the background writer, such as 2MiB/s
    #[arg(long, value_name = "SIZE/s")]
    writer_rate: Option<String>,
    /// Durability class: none, os or sync
    #[arg(long, value_name = "CLASS")]
    durability: Option<String>,
    /// Size of the engine's own cache, such as 1GiB
    #[arg(long, value_name = "SIZE")]
    cache_size: Option<String>,
    /// Memory cap of the worker, such as 2GiB
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Block compression: none, lz4 or zstd
    #[arg(long, value_name = "NAME")]
    compression: Option<String>,
    /// Allocator that serves malloc: system, jemalloc, tcmalloc or mimalloc
    #[arg(long, value_name = "NAME")]
    allocator: Option<String>,
    /// Bypass the page cache
    #[arg(long)]
    direct_io: bool,
    /// Workload preset that derives sizes from the machine (byrx, byos, iobuf or iodir), or
    /// application of SQL servers: ibench-2023, ibench-current, sysbench, or a file of your own
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Parameter of that application, such as tables=8; repeat for more
    #[arg(long, value_name = "NAME=VALUE")]
    parameter: Vec<String>,
    /// CPUs of the client and its server: free, same-cpu or split
    #[arg(long, value_name = "NAME")]
    placement: Option<String>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Base case of the relative tables
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Smallest difference that matters, such as 2%
    #[arg(long, value_name = "PERCENT")]
    margin: Option<String>,
    /// Run the base once more under another name: a difference found there is noise
    #[arg(long)]
    control: bool,
    /// Set a rule aside, such as 'A001=durability is the question'; repeat for more
    #[arg(long, value_name = "CODE=REASON", value_parser = waiver)]
    waive: Vec<Waiver>,
}

/// Parses a waiver.
fn waiver(text: &str) -> std::result::Result<Waiver, String> {
    let (code, reason) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` has no reason: write '{text}=why it does not matter'"))?;
    Ok(Waiver { code: code.trim().to_owned(), reason: reason.trim().to_owned() })
}

impl OverrideArgs {
    fn overrides(&self) -> Result<Overrides> {
        Ok(Overrides {
            rows: self.rows.clone(),
            key_bytes: self.key_bytes,
            value_bytes: self.value_bytes,
            duration: self.duration.clone(),
            warmup: self.warmup.clone(),
            clients: self.clients.clone(),
            rate: self.rate.clone(),
            arrivals: self.arrivals.clone(),
            pacing: self.pacing.clone(),
            sla: self.sla.clone(),
            pipeline: self.pipeline,
            repetitions: self.repetitions,
            distribution: self.distribution.clone(),
            writer_rate: self.writer_rate.clone(),
            durability: self.durability.clone(),
            cache: self.cache_size.clone(),
            memory: self.memory.clone(),
            compression: self.compression.clone(),
            allocator: self.allocator.clone(),
            direct_io: self.direct_io.then_some(true),
            workload: self.workload.clone(),
            parameters: pairs(&self.parameter, "--parameter")?,
            placement: self.placement.clone(),
            seed: self.seed,
            base: self.base.clone(),
            margin: self.margin.clone(),
            control: self.control.then_some(true),
            waivers: self.waive.clone(),
        })
    }
}

impl ExperimentArgs {
    /// Reads and checks the experiment.
    pub(crate) fn check(&self, machine: Machine) -> Result<Checked> {
        let overrides = self.overrides.overrides()?;
        if self.inputs.is_empty() {
            return Err(miette!(
                help = "give an experiment file, or steps such as `readrandom --engine lmdb`",
                "no experiment given"
            ));
        }
        let files = self.inputs.iter().filter(|input| is_file(input)).count();
        if files > 0 {
            let [file] = self.inputs.as_slice() else {
                return Err(miette!("one experiment file at a time, without further steps"));
            };
            if !self.engine.is_empty() || !self.option.is_empty() || self.profile.is_some() {
                return Err(miette!(
                    help = "add a [[variant]] to the file, or give steps instead of the file",
                    "--engine, --profile and --option go with steps, not with a file"
                ));
            }
            return read_file(file, &overrides, machine);
        }
        Ok(plan::quick(&self.inputs, &self.variants()?, &overrides, &Program, machine)?)
    }

    /// Returns the variants given on the command line.
    fn variants(&self) -> Result<Vec<QuickVariant>> {
        let mut options = Options::new();
        for (name, value) in pairs(&self.option, "--option")? {
            options.set(&name, &value);
        }
        let profile_of = |build: &BuildRef| {
            let own = format!("{}-", build.engine);
            self.profile.clone().filter(|profile| {
                profile.starts_with(&own) || profile.ends_with(".toml") || self.engine.len() == 1
            })
        };
        let variant = |build: &BuildRef| QuickVariant {
            build: build.clone(),
            profile: profile_of(build),
            options: options.clone(),
        };
        Ok(self.engine.iter().map(variant).collect())
    }
}

/// Parses the NAME=VALUE arguments of `flag`.
fn pairs(typed: &[String], flag: &str) -> Result<Vec<(String, String)>> {
    let pair = |typed: &String| match typed.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(miette!("`{flag} {typed}` is not NAME=VALUE")),
    };
    typed.iter().map(pair).collect()
}

/// Reads and checks an experiment file.
pub(crate) fn read_file(file: &str, overrides: &Overrides, machine: Machine) -> Result<Checked> {
    let text = fs::read_to_string(file)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read the experiment file {file}"))?;
    Ok(plan::load(file, &text, overrides, &Program, machine)?)
}

/// Returns whether an argument is an experiment file and no step.
fn is_file(input: &str) -> bool {
    input.ends_with(".toml") || input.contains('/') || Path::new(input).is_file()
}
