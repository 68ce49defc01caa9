//! `assay workload`: experiments, presets, steps and applications.

use std::process::ExitCode;

use miette::Result;
use model::sql::{Copies, Table, TrafficSpec};
use plan::{ApplicationFiles as _, Catalog as _, Described, PRESETS, PlanError};
use render::{Document, Format, Report, Style};
use serde::Serialize;
use serde_json::{Map, json};

use super::format::TextOrJson;
use crate::catalog::{Program, experiment, experiment_names, question};
use crate::ui::{Ui, aligned};

/// Arguments of `assay workload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay workload                        experiments, presets, applications, and key-value steps
  assay workload ibench-2023            tables, parameters and steps of an application
  assay workload sysbench --file        its file, as a template for another application
  assay workload quickstart > mine.toml the file of a shipped experiment, to change it
  assay workload ./mine.toml            check an application file
  assay workload --format json          the same for programs, here and with an application")]
pub(crate) struct Args {
    /// Application: a name, or the path of an application file; or a shipped experiment
    application: Option<String>,
    /// Print the application's file as it is
    #[arg(long, requires = "application", conflicts_with = "format")]
    file: bool,
    #[command(flatten)]
    output: TextOrJson,
}

/// Lists the workloads, or shows one application.
pub(crate) fn run(args: &Args, ui: &Ui) -> Result<ExitCode> {
    let catalog = Program::default();
    match &args.application {
        None => ui.report(&Workloads::of(&catalog)?, args.output.format),
        Some(name) if let Some(text) = experiment(name) => ui.print(text.trim_end()),
        Some(name) => {
            let described = plan::describe(name, &catalog)?;
            match args.file {
                true => ui.print(described.text.trim_end()),
                false => ui.report(&Shown(described), args.output.format),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Names with descriptions, in groups.
#[derive(Serialize)]
struct Workloads {
    experiments: Vec<Named>,
    presets: Vec<Named>,
    applications: Vec<Named>,
    steps: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    about: String,
}

impl Workloads {
    fn of(catalog: &Program) -> Result<Self, PlanError> {
        let preset = |name: &str, about: &str| Named { name: name.into(), about: about.into() };
        let presets = PRESETS.iter().map(|one| preset(one.name, one.about)).collect();
        let mut applications = Vec::new();
        for name in catalog.application_names() {
            let about = plan::describe(&name, catalog)?.application.about;
            applications.push(Named { name, about });
        }
        let steps = catalog.steps().into_iter();
        let steps = steps.map(|step| preset(&step.name, &step.about)).collect();
        let question = |name| experiment(name).map_or("", question);
        let experiments = experiment_names().map(|name| preset(name, question(name))).collect();
        Ok(Self { experiments, presets, applications, steps })
    }
}

impl Report for Workloads {
    fn document(&self, _: Format, _: Style) -> Document {
        let group = |title: &str, rows: &[Named]| {
            let rows: Vec<_> =
                rows.iter().map(|row| [row.name.clone(), row.about.clone()]).collect();
            let rows = aligned(&rows).into_iter().map(|row| format!("  {row}"));
            Document::lines([title.to_owned()].into_iter().chain(rows))
        };
        let mut document = group("Experiments: assay run NAME", &self.experiments);
        document.append(group("Presets: sizes derived from the machine", &self.presets));
        let title = "Applications: tables, procedures and steps for SQL servers";
        document.append(group(title, &self.applications));
        let title = "Steps of keys and values, for every engine";
        document.append(group(title, &self.steps));
        document
    }

    fn data(&self) -> impl Serialize {
        self
    }
}

/// One application.
struct Shown(Described);

impl Report for Shown {
    fn document(&self, _: Format, _: Style) -> Document {
        let application = &self.0.application;
        let mut lines = vec![format!("{}: {}", application.name, application.about)];
        lines.extend(self.0.published_by.as_ref().map(|by| format!("source    {by}")));
        let parameter = |(name, value): &(String, String)| format!("parameter {name} = {value}");
        lines.extend(self.0.parameters.iter().map(parameter));
        lines.extend(application.tables.iter().map(table));
        let step = |step: &TrafficSpec| [format!("step      {}", step.name), step.about.clone()];
        let steps: Vec<_> = application.steps.iter().map(step).collect();
        lines.extend(aligned(&steps));
        lines.push(format!("order     {}", application.order.join(", ")));
        Document::lines(lines)
    }

    fn data(&self) -> impl Serialize {
        let parameters: Map<_, _> =
            self.0.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "application": self.0.application,
            "published_by": self.0.published_by,
            "parameters": parameters,
        })
    }
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
