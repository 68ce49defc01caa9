//! Remedies for names in the place of others: an engine among the steps, a step as a command.

use std::path::Path;

use archive::{ArchiveError, ExperimentDir, Results};
use miette::{MietteDiagnostic, Result, miette};
use model::ShellCommand;
use model::secret::masked;
use plan::Catalog;

use crate::catalog::Program;

/// A step and an engine that need no further choice.
const STEP: &str = "readrandom";
const ENGINE: &str = "lmdb";
/// A build that runs the shipped applications.
const SERVER: &str = "postgres@15.10";

/// What a name stands for in this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Step,
    Engine,
    Application,
    Profile,
}

impl Kind {
    /// Returns what a name stands for; `None` for an unknown one.
    fn of(name: &str, catalog: &dyn Catalog) -> Option<Self> {
        let engine = name.split('@').next().unwrap_or_default();
        if catalog.steps().iter().any(|step| step.name == name) {
            Some(Self::Step)
        } else if catalog.engines().iter().any(|info| info.name == engine) {
            Some(Self::Engine)
        } else if catalog.application(name).is_some() {
            Some(Self::Application)
        } else {
            catalog.profile(name).map(|_| Self::Profile)
        }
    }

    /// Returns the kind with its article.
    const fn text(self) -> &'static str {
        match self {
            Self::Step => "a step",
            Self::Engine => "an engine",
            Self::Application => "an application",
            Self::Profile => "a profile",
        }
    }
}

/// The names of a command line, by their places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    /// Steps, without an option.
    pub(crate) steps: Vec<String>,
    /// Values of `--engine`.
    pub(crate) engines: Vec<String>,
    /// Values of `--workload`: one at most.
    pub(crate) applications: Vec<String>,
    /// Values of `--profile`: one at most.
    pub(crate) profiles: Vec<String>,
}

impl Typed {
    /// Rejects names in the place of others, with the arguments that were meant.
    pub(crate) fn check(&self, catalog: &dyn Catalog) -> Result<()> {
        let (mut meant, mut found) = (Self::default(), Vec::new());
        let places = [
            (Kind::Step, &self.steps),
            (Kind::Engine, &self.engines),
            (Kind::Application, &self.applications),
            (Kind::Profile, &self.profiles),
        ];
        for (place, typed) in places {
            for text in typed {
                let names: Vec<&str> = text.split(',').collect();
                let kinds = names.iter().map(|name| Kind::of(name, catalog));
                // A name with a comma is no other name.
                match kinds.collect::<Option<Vec<_>>>() {
                    Some(kinds) if names.len() > 1 => found.push({
                        names.iter().zip(kinds).for_each(|(name, kind)| meant.add(kind, name));
                        format!("`{text}` joins {} names by commas", names.len())
                    }),
                    Some(kinds) if kinds != [place] => found.push({
                        meant.add(kinds[0], text);
                        format!("`{text}` is {}, not {}", kinds[0].text(), place.text())
                    }),
                    Some(_) | None => meant.add(place, text),
                }
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        Err(miette!(help = format!("write `{}`", meant.arguments()), "{}", found.join("; ")))
    }

    fn add(&mut self, kind: Kind, name: &str) {
        let of_kind = match kind {
            Kind::Step => &mut self.steps,
            Kind::Engine => &mut self.engines,
            Kind::Application => &mut self.applications,
            Kind::Profile => &mut self.profiles,
        };
        of_kind.push(name.to_owned());
    }

    /// Returns the arguments in their places, with a step and an engine where there is none.
    fn arguments(mut self) -> String {
        let has_application = !self.applications.is_empty();
        if self.steps.is_empty() && !has_application {
            self.add(Kind::Step, STEP);
        }
        if self.engines.is_empty() {
            self.add(Kind::Engine, if has_application { SERVER } else { ENGINE });
        }
        let mut command = ShellCommand::of("").operands(&self.steps);
        let options = [
            ("--workload", &self.applications),
            ("--engine", &self.engines),
            ("--profile", &self.profiles),
        ];
        for (option, names) in options {
            command = names.iter().fold(command, |command, name| command.option(option, name));
        }
        command.to_string().trim_start().to_owned()
    }
}

/// Returns what a name stands for, and the command that takes it; `None` for an unknown name.
pub(crate) fn remedy(name: &str) -> Option<String> {
    if name.ends_with(".toml") && Path::new(name).is_file() {
        let run = ShellCommand::of("assay run").operands([name]);
        return Some(format!("a file is run by: {run}"));
    }
    let kind = Kind::of(name, &Program::default())?;
    let mut typed = Typed::default();
    typed.add(kind, name);
    if kind == Kind::Profile {
        let engine = name.split('-').next().unwrap_or_default();
        typed.add(Kind::Engine, &format!("{engine}@VERSION"));
    }
    let arguments = typed.arguments();
    Some(format!("`{name}` is {}, which this command measures: assay run {arguments}", kind.text()))
}

/// Returns whether a name is that of a step.
pub(crate) fn is_step(name: &str) -> bool {
    Kind::of(name, &Program::default()) == Some(Kind::Step)
}

/// Finds an experiment; the error reports what else the name stands for.
pub(crate) fn find(results: &Results, name: &str) -> Result<ExperimentDir> {
    results.find(name).map_err(|error| report(&error, name))
}

/// Returns the report of an experiment that was not found.
pub(crate) fn report(error: &ArchiveError, name: &str) -> miette::Report {
    let mut diagnostic = MietteDiagnostic::new(masked(&error.to_string()));
    diagnostic.help = matches!(error, ArchiveError::Unknown(..)).then(|| remedy(name)).flatten();
    diagnostic.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(steps: &str, engines: &str, application: &str) -> Typed {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        Typed {
            steps: names(steps),
            engines: names(engines),
            applications: names(application),
            profiles: Vec::new(),
        }
    }

    #[test]
    fn names_in_the_place_of_others_are_rejected_with_what_was_meant() {
        let cases = [
            (typed("readrandom lmdb", "", ""), "readrandom --engine lmdb"),
            (typed("lmdb", "", ""), "readrandom --engine lmdb"),
            (typed("", "readrandom", ""), "readrandom --engine lmdb"),
            (typed("", "", "rocksdb@9.10.0"), "readrandom --engine rocksdb@9.10.0"),
            (typed("ibench-2023", "", ""), "--workload ibench-2023 --engine postgres@15.10"),
            (
                typed("fillseq,readrandom", "lmdb,redb", ""),
                "fillseq readrandom --engine lmdb --engine redb",
            ),
            (
                typed("readrandom", "rocksdb-universal rocksdb@9.10.0", ""),
                "readrandom --engine rocksdb@9.10.0 --profile rocksdb-universal",
            ),
        ];
        for (typed, meant) in cases {
            let error = typed.check(&Program::default()).expect_err(meant);
            assert_eq!(error.help().expect("a remedy").to_string(), format!("write `{meant}`"));
        }
        let error = typed("readrandom lmdb redb", "", "").check(&Program::default()).unwrap_err();
        let text = "`lmdb` is an engine, not a step; `redb` is an engine, not a step";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn names_in_their_places_and_unknown_names_are_left_to_the_plan() {
        let right = [
            typed("fillseq readrandom", "lmdb rocksdb@9.10.0", ""),
            typed("q100", "postgres@15.10", "ibench-2023"),
            typed("readrandom", "lmdb", "byrx"),
            typed("raedrandom", "lmbd postgres://a,b/c", "x.toml"),
        ];
        for typed in right {
            typed.check(&Program::default()).expect("no name in the place of another");
        }
    }
}
