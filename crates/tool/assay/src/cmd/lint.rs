//! `assay lint`: checks plans, runs and comparisons for mistakes.

use std::process::ExitCode;

use archive::Results;
use lint::{
    LintFinding, Rule, RunContext, check_run, comparison_label, find, has_rule, rules, run_label,
};
use miette::{Result, miette};
use model::Label;
use model::record::Severity;
use plan::{DISK_FLOOR_BYTES, Overrides};
use render::{Checked, ExplainedRule, Report as _, Style};

use super::analyzed::Study;
use super::format::TextOrJson;
use super::plan as planning;
use super::run_options::read_file;
use super::selected::{JoinedResults, select};
use super::steady::Window;
use crate::catalog::Program;
use crate::environment::Environment;
use crate::ui::Ui;

/// Exit code when the check failed; findings exit with `ExitCode::FAILURE`.
pub(crate) const EXIT_ERROR: u8 = 2;

/// Arguments of `assay lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay lint mine.toml                       the plan, before machine time is spent
  assay lint experiments/index-log-vs-lsm.toml --size 1k   only one size of the file
  assay lint quickstart                      the newest results of that name
  assay lint quickstart/lmdb.c1.r1           one run only
  assay lint --explain A003                  condition, reason, remedy and source of a rule
  assay lint quickstart --explain A003       the same, with its findings there
  assay lint --rules                         every rule in one line
  assay lint quickstart --format json        findings for programs; with --rules and --explain too

Exit code: 0 if no finding has the severity of --fail-on or a higher one, 1 if a finding has, 2 if
the check failed, 3 if the experiment measured or decided nothing. Waived findings are notes.")]
pub(crate) struct Args {
    /// Experiments (name, identifier or directory), runs (EXPERIMENT/RUN) or experiment files
    /// (.toml); several results are checked as one comparison
    #[arg(required_unless_present_any = ["explain", "rules"], value_name = "EXPERIMENT|RUN|FILE")]
    inputs: Vec<String>,
    /// Explain a rule, such as A003
    #[arg(long, value_name = "CODE", value_parser = rule, conflicts_with = "rules")]
    explain: Option<&'static Rule>,
    /// List every rule in one line
    #[arg(long, conflicts_with = "inputs")]
    rules: bool,
    /// Size of the experiment files ([size.NAME]), whose settings replace the file's settings
    #[arg(long, value_name = "NAME", requires = "inputs")]
    size: Option<String>,
    /// Lowest severity that exits with 1: note, warning or blocking
    #[arg(long, default_value = "blocking", value_name = "SEVERITY")]
    fail_on: Severity,
    #[command(flatten)]
    output: TextOrJson,
}

/// Parses the code of a rule.
fn rule(code: &str) -> std::result::Result<&'static Rule, String> {
    find(code).ok_or_else(|| {
        format!("no rule has the code `{code}`: `assay lint --rules` lists all codes")
    })
}

/// Prints the findings.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    if args.rules {
        ui.rendered(&rules().render(args.output.format, Style::default()));
        return Ok(ExitCode::SUCCESS);
    }
    let linted = lint_inputs(args, environment)?;
    print_findings(args, &linted, ui);
    if linted.iter().any(|one| one.label == Label::Nothing) {
        return Ok(ExitCode::from(Label::EXIT_NOTHING));
    }
    let found = linted.iter().flat_map(|one| &one.findings);
    let most_severe = found.map(LintFinding::weight).max();
    let has_failed = most_severe.is_some_and(|most_severe| most_severe >= args.fail_on);
    Ok(if has_failed {
        ExitCode::FAILURE
    } else if linted.iter().all(|one| one.label.has_answer()) {
        ExitCode::SUCCESS
    } else {
        Label::EXIT_NOTHING.into()
    })
}

fn print_findings(args: &Args, linted: &[Checked], ui: &Ui) {
    let Some(rule) = args.explain else { return ui.report(linted, args.output.format) };
    let found: Vec<LintFinding> = linted.iter().flat_map(|one| one.findings.clone()).collect();
    ui.report(&ExplainedRule { rule, found: &found }, args.output.format);
}

/// Checks the plans first, then all results together.
fn lint_inputs(args: &Args, environment: &Environment) -> Result<Vec<Checked>> {
    let (files, named): (Vec<&String>, Vec<&String>) =
        args.inputs.iter().partition(|input| input.ends_with(".toml"));
    let mut linted = Vec::new();
    for file in files {
        linted.push(lint_plan(file, args.size.as_ref(), environment)?);
    }
    if let Some(size) = args.size.as_ref().filter(|_| linted.is_empty()) {
        return Err(miette!(
            help = format!("name the stored experiment of that size: NAME-{size}"),
            "--size is for experiment files, not for results"
        ));
    }
    let results = Results::at(&environment.results);
    match named[..] {
        [] => {}
        [one] => linted.push(lint_one(one, &results)?),
        _ => linted.push(lint_results(&named, &results)?),
    }
    Ok(linted)
}

fn lint_plan(file: &str, size: Option<&String>, environment: &Environment) -> Result<Checked> {
    let machine = environment.machine();
    let catalog = Program::of(environment);
    let overrides = Overrides { size: size.cloned(), ..Overrides::default() };
    let checked = read_file(file, &overrides, &catalog, machine)?;
    let planned = planning::expand(checked.experiment, DISK_FLOOR_BYTES, environment)?;
    let label = lint::label(&planned.findings);
    let size = planned.plan.experiment.size;
    Ok(Checked { name: file.to_owned(), size, label, findings: planned.findings })
}

/// Checks one experiment, or one run.
fn lint_one(name: &String, results: &Results) -> Result<Checked> {
    let selected = select(results, name)?;
    let (experiment, host) = (&selected.manifest.plan.experiment, &selected.manifest.host);
    match (&selected.runs[..], selected.is_one_run) {
        ([run], true) => {
            let findings = check_run(&RunContext { experiment, host, run, peers: 0, has_rule });
            let label = run_label(experiment, run, &findings);
            Ok(Checked { name: name.clone(), size: experiment.size.clone(), label, findings })
        }
        _ => lint_results(&[name], results),
    }
}

fn lint_results(named: &[&String], results: &Results) -> Result<Checked> {
    let joined = JoinedResults::of(results, named, Window::default())?;
    let experiment = &joined.experiment;
    if joined.runs.is_empty() {
        let help = "run the experiment first, or lint its plan: assay lint FILE.toml";
        return Err(miette!(help = help, "`{}` has no runs", experiment.name));
    }
    let Study { joined, analyzed, .. } = Study::of(joined, None, results)?;
    let label = comparison_label(&analyzed.comparison, &analyzed.findings);
    let (name, size) = (joined.names.join(" "), joined.experiment.size);
    Ok(Checked { name, size, label, findings: analyzed.findings })
}
