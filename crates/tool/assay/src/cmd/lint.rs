//! `assay lint`: what makes a plan, a run or a comparison doubtful or bogus.

use std::process::ExitCode;

use archive::Results;
use lint::{LintFinding, Rule, RunContext, check_run, find, rules};
use miette::{Result, miette};
use model::record::Severity;
use plan::{DISK_FLOOR_BYTES, Overrides};
use render::{Format, findings_json, render_findings, render_rule, render_rules};

use super::asked::read_file;
use super::judged::judge;
use super::plan as planning;
use super::selected::{Joined, select};
use super::steady::Window;
use crate::environment::Environment;
use crate::ui::Ui;

/// What could not be asked; what was found is told by `ExitCode::FAILURE`.
const NOT_ASKED: u8 = 2;

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay lint experiments/quickstart.toml     the plan, before machine time is spent
  assay lint quickstart                      the newest results of that name
  assay lint quickstart/lmdb.c1.r1           one run alone
  assay lint --explain A003                  when a rule fires, why, what to do, who says so
  assay lint quickstart --explain A003       the same, with what it found there
  assay lint --rules                         every rule in a line

Ends with 0 when nothing as grave as --fail-on was found, with 1 when something was, with 2 when it
could not be asked. What the experiment waives counts as a note.")]
pub(crate) struct Args {
    /// Experiments (name, identifier or directory), runs (EXPERIMENT/RUN) or experiment files
    /// (.toml); results named together are looked at as one comparison
    #[arg(required_unless_present_any = ["explain", "rules"], value_name = "EXPERIMENT|RUN|FILE")]
    what: Vec<String>,
    /// Explain a rule, such as A003
    #[arg(long, value_name = "CODE", value_parser = rule, conflicts_with = "rules")]
    explain: Option<&'static Rule>,
    /// List every rule in a line
    #[arg(long, conflicts_with = "what")]
    rules: bool,
    /// Least gravity that makes it end with 1: note, doubt or blocking
    #[arg(long, default_value = "blocking", value_name = "GRAVITY", value_parser = gravity)]
    fail_on: Severity,
    /// Form of output: text or json
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = form)]
    format: Format,
}

/// Reads the code of a rule.
fn rule(code: &str) -> std::result::Result<&'static Rule, String> {
    find(code).ok_or_else(|| format!("no rule has the code `{code}`: assay lint --rules"))
}

fn gravity(word: &str) -> std::result::Result<Severity, String> {
    match word {
        "note" => Ok(Severity::Note),
        "doubt" => Ok(Severity::Warning),
        "blocking" => Ok(Severity::Blocking),
        _ => Err(format!("`{word}` is no gravity: write note, doubt or blocking")),
    }
}

fn form(word: &str) -> std::result::Result<Format, String> {
    match word.parse()? {
        form @ (Format::Text | Format::Json) => Ok(form),
        Format::Markdown | Format::Csv => {
            Err(format!("findings are written as text or json, not as {word}"))
        }
    }
}

/// Something looked at, with what was found.
struct Looked {
    /// Its name.
    what: String,
    /// What doubts it, the gravest first.
    found: Vec<LintFinding>,
}

/// Prints what was found.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    if args.rules {
        ui.answer(render_rules(rules()));
        return Ok(ExitCode::SUCCESS);
    }
    let looked = match look(args, environment) {
        Ok(looked) => looked,
        Err(report) => {
            ui.error(&report);
            return Ok(ExitCode::from(NOT_ASKED));
        }
    };
    tell(args, &looked, ui);
    let gravest = looked.iter().flat_map(|one| &one.found).map(LintFinding::weight).max();
    let is_grave = gravest.is_some_and(|gravest| gravest >= args.fail_on);
    Ok(if is_grave { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn tell(args: &Args, looked: &[Looked], ui: &Ui) {
    if let Some(rule) = args.explain {
        let found: Vec<LintFinding> = looked.iter().flat_map(|one| one.found.clone()).collect();
        ui.answer(render_rule(rule, &found, ui.style()));
        return;
    }
    match args.format {
        Format::Json => {
            let all = looked.iter().map(|one| (one.what.as_str(), one.found.as_slice()));
            ui.answer(findings_json(all));
        }
        Format::Text | Format::Markdown | Format::Csv => {
            let all = looked.iter().map(|one| render_findings(&one.what, &one.found, ui.style()));
            ui.answer(all.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Looks at the plans first, then at all results together.
fn look(args: &Args, environment: &Environment) -> Result<Vec<Looked>> {
    let (files, named): (Vec<&String>, Vec<&String>) =
        args.what.iter().partition(|what| what.ends_with(".toml"));
    let mut looked = Vec::new();
    for file in files {
        looked.push(at_plan(file, environment)?);
    }
    let results = Results::at(&environment.results);
    match named[..] {
        [] => {}
        [one] => looked.push(at_one(one, &results)?),
        _ => looked.push(at_results(&named, &results)?),
    }
    Ok(looked)
}

fn at_plan(file: &str, environment: &Environment) -> Result<Looked> {
    let machine = planning::machine(environment);
    let checked = read_file(file, &Overrides::default(), machine)?;
    let planned = planning::expand(checked.experiment, DISK_FLOOR_BYTES, environment)?;
    Ok(Looked { what: file.to_owned(), found: planned.found })
}

/// Looks at one experiment, or at one run alone.
fn at_one(name: &String, results: &Results) -> Result<Looked> {
    let selected = select(results, name)?;
    let (experiment, host) = (&selected.manifest.plan.experiment, &selected.manifest.host);
    match (&selected.runs[..], selected.is_one_run) {
        ([run], true) => {
            let found = check_run(&RunContext { experiment, host, run, peers: 0 });
            Ok(Looked { what: name.clone(), found })
        }
        _ => at_results(&[name], results),
    }
}

fn at_results(named: &[&String], results: &Results) -> Result<Looked> {
    let joined = Joined::of(results, named, Window::default())?;
    let experiment = &joined.experiment;
    if joined.runs.is_empty() {
        let help = "run it first, or lint its plan: assay lint FILE.toml";
        return Err(miette!(help = help, "`{}` has no runs", experiment.name));
    }
    let base = &experiment.base;
    let judged = judge(experiment, &joined.hosts(), &joined.runs, base, results)?;
    let names: Vec<&str> = named.iter().map(|name| name.as_str()).collect();
    Ok(Looked { what: names.join(" "), found: judged.findings })
}
