//! `assay workload`: presets, steps and applications.

use std::process::ExitCode;

use miette::Result;
use model::Application;
use model::sql::{CallMix, Copies, Table, TrafficSpec};
use plan::{Catalog as _, Described, PRESETS, PlanError};

use crate::catalog::Program;
use crate::ui::Ui;

/// Arguments of `assay workload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay workload                        presets, applications, and steps of keys and values
  assay workload ibench-2023            tables, parameters and steps of an application
  assay workload sysbench --file        its file, as a template of your own
  assay workload ./mine.toml            check one of your own")]
pub(crate) struct Args {
    /// Application: a name, or the path of your own
    application: Option<String>,
    /// Print the application's file as it is
    #[arg(long, requires = "application")]
    file: bool,
}

/// Lists the workloads, or shows one application.
pub(crate) fn run(args: &Args, ui: &Ui) -> Result<ExitCode> {
    let lines = match &args.application {
        None => listed()?,
        Some(name) => {
            let described = plan::describe(name, &Program)?;
            if args.file { vec![described.text.trim_end().to_owned()] } else { shown(&described) }
        }
    };
    for line in lines {
        ui.print(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns names and descriptions, in groups.
fn listed() -> Result<Vec<String>, PlanError> {
    let presets = PRESETS.iter().map(|preset| (preset.name.to_owned(), preset.about.to_owned()));
    let mut applications = Vec::new();
    for name in Program.application_names() {
        let about = plan::describe(&name, &Program)?.application.about;
        applications.push((name, about));
    }
    let steps = Program.steps().into_iter();
    let steps = steps.map(|step| (step.name.into_owned(), step.about.into_owned()));
    let group = |title: &str, rows: Vec<(String, String)>| {
        [String::new(), title.to_owned()].into_iter().chain(columns(&rows)).collect::<Vec<_>>()
    };
    let groups = [
        group("Presets: sizes derived from the machine", presets.collect()),
        group("Applications: tables, procedures and steps for SQL servers", applications),
        group("Steps of keys and values, for every engine", steps.collect()),
    ];
    Ok(groups.concat().into_iter().skip(1).collect())
}

/// Formats an application in lines.
fn shown(described: &Described) -> Vec<String> {
    let application = &described.application;
    let mut lines = vec![format!("{}: {}", application.name, application.about)];
    lines.extend(described.published_by.as_ref().map(|by| format!("source    {by}")));
    let parameter = |(name, value): &(String, String)| format!("parameter {name} = {value}");
    lines.extend(described.parameters.iter().map(parameter));
    lines.extend(application.tables.iter().map(table));
    let steps = application.steps.iter();
    let steps: Vec<_> = steps
        .map(|step| {
            let calls = calls(application, step);
            (format!("step      {}", step.name), format!("{} ({calls})", step.about))
        })
        .collect();
    lines.extend(columns(&steps).into_iter().map(|line| line.trim_start().to_owned()));
    lines.push(format!("order     {}", application.order.join(", ")));
    lines
}

/// Formats a table in one line.
fn table(table: &Table) -> String {
    let copies = match table.copies {
        Copies::PerClient => "one for each client".to_owned(),
        Copies::Fixed(1) => "one".to_owned(),
        Copies::Fixed(count) => count.to_string(),
    };
    format!("table     {}: {copies}", table.name)
}

/// Lists the procedures that a step calls.
fn calls(application: &Application, step: &TrafficSpec) -> String {
    let name = |position: &u16| {
        let procedure = application.procedures.get(usize::from(*position));
        procedure.map_or("", |procedure| procedure.name.as_str()).to_owned()
    };
    let call_text = |call_mix: &CallMix| match call_mix {
        CallMix::Mix(weights) => {
            let weight = |(position, weight): &(u16, u32)| format!("{} {weight}", name(position));
            weights.iter().map(weight).collect::<Vec<_>>().join(", ")
        }
        CallMix::InTurn(list) => list.iter().map(name).collect::<Vec<_>>().join(", then "),
        CallMix::Once(list) => {
            format!("once {}", list.iter().map(name).collect::<Vec<_>>().join(", then "))
        }
    };
    let own = step.clients.as_ref().map_or("no clients".to_owned(), call_text);
    match &step.background {
        None => own,
        Some(background) => {
            format!(
                "{own}; in the background {} at {} rows/s",
                call_text(&background.call_mix),
                background.rows_per_s
            )
        }
    }
}

/// Returns rows in two columns.
fn columns(rows: &[(String, String)]) -> Vec<String> {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, about)| format!("  {name:<width$}  {about}")).collect()
}
