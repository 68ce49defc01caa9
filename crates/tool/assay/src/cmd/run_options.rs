//! Arguments of `plan` and `run`: a file or steps, and overrides.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use miette::{Result, miette};
use model::setting::parse_whole;
use model::{ShellCommand, Waiver};
use plan::{Catalog as _, Checked, Machine, Overrides, PlanError, QuickVariants, Setting};

use super::optional::{LeftOut, Obtain, left_out};
use crate::catalog::{EXPERIMENT_BYTES_MAX, Program, experiment, experiment_names, read};
use crate::misplaced::{self, Kind};
use crate::ui::Process;

/// Heading of the options that override the file.
const OVERRIDES: &str = "Overrides of the file";

/// Key of the setting that a stored experiment takes, too.
const REPETITIONS: &str = "repetitions";

/// Key of the setting that takes CPU profiles.
const PROFILE: &str = "profile";

/// Key of the setting that names an application or a preset.
const WORKLOAD: &str = "workload";

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
    /// Experiment (file or shipped name), or steps such as `fillseq readrandom`
    #[arg(value_name = "FILE|NAME|STEP")]
    inputs: Vec<String>,
    /// Engine to run the steps against, NAME or NAME@VERSION; repeat to compare
    #[arg(long, value_name = "BUILD")]
    engine: Vec<String>,
    /// Profile, for those engines of --engine that it is written for
    #[arg(long, value_name = "NAME")]
    engine_profile: Option<String>,
    /// Engine option, under the engine's own name, for all engines of --engine; repeat for more
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// Size of the file, [size.NAME]; its settings replace the file's
    #[arg(long, value_name = "NAME")]
    size: Option<String>,
    #[command(flatten, next_help_heading = OVERRIDES)]
    settings: SettingArgs,
    /// Parameter of the application, such as tables=8; repeat for more
    #[arg(long, value_name = "NAME=VALUE", help_heading = OVERRIDES)]
    parameter: Vec<String>,
    /// Set a rule aside, such as 'A001=durability is the question'; repeat for more
    #[arg(long, value_name = "CODE=REASON", value_parser = waiver, help_heading = OVERRIDES)]
    waive: Vec<Waiver>,
}

/// A command that takes an experiment.
pub(crate) struct Verb<'a> {
    /// The command without arguments.
    pub(crate) name: &'static str,
    /// Adds the options given that are the command's own.
    pub(crate) own: &'a dyn Fn(ShellCommand) -> ShellCommand,
    /// Obtains a build, or checks that it can be obtained.
    pub(crate) obtain: Obtain,
}

/// The flags of the table of settings, with their texts.
#[derive(Debug)]
struct SettingArgs(Vec<(&'static Setting, String)>);

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        command.args(plan::flags().map(|setting| {
            let arg = Arg::new(setting.key).long(setting.flag()).help(setting.help.trim());
            match setting.value_name {
                None | Some("") => arg.action(ArgAction::SetTrue),
                Some(name) => arg.value_name(name).allow_hyphen_values(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let text = |setting: &'static Setting| match setting.value_name {
            None | Some("") => matches.get_flag(setting.key).then(|| (setting, "true".to_owned())),
            Some(_) => Some((setting, matches.get_one::<String>(setting.key)?.clone())),
        };
        Ok(Self(plan::flags().filter_map(text).collect()))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Parses a waiver.
fn waiver(text: &str) -> std::result::Result<Waiver, String> {
    let (code, reason) = text
        .split_once('=')
        .ok_or_else(|| format!("the waiver `{text}` has no reason: write '{text}=REASON'"))?;
    Ok(Waiver { code: code.trim().to_owned(), reason: reason.trim().to_owned() })
}

impl ExperimentArgs {
    /// Reads and checks the experiment; prints the sizes chosen, and what will be unknown.
    ///
    /// Optional variants are left out whose builds `obtain` cannot obtain.
    pub(crate) fn check(
        &self,
        catalog: &Program,
        machine: Machine,
        Verb { name, own, obtain }: Verb<'_>,
        process: Process<'_>,
    ) -> Result<Checked> {
        let ui = process.ui;
        if !self.inputs.iter().any(|input| is_experiment(input)) {
            let carried = |command| own(self.carried(command, catalog));
            misplaced::check(&self.typed(), catalog, ShellCommand::of(name), carried)?;
        }
        let mut checked = self.of_size(self.size.as_ref(), &[], catalog, machine)?;
        let LeftOut { variants, lines } = left_out(&checked, obtain, process)?;
        lines.iter().for_each(|line| ui.status(line));
        if !variants.is_empty() {
            checked = self.of_size(self.size.as_ref(), &variants, catalog, machine)?;
        }
        checked.warnings.iter().for_each(|line| ui.status(format_args!("warning   {line}")));
        checked.chosen.iter().for_each(|line| ui.status(line));
        Ok(checked)
    }

    /// Returns a flag given that changes a stored experiment, if any.
    ///
    /// The size only names it, and repetitions are added.
    pub(crate) fn changing_flag(&self) -> Option<String> {
        let flags = [
            ("engine", self.engine.is_empty()),
            ("engine-profile", self.engine_profile.is_none()),
            ("option", self.option.is_empty()),
            ("parameter", self.parameter.is_empty()),
            ("waive", self.waive.is_empty()),
        ];
        let own = flags.into_iter().find(|(_, is_absent)| !is_absent);
        let mut settings = self.settings.0.iter().filter(|(setting, _)| setting.key != REPETITIONS);
        let setting = || settings.next().map(|(setting, _)| setting.flag());
        own.map(|(flag, _)| flag.to_owned()).or_else(setting)
    }

    /// Returns a command with the options given that name no step, engine, application or profile.
    fn carried(&self, command: ShellCommand, catalog: &Program) -> ShellCommand {
        let with = |option: &'static str| {
            move |command: ShellCommand, text: &String| command.option(option, text)
        };
        let mut command = self.option.iter().fold(command, with("--option"));
        // The profile that follows `--profile` is carried by another option.
        let has_profile = self.inputs.iter().any(|name| catalog.profile(name).is_some());
        for (setting, text) in &self.settings.0 {
            let flag = format!("--{}", setting.flag());
            command = match (setting.key, setting.value_name) {
                (WORKLOAD, _) => command,
                (PROFILE, _) if has_profile => command,
                (_, None | Some("")) => command.flag(&flag),
                (_, Some(_)) => command.option(&flag, text),
            };
        }
        let command = self.size.iter().fold(command, with("--size"));
        let command = self.parameter.iter().fold(command, with("--parameter"));
        let waivers = self.waive.iter().map(|Waiver { code, reason }| format!("{code}={reason}"));
        waivers.fold(command, |command, text| command.option("--waive", &text))
    }

    /// Returns the text of a setting given.
    fn given(&self, key: &str) -> Option<&String> {
        self.settings.0.iter().find(|(setting, _)| setting.key == key).map(|(_, text)| text)
    }

    /// Rejects one name alone that is no step: it may be a mistyped experiment.
    fn check_known(&self, overrides: &Overrides, catalog: &Program) -> Result<()> {
        let [name] = self.inputs.as_slice() else { return Ok(()) };
        let steps: Vec<_> = catalog.steps().into_iter().map(|step| step.name).collect();
        let is_alone = self.engine.is_empty() && !overrides.has_application();
        if !is_alone || steps.iter().any(|step| *step == **name) {
            return Ok(());
        }
        let mut names: Vec<&str> = experiment_names().collect();
        names.extend(steps.iter().map(|step| &**step));
        let otherwise = "`assay workload` lists the experiments and the steps";
        let error = PlanError::new(format!("no experiment and no step is named `{name}`"));
        Err(error.meant(name, names, otherwise).into())
    }

    /// Returns the names given, each with the kind that its place is for.
    fn typed(&self) -> Vec<(Kind, &str)> {
        let steps = self.inputs.iter().map(|name| (Kind::Step, name));
        let engines = self.engine.iter().map(|name| (Kind::Engine, name));
        let application = self.given(WORKLOAD).map(|name| (Kind::Application, name));
        let profile = self.engine_profile.iter().map(|name| (Kind::Profile, name));
        let names = steps.chain(engines).chain(application).chain(profile);
        names.map(|(kind, name)| (kind, name.as_str())).collect()
    }

    /// Returns the repetitions given.
    pub(crate) fn repetitions(&self) -> Result<Option<u32>> {
        let parsed = self.given(REPETITIONS).map(|text| parse_whole(text)).transpose();
        parsed.map_err(|error| miette!("--repetitions: {error}"))
    }

    /// Returns the size chosen.
    pub(crate) const fn size(&self) -> Option<&String> {
        self.size.as_ref()
    }

    /// Reads and checks the experiment at a size of its file, without the variants `left_out`.
    pub(crate) fn of_size(
        &self,
        size: Option<&String>,
        left_out: &[String],
        catalog: &Program,
        machine: Machine,
    ) -> Result<Checked> {
        let overrides = Overrides {
            size: size.cloned(),
            settings: self.settings.0.clone(),
            parameters: self.parameter.clone(),
            waivers: self.waive.clone(),
            left_out: left_out.to_vec(),
        };
        let files = self.inputs.iter().filter(|input| is_experiment(input)).count();
        if files == 0 {
            self.check_known(&overrides, catalog)?;
        }
        if self.inputs.is_empty() && !overrides.has_application() {
            return Err(miette!(
                help = "give an experiment file, a shipped experiment such as `quickstart`, steps \
                        such as `readrandom --engine lmdb`, or an application: `--workload \
                        ibench-current --engine postgres@15.10`",
                "no experiment given"
            ));
        }
        if files > 0 {
            let [file] = self.inputs.as_slice() else {
                return Err(miette!("give one experiment file, without steps"));
            };
            if !self.engine.is_empty() || !self.option.is_empty() || self.engine_profile.is_some() {
                return Err(miette!(
                    help = "add a [[variant]] to the file, or give steps instead of the file",
                    "--engine, --engine-profile and --option are for steps, not for an experiment file"
                ));
            }
            return read_file(file, &overrides, catalog, machine);
        }
        if size.is_some() {
            return Err(miette!("--size is for experiment files, not for steps"));
        }
        let variants = QuickVariants {
            engines: self.engine.clone(),
            profile: self.engine_profile.clone(),
            options: self.option.clone(),
        };
        Ok(plan::quick(&self.inputs, &variants, &overrides, catalog, machine)?)
    }
}

/// Reads and checks an experiment file.
pub(crate) fn read_file(
    file: &str,
    overrides: &Overrides,
    catalog: &Program,
    machine: Machine,
) -> Result<Checked> {
    let text = match experiment(file) {
        Some(shipped) if !is_file(file) => shipped.to_owned(),
        _ => read(Path::new(file), EXPERIMENT_BYTES_MAX).map_err(|error| {
            let help = "name an experiment file (.toml), a shipped experiment such as \
                        `quickstart`, or steps: `readrandom --engine lmdb`";
            miette!(help = help, "cannot read the experiment file {file}: {error}")
        })?,
    };
    Ok(plan::load(file, &text, overrides, catalog, machine)?)
}

/// Returns whether an argument is an experiment, and no step.
fn is_experiment(input: &str) -> bool {
    is_file(input) || experiment(input).is_some()
}

/// Returns whether an argument is a file.
fn is_file(input: &str) -> bool {
    input.ends_with(".toml") || input.contains('/') || Path::new(input).is_file()
}
