//! `assay workload`: presets, steps and applications.

use std::borrow::Cow;
use std::process::ExitCode;

use miette::Result;
use model::sql::{Copies, Table, TrafficSpec};
use plan::{Catalog as _, Described, PRESETS, PlanError};

use crate::catalog::Program;
use crate::ui::{Ui, aligned};

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
    let catalog = Program::default();
    let lines = match &args.application {
        None => listed(&catalog)?,
        Some(name) => {
            let described = plan::describe(name, &catalog)?;
            if args.file { vec![described.text.trim_end().to_owned()] } else { shown(&described) }
        }
    };
    for line in lines {
        ui.print(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns names and descriptions, in groups.
fn listed(catalog: &Program) -> Result<Vec<String>, PlanError> {
    let presets = PRESETS.iter().map(|preset| [preset.name, preset.about].map(str::to_owned));
    let mut applications = Vec::new();
    for name in catalog.application_names() {
        let about = plan::describe(&name, catalog)?.application.about;
        applications.push([name, about]);
    }
    let steps = catalog.steps().into_iter();
    let steps = steps.map(|step| [step.name, step.about].map(Cow::into_owned));
    let group = |title: &str, rows: Vec<[String; 2]>| {
        let rows = aligned(&rows).into_iter().map(|row| format!("  {row}"));
        [String::new(), title.to_owned()].into_iter().chain(rows).collect::<Vec<_>>()
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
    let step = |step: &TrafficSpec| [format!("step      {}", step.name), step.about.clone()];
    let steps: Vec<_> = application.steps.iter().map(step).collect();
    lines.extend(aligned(&steps));
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
