//! `assay plan`: the runs in their order, with machine time and disk; nothing is run.

use std::collections::BTreeSet;
use std::process::ExitCode;

use lint::{LintFinding, PlanContext, check_plan};
use miette::{Result, miette};
use model::record::{Finding, Severity};
use model::sql::{CallMix, TrafficSpec};
use model::{Bytes, Experiment, Load, Plan, Settings, Step, StopRule, Unit, Waiver};
use plan::{DISK_FLOOR_BYTES, Machine, Room};
use render::figure::figure;

use super::asked::{Asked, rates};
use super::published;
use super::spend::Spend;
use crate::catalog::Program;
use crate::environment::Environment;
use crate::ui::Ui;

/// The question to plan.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!("Examples:
  assay plan experiments/quickstart.toml
  assay plan readrandom --engine sqlite --engine lmdb --rows 1M --repetitions 5
  assay plan readwhilewriting --engine rocksdb@9.10.0 --rows 1M --sla 'p99.9 < 2ms'
  assay plan experiments/quickstart.toml --budget 6h      what six hours of machine time buy", rates!()))]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    spend: Spend,
}

/// A plan, and what doubts it.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// What doubts it, the gravest first; what was waived is among them.
    pub(crate) found: Vec<LintFinding>,
}

impl Planned {
    /// Refuses a plan whose result would be bogus, before machine time is spent on it.
    pub(crate) fn check(&self) -> Result<()> {
        let blocks: Vec<&LintFinding> =
            self.found.iter().filter(|found| found.weight() == Severity::Blocking).collect();
        if blocks.is_empty() {
            return Ok(());
        }
        let evidence =
            |found: &&LintFinding| format!("{} {}: {}", found.code, found.name, found.evidence);
        let evidence: Vec<_> = blocks.iter().map(evidence).collect();
        let remedies: BTreeSet<_> = blocks.iter().map(|found| found.remedy.as_str()).collect();
        let codes: BTreeSet<_> = blocks.iter().map(|found| found.code).collect();
        let typed: Vec<_> = codes.iter().map(|code| format!("--waive '{code}=REASON'")).collect();
        Err(miette!(
            help = format!(
                "{}\nto run it as it is: {}, or [[waive]] with `code` and `reason` in the file; the \
                 reason stands in the first line of every result",
                remedies.into_iter().collect::<Vec<_>>().join("\n"),
                typed.join(" ")
            ),
            "the result would be bogus: {}",
            evidence.join("; ")
        ))
    }
}

/// Prints the plan.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let checked = args.asked.check(machine(environment))?;
    let planned = expand(checked.experiment, DISK_FLOOR_BYTES, environment)?;
    let experiment = &planned.plan.experiment;
    let lines = match args.spend.lines(experiment, environment)? {
        Some(proposal) => {
            let question = format!("{}: {}", experiment.name, experiment.question);
            waived(experiment).into_iter().chain([question]).chain(proposal).collect()
        }
        None => lines(&planned),
    };
    for line in lines {
        ui.answer(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the runs of an experiment in their order, and what doubts them; `floor` of the disk must
/// stay free.
pub(crate) fn expand(
    experiment: Experiment,
    floor: Bytes,
    environment: &Environment,
) -> Result<Planned> {
    let room = Room { free: disk_free(environment), floor };
    let mut plan = plan::expand(experiment, &Program, room)?;
    let host = sampler::host_facts(nearest_dir(environment));
    let (experiment, cells) = (&plan.experiment, &plan.cells[..]);
    let found = check_plan(&PlanContext { experiment, cells, host: Some(&host) });
    plan.findings = found.iter().map(Finding::from).collect();
    Ok(Planned { plan, found })
}

/// Returns what the author set aside, in one line; none when nothing is.
pub(crate) fn waived(experiment: &Experiment) -> Option<String> {
    let told = |waiver: &Waiver| format!("{} ({})", waiver.code, waiver.reason);
    let waivers: Vec<_> = experiment.waivers.iter().map(told).collect();
    (!waivers.is_empty()).then(|| format!("waived    {}", waivers.join(", ")))
}

/// Returns the machine's size.
pub(crate) fn machine(environment: &Environment) -> Machine {
    let host = sampler::host_facts(nearest_dir(environment));
    Machine { cpus: host.cpus, memory_bytes: host.memory_bytes }
}

/// Returns the free space where data will be put.
fn disk_free(environment: &Environment) -> Bytes {
    runner::free_space(nearest_dir(environment)).unwrap_or(Bytes(u64::MAX))
}

/// Returns the data directory, or the directory above it that exists already.
pub(crate) fn nearest_dir(environment: &Environment) -> &std::path::Path {
    let existing = environment.data_dir.ancestors().find(|dir| dir.is_dir());
    existing.unwrap_or_else(|| std::path::Path::new("."))
}

/// Returns the plan in lines for people.
fn lines(planned: &Planned) -> Vec<String> {
    let plan = &planned.plan;
    let experiment = &plan.experiment;
    let mut lines: Vec<String> = waived(experiment).into_iter().collect();
    lines.extend([
        format!("{}: {}", experiment.name, experiment.question),
        rows(experiment),
        format!(
            "cost      about {} of machine time; up to {} of disk at a time",
            plan.estimated_ns, plan.estimated_disk_bytes
        ),
        format!(
            "margin    {}: smaller differences do not matter",
            figure(Unit::Share, experiment.margin)
        ),
    ]);
    if !experiment.placement.is_free() {
        lines.push(format!("placement {}", experiment.placement));
    }
    for variant in &experiment.variants {
        let base = match variant {
            control if control.is_control => "  (control: the base once more)",
            variant if variant.name == experiment.base => "  (base)",
            _ => "",
        };
        let profile = match (&variant.dsn, &variant.profile) {
            (Some(dsn), _) => format!("that runs as {dsn}"),
            (None, Some(profile)) => profile.clone(),
            (None, None) => "no profile".to_owned(),
        };
        let settings = settings(&variant.settings);
        lines.push(format!(
            "variant   {}: {}, {profile}, {settings}{base}",
            variant.name, variant.build
        ));
    }
    let levels = listed(&experiment.clients);
    lines.extend(experiment.steps.iter().map(|step| step_line(experiment, step, &levels)));
    lines.extend(published::planned(experiment));
    let total = plan.cells.len();
    let runs = if total == 1 { "run" } else { "runs" };
    let layout = match total {
        1 => String::new(),
        _ => format!("{}, ", plan::layout(experiment)),
    };
    lines.push(format!("order     {total} {runs}, {layout}from seed {}", experiment.seed));
    for (number, cell) in (1..).zip(&plan.cells) {
        lines.push(format!("  {number:>4}  {}", cell.id));
    }
    lines.extend(planned.found.iter().map(doubt));
    lines
}

/// Returns one finding in a line.
fn doubt(found: &LintFinding) -> String {
    let word = match (&found.waived, found.severity) {
        (Some(_), _) => "waived",
        (None, Severity::Blocking) => "refused",
        (None, Severity::Warning) => "doubt",
        (None, Severity::Note) => "note",
    };
    format!("{word:<9} {} {}; {}", found.code, found.evidence, found.remedy)
}

/// Returns a step in one line; `levels` are those of the client factor.
fn step_line(experiment: &Experiment, step: &Step, levels: &str) -> String {
    let application = experiment.application.as_ref();
    let traffic_spec = application.and_then(|application| application.step(&step.name));
    let is_searched = matches!(step.load, Load::FindRate(_) | Load::FindClients);
    let stop = match step.stop {
        StopRule::Operations(0) => {
            return format!("step      {}: until idle, at most {}", step.name, step.settle_cap);
        }
        StopRule::Operations(n) => match traffic_spec {
            Some(traffic_spec) => by_rows(traffic_spec, experiment.data.rows),
            None => format!("{n} operations"),
        },
        StopRule::Duration(span) => {
            let probes = if is_searched { "probes of " } else { "" };
            format!("{probes}{span} after {} of warm-up", step.warmup)
        }
    };
    let clients = match step.clients {
        0 => levels.to_owned(),
        own => own.to_string(),
    };
    let most = if step.load == Load::FindClients { "up to " } else { "" };
    let load = match step.load {
        Load::Closed => String::new(),
        Load::Pipelined(_) | Load::Open(_) | Load::FindRate(_) | Load::FindClients => {
            format!(", {}", step.load)
        }
    };
    let limit = step.limit.map_or(String::new(), |limit| format!(", with {limit}"));
    let drawn = match traffic_spec {
        None => format!(", {}", step.distribution),
        Some(TrafficSpec { background: Some(background), .. }) => {
            format!(", beside {} rows/s each", background.rows_per_s)
        }
        Some(_) => String::new(),
    };
    format!("step      {}: {stop}, clients {most}{clients}{drawn}{load}{limit}", step.name)
}

/// Returns how a step of an application ends that ends by rows.
fn by_rows(traffic_spec: &TrafficSpec, loaded: u64) -> String {
    match (&traffic_spec.clients, traffic_spec.rows) {
        (Some(CallMix::Once(procedures)), _) => {
            let calls = procedures.len();
            let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
            format!("{calls} for each table")
        }
        (_, Some(rows)) => format!("{} rows", rows.of(loaded)),
        (_, None) => "operations".to_owned(),
    }
}

/// Returns what is stored, in a line.
fn rows(experiment: &Experiment) -> String {
    let data = &experiment.data;
    match &experiment.application {
        None => format!(
            "rows      {} of {} + {} bytes, {} in all, values compressible to {}",
            data.rows,
            data.key_bytes,
            data.value_bytes,
            data.live_bytes(),
            data.compressible_to
        ),
        Some(application) => format!(
            "rows      {} of about {} bytes, {} in all\nasked     {}: {}",
            data.rows,
            application.row_bytes,
            data.live_bytes(),
            application.name,
            application.about
        ),
    }
}

/// Returns `1, 2 or 4`.
fn listed(levels: &[u32]) -> String {
    let levels: Vec<_> = levels.iter().map(u32::to_string).collect();
    match levels.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => levels.concat(),
    }
}

/// Returns a variant's settings in words, those that are left to the engine left out.
fn settings(settings: &Settings) -> String {
    let mut words = vec![format!("durability {}", settings.durability)];
    words.extend(settings.cache_bytes.map(|bytes| format!("cache {bytes}")));
    words.extend(settings.compression.as_ref().map(|name| format!("compression {name}")));
    words.extend(settings.background_jobs.map(|jobs| format!("background jobs {jobs}")));
    words.extend(settings.direct_io.then(|| "direct IO".to_owned()));
    let allocator = settings.allocator;
    words.extend((!allocator.is_system()).then(|| format!("allocator {allocator}")));
    words.join(", ")
}
