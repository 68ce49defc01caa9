//! Remedies for misplaced names: an engine among the steps, a step as a command.

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

/// What a name stands for in this program, in the order of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Step,
    Application,
    Engine,
    Profile,
}

model::names!(Kind, "a kind of name":
    Step "a step", Application "an application", Engine "an engine", Profile "a profile");

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

    /// Adds a name of this kind to a command.
    fn add(self, command: ShellCommand, name: &str) -> ShellCommand {
        match self {
            Self::Step => command.operands([name]),
            Self::Application => command.option("--workload", name),
            Self::Engine => command.option("--engine", name),
            Self::Profile => command.option("--engine-profile", name),
        }
    }
}

/// Rejects names that stand in the place of another kind, with the command that was meant.
///
/// `carried` adds the options that were typed next to the names.
pub(crate) fn check(
    typed: &[(Kind, &str)],
    catalog: &dyn Catalog,
    command: ShellCommand,
    carried: impl Fn(ShellCommand) -> ShellCommand,
) -> Result<()> {
    let (mut meant, mut found) = (Vec::new(), Vec::new());
    for (place, text) in typed {
        let names: Vec<&str> = text.split(',').collect();
        let kinds: Option<Vec<Kind>> = names.iter().map(|name| Kind::of(name, catalog)).collect();
        // A name with a comma is no other name.
        let Some(kinds) = kinds else {
            meant.push((*place, *text));
            continue;
        };
        if names.len() > 1 {
            found.push(format!("`{text}` joins {} names by commas", names.len()));
        } else if kinds != [*place] {
            // Earlier, `--profile` named a profile.
            let options = match (kinds[0], place) {
                (Kind::Profile, Kind::Step) => {
                    ": --engine-profile names a profile, and --profile takes CPU profiles"
                }
                _ => "",
            };
            found.push(format!("`{text}` is {}, not {place}{options}", kinds[0]));
        }
        meant.extend(kinds.into_iter().zip(names));
    }
    if found.is_empty() {
        return Ok(());
    }
    let meant = carried(with_names(command, meant));
    Err(miette!(help = format!("write `{meant}`"), "{}", found.join("; ")))
}

/// Adds the names in their places to a command, with a step and an engine where there is none.
fn with_names(command: ShellCommand, mut names: Vec<(Kind, &str)>) -> ShellCommand {
    let has = |kind: Kind| names.iter().any(|(known, _)| *known == kind);
    let has_application = has(Kind::Application);
    let step = (!has(Kind::Step) && !has_application).then_some((Kind::Step, STEP));
    let engine = if has_application { SERVER } else { ENGINE };
    let engine = (!has(Kind::Engine)).then_some((Kind::Engine, engine));
    names.extend(step.into_iter().chain(engine));
    names.sort_by_key(|(kind, _)| *kind);
    names.into_iter().fold(command, |command, (kind, name)| kind.add(command, name))
}

/// Returns what a name stands for, and the command that takes it; `None` for an unknown name.
pub(crate) fn remedy(name: &str) -> Option<String> {
    if name.ends_with(".toml") && Path::new(name).is_file() {
        let run = ShellCommand::of("assay run").operands([name]);
        return Some(format!("to run the file: {run}"));
    }
    let kind = Kind::of(name, &Program::default())?;
    let engine = format!("{}@VERSION", name.split('-').next().unwrap_or_default());
    let engine = (kind == Kind::Profile).then_some((Kind::Engine, &*engine));
    let names = [(kind, name)].into_iter().chain(engine).collect();
    let command = with_names(ShellCommand::of("assay run"), names);
    Some(format!("`{name}` is {kind}, which this command measures: {command}"))
}

/// Returns whether a name is the name of a step.
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

    /// Returns the outcome of `steps; engines; applications`.
    fn checked(typed: &str) -> Result<()> {
        let kinds = [Kind::Step, Kind::Engine, Kind::Application];
        let places = kinds.into_iter().zip(typed.split("; "));
        let names = places.flat_map(|(kind, names)| names.split(' ').map(move |name| (kind, name)));
        let names: Vec<_> = names.filter(|(_, name)| !name.is_empty()).collect();
        let carried = |command: ShellCommand| command.option("--rows", "10k");
        check(&names, &Program::default(), ShellCommand::of("assay run"), carried)
    }

    #[test]
    fn names_in_the_place_of_others_are_rejected_with_what_was_meant() {
        let cases = [
            ("readrandom lmdb", "readrandom --engine lmdb"),
            ("lmdb", "readrandom --engine lmdb"),
            ("; readrandom", "readrandom --engine lmdb"),
            ("; ; rocksdb@9.10.0", "readrandom --engine rocksdb@9.10.0"),
            ("ibench-2023", "--workload ibench-2023 --engine postgres@15.10"),
            ("fillseq,readrandom; lmdb,redb", "fillseq readrandom --engine lmdb --engine redb"),
            (
                "readrandom; rocksdb-universal rocksdb@9.10.0",
                "readrandom --engine rocksdb@9.10.0 --engine-profile rocksdb-universal",
            ),
        ];
        for (typed, meant) in cases {
            let error = checked(typed).expect_err(meant);
            let meant = format!("write `assay run {meant} --rows 10k`");
            assert_eq!(error.help().expect("a remedy").to_string(), meant);
        }
        let error = checked("readrandom lmdb redb").unwrap_err();
        let text = "`lmdb` is an engine, not a step; `redb` is an engine, not a step";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn names_in_their_places_and_unknown_names_are_left_to_the_plan() {
        for right in [
            "fillseq readrandom; lmdb rocksdb@9.10.0",
            "q100; postgres@15.10; ibench-2023",
            "readrandom; lmdb; byrx",
            "raedrandom; lmbd postgres://a,b/c; x.toml",
        ] {
            checked(right).expect("no name in the place of another");
        }
    }
}
