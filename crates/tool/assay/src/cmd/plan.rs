//! `assay plan`: the runs in order, with machine time and disk.

use std::collections::BTreeSet;
use std::process::ExitCode;

use archive::Results;
use lint::{LintFinding, PlanContext, check_plan, has_rule};
use miette::{Result, miette};
use model::record::{Finding, Severity};
use model::sql::{CallMix, TrafficSpec};
use model::units::many;
use model::{
    Bytes, Experiment, Host, Load, LoadReuse, Nanos, Plan, Settings, Step, StopRule, Unit, Waiver,
};
use plan::{DISK_FLOOR_BYTES, Room};
use render::figure::figure;
use render::{Document, Format, Report, Style, folded, is_folded, labelled};
use serde::Serialize;
use serde_json::{Map, json};

use super::bench::check_floor;
use super::budget::{BudgetArgs, Proposed};
use super::fleet_options::FleetArgs;
use super::format::TextOrJson;
use super::plan_machines::{Machines, PricedMachines};
use super::plan_sizes::Priced;
use super::refused::{by_host, check_text, text};
use super::run_options::{ExperimentArgs, Verb, rates};
use super::{durability, fleet, optional, plan_hosts, published, servers};
use crate::catalog::Program;
use crate::environment::Environment;
use crate::ui::{Process, Ui};

/// Arguments of `assay plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!("Examples:
  assay plan quickstart
  assay plan readrandom --engine sqlite --engine lmdb --rows 1M --repetitions 5
  assay plan readwhilewriting --engine rocksdb@9.10.0 --rows 1M --sla 'p99.9 < 2ms'
  assay plan quickstart --budget 6h                       best use of six hours
  assay plan quickstart --repetitions 12 --on slurm       wall time and precision by machines
  assay plan quickstart --format json                     for programs, with and without --budget
  assay plan index-log-vs-lsm --size 1k                   only one size of the file", rates!()))]
pub(crate) struct Args {
    #[command(flatten)]
    experiment_args: ExperimentArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    output: TextOrJson,
}

/// Columns of the label of a line.
const LABEL: usize = 10;

/// A plan with its lint findings.
pub(crate) struct CheckedPlan {
    pub(crate) plan: Plan,
    /// The findings, most severe first, waived ones included.
    pub(crate) findings: Vec<LintFinding>,
}

impl CheckedPlan {
    /// Rejects a plan with blocking findings.
    pub(crate) fn check(&self) -> Result<()> {
        let blocks: Vec<&LintFinding> =
            self.findings.iter().filter(|finding| finding.weight() == Severity::Blocking).collect();
        if blocks.is_empty() {
            return Ok(());
        }
        let evidence = |finding: &&LintFinding| {
            format!("{} {}: {}", finding.code, finding.name, finding.evidence)
        };
        let evidence: Vec<_> = blocks.iter().map(evidence).collect();
        let remedies: BTreeSet<_> = blocks.iter().map(|finding| finding.remedy.as_str()).collect();
        let codes: BTreeSet<_> = blocks.iter().map(|finding| finding.code).collect();
        let typed: Vec<_> = codes.iter().map(|code| format!("--waive '{code}=REASON'")).collect();
        Err(miette!(
            help = format!(
                "{}\nto run the experiment anyway: {}, or [[waive]] with `code` and `reason` in \
                 the file; every result shows the reason in its first line",
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
    crate::phase::enter("for the experiment to be checked");
    check_floor(&environment.nearest_dir(), DISK_FLOOR_BYTES)?;
    let target = args.fleet.target()?;
    let (catalog, machine) = (Program::of(environment), environment.machine());
    let process = Process { environment, ui };
    let checked = args.experiment_args.check(
        &catalog,
        machine,
        Verb { name: "assay plan", own: &|command| command, obtain: optional::CHECK },
        process,
    )?;
    check_text(&checked, environment)?;
    let left_out = checked.left_out.clone();
    let sizes =
        if args.experiment_args.size().is_some() { Vec::new() } else { checked.sizes.clone() };
    let environment = &servers::with_open_data(environment, &checked.experiment, ui);
    if target.is_some() {
        fleet::check(&checked.experiment)?;
    }
    let planned = expand(checked.experiment, DISK_FLOOR_BYTES, environment)?;
    let experiment = &planned.plan.experiment;
    let proposed = args.budget.propose(experiment, environment)?;
    let machines = match Machines::of(target, &args.fleet, &planned.plan)? {
        None => None,
        Some(machines) => {
            let evidence = args.budget.evidence(experiment, environment, true)?;
            Some(machines.priced(&planned.plan, &evidence))
        }
    };
    let results = Results::at(&environment.results);
    let mut refusals = match experiment.hosts {
        None => by_host(experiment, Some(&results), environment).iter().map(text).collect(),
        // The machines of the experiment check what they lack.
        Some(_) => Vec::new(),
    };
    // Several variants may lack the same.
    refusals.dedup();
    let mut priced = Vec::new();
    for size in sizes {
        let sized = args.experiment_args.of_size(Some(&size), &left_out, &catalog, machine)?;
        priced.push(Priced::of(size, sized.experiment, environment));
    }
    let shown = Shown { planned: &planned, proposed, machines, refusals, priced };
    ui.report(&shown, args.output.format);
    Ok(ExitCode::SUCCESS)
}

/// A plan as it is printed.
struct Shown<'a> {
    planned: &'a CheckedPlan,
    proposed: Option<Proposed>,
    /// Prices by number of machines.
    machines: Option<PricedMachines>,
    /// What `run` refuses on this host.
    refusals: Vec<String>,
    /// The file's other sizes.
    priced: Vec<Priced>,
}

impl Report for Shown<'_> {
    fn document(&self, _: Format, style: Style) -> Document {
        let experiment = &self.planned.plan.experiment;
        let mut lines = match &self.proposed {
            Some(Proposed { lines, .. }) => {
                let head = waived(experiment).into_iter().chain([experiment.title()]);
                head.chain(lines.iter().cloned()).collect()
            }
            None => lines(self.planned, style),
        };
        let has_noise = self.proposed.is_some();
        lines.extend(self.machines.iter().flat_map(|machines| machines.lines(has_noise)));
        let note = |note| labelled(&format!("note      {note}"), LABEL, style);
        lines.extend(sampler::limit_notes().iter().map(note));
        let refusal = |text| format!("warning   `run` refuses this plan on this host: {text}");
        lines.extend(self.refusals.iter().map(refusal));
        lines.extend(self.priced.iter().map(Priced::line));
        Document::lines(lines)
    }

    fn data(&self) -> impl Serialize {
        let CheckedPlan { plan, findings } = self.planned;
        let times = plan::times_by_reuse(&plan.experiment, &Program::default());
        let times: Map<_, _> =
            times.into_iter().map(|(reuse, time)| (reuse.name().to_owned(), json!(time))).collect();
        let proposal = self.proposed.as_ref().map(|proposed| &proposed.data);
        let mut all = json!({
            "plan": plan,
            "findings": findings,
            "machine_time_by_load_ns": times,
            "published": published::planned(&plan.experiment),
            "proposal": proposal,
            "refused_by_run": self.refusals,
            "sizes": self.priced,
        });
        if let Some(machines) = &self.machines {
            all["machines"] = json!(machines);
        }
        all
    }
}

/// Plans the runs of an experiment, with findings; `floor` is the disk space that stays free.
pub(crate) fn expand(
    experiment: Experiment,
    floor: Bytes,
    environment: &Environment,
) -> Result<CheckedPlan> {
    let is_here = experiment.hosts.is_none();
    let free = if is_here { environment.disk_free() } else { Bytes(u64::MAX) };
    let room = Room { free, floor };
    let mut plan = plan::expand(experiment, &Program::default(), room)?;
    let data = environment.data_place(&environment.data_dir).map(Box::new);
    let host = Host { data, ..sampler::host_facts(&environment.nearest_dir()) };
    let (experiment, cells) = (&plan.experiment, &plan.cells[..]);
    let host = is_here.then_some(&host);
    let findings = check_plan(&PlanContext { experiment, cells, host, has_rule });
    plan.findings = findings.iter().map(Finding::from).collect();
    Ok(CheckedPlan { plan, findings })
}

/// Returns the waivers in one line, if any.
pub(crate) fn waived(experiment: &Experiment) -> Option<String> {
    let waiver_text = |waiver: &Waiver| format!("{} ({})", waiver.code, waiver.reason);
    let waivers: Vec<_> = experiment.waivers.iter().map(waiver_text).collect();
    (!waivers.is_empty()).then(|| format!("waived    {}", waivers.join(", ")))
}

/// Describes which runs share a load, with the machine time of each way; `None` when it is alike.
fn loads(plan: &Plan) -> Option<String> {
    let experiment = &plan.experiment;
    let times = plan::times_by_reuse(experiment, &Program::default());
    let differs =
        |(_, time): &(LoadReuse, Nanos)| time.0.abs_diff(times[0].1.0) > times[0].1.0 / 20;
    if experiment.load.is_fresh() && !times.iter().any(differs) {
        return None;
    }
    let times = times.map(|(reuse, time)| format!("{} {time}", reuse.name())).join(", ");
    Some(format!("load      {}; machine time: {times}", experiment.load.reuse.name()))
}

/// Formats the plan in lines.
pub(super) fn lines(planned: &CheckedPlan, style: Style) -> Vec<String> {
    let plan = &planned.plan;
    let experiment = &plan.experiment;
    let mut lines: Vec<String> = waived(experiment).into_iter().collect();
    // A search goes on until a rate is confirmed: on a busy host it takes several attempts.
    let has_search = experiment.steps.iter().any(|step| matches!(step.load, Load::FindRate(_)));
    let about = if has_search { "at least" } else { "about" };
    lines.extend([
        experiment.title(),
        rows(experiment),
        format!(
            "cost      {about} {} of machine time; up to {} of disk at a time",
            plan.estimated_ns, plan.estimated_disk_bytes
        ),
        format!(
            "margin    {}: smaller differences do not matter",
            figure(Unit::Share, experiment.margin)
        ),
    ]);
    lines.extend(loads(plan));
    if experiment.is_profiled {
        lines.push("profiles  perf samples the CPU time of the measured steps".to_owned());
    }
    lines.extend(plan_hosts::lines(experiment));
    lines.extend(durability::line(experiment));
    for variant in &experiment.variants {
        let base = match variant {
            control if control.is_control => "  (control: the base repeated)",
            variant if variant.name == experiment.base => "  (base)",
            variant if experiment.is_left_out(&variant.name) => {
                "  (left out: name the device with --raw)"
            }
            _ => "",
        };
        if experiment.device.is_some() {
            lines.push(format!("variant   {}: {}{base}", variant.name, variant.build));
            continue;
        }
        let profile = match (&variant.dsn, &variant.profile) {
            (Some(dsn), _) => format!("running server {dsn}"),
            (None, Some(profile)) => format!("engine profile {profile}"),
            (None, None) => "no engine profile".to_owned(),
        };
        let settings = settings(&variant.settings);
        lines.push(format!(
            "variant   {}: {}, {profile}, {settings}{base}",
            variant.name, variant.build
        ));
        let notes = variant.dsn.iter().flat_map(|dsn| &dsn.notes);
        lines.extend(notes.map(|note| format!("note      {}: {note}", variant.name)));
    }
    let levels: Vec<_> = experiment.clients.iter().map(u32::to_string).collect();
    let levels = levels.join(", ");
    lines.extend(experiment.steps.iter().map(|step| step_line(experiment, step, &levels)));
    lines.extend(declared(experiment));
    lines.extend(published::lines(experiment));
    let total = plan.cells.len();
    let layout = match total {
        1 => String::new(),
        _ => format!("{}, ", plan::layout(experiment)),
    };
    lines.push(format!("order     {}, {layout}from seed {}", many(total, "run"), experiment.seed));
    for (number, cell) in (1..).zip(&plan.cells) {
        lines.push(format!("  {number:>4}  {}", cell.id));
    }
    let size = experiment.size.as_deref();
    let findings = planned.findings.iter().filter(|one| !is_folded(size, one));
    let notes = folded(size, &planned.findings).map(|line| format!("note      {line}"));
    let findings = findings.map(finding_line).chain(notes);
    lines.extend(findings.map(|line| labelled(&line, LABEL, style)));
    lines
}

/// Formats the metrics and steps that the file declares its question to be about, if it does.
fn declared(experiment: &Experiment) -> Option<String> {
    let metrics = match &experiment.answer[..] {
        [] if experiment.measure.is_empty() => return None,
        [] => "the throughput".to_owned(),
        names => names.join(", "),
    };
    let steps = experiment.measure.join(", ");
    let steps = if steps.is_empty() { "every step but loading".to_owned() } else { steps };
    Some(format!("answer    {metrics}, in {steps}"))
}

/// Formats a finding in one line.
fn finding_line(finding: &LintFinding) -> String {
    let label = match (&finding.waived, finding.severity) {
        (Some(_), _) => "waived",
        (None, Severity::Blocking) => "rejected",
        (None, Severity::Warning) => "warning",
        (None, Severity::Note) => "note",
    };
    format!("{label:<9} {} {}; {}", finding.code, finding.evidence, finding.remedy)
}

/// Formats a step in one line; `levels` are the levels of the client factor.
fn step_line(experiment: &Experiment, step: &Step, levels: &str) -> String {
    let application = experiment.application.as_ref();
    let step_spec = application.and_then(|application| application.step(&step.name));
    let is_searched = matches!(step.load, Load::FindRate(_) | Load::FindClients);
    let stop = match step.stop {
        StopRule::Operations(0) => {
            return format!("step      {}: until idle, at most {}", step.name, step.settle_cap);
        }
        StopRule::Operations(n) => match step_spec {
            Some(step_spec) => by_rows(step_spec, experiment.data.rows),
            None => many(n, "operation"),
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
    let keys = match step_spec {
        None if experiment.device.is_some() => String::new(),
        None => format!(", {}", step.distribution),
        Some(spec) => next_to_calls(spec),
    };
    let events: String = step.events.iter().map(|event| format!(", {event}")).collect();
    format!("step      {}: {stop}, clients {most}{clients}{keys}{load}{limit}{events}", step.name)
}

/// Formats what an application's step does next to the calls of its clients.
fn next_to_calls(step_spec: &TrafficSpec) -> String {
    let background = step_spec.background.as_ref().map_or_else(String::new, |background| {
        format!(", with {} background rows/s per client", background.rows_per_s)
    });
    let hold = step_spec.hold.map_or_else(String::new, |hold| {
        format!(", a transaction of each client held open for {}", hold.time_ns)
    });
    format!("{background}{hold}")
}

/// Formats the end of an application's step that ends by rows.
fn by_rows(step_spec: &TrafficSpec, loaded: u64) -> String {
    match (&step_spec.clients, step_spec.rows) {
        (Some(CallMix::Once(procedures)), _) => {
            let calls = |calls: usize| {
                if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") }
            };
            format!("{} for each table", calls(procedures.len()))
        }
        (_, Some(rows)) => format!("{} rows", rows.of(loaded)),
        (_, None) => "operations".to_owned(),
    }
}

/// Formats the stored rows.
fn rows(experiment: &Experiment) -> String {
    let data = &experiment.data;
    if let Some(device) = &experiment.device {
        let filled = if device.is_filled { "filled first" } else { "never written: bogus" };
        return format!("file      {}, {filled}", device.file_bytes());
    }
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
            "rows      {} of about {} bytes, {} in all\nworkload  {}: {}",
            data.rows,
            application.row_bytes,
            data.live_bytes(),
            application.name,
            application.about
        ),
    }
}

/// Lists a variant's settings, engine defaults left out.
fn settings(settings: &Settings) -> String {
    let defaults = Settings::default().labels();
    let is_shown = |label: &(&'static str, Option<String>)| {
        label.0 == "durability" || !defaults.contains(label)
    };
    let labels = settings.labels().into_iter().filter(is_shown);
    let text = |(key, text): (&str, Option<String>)| match text.as_deref() {
        None | Some("true") => key.replace('_', " "),
        Some(text) => format!("{} {text}", key.replace('_', " ")),
    };
    labels.map(text).collect::<Vec<_>>().join(", ")
}
