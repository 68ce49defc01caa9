//! Remedies for options that a command does not have.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use crate::misplaced;

/// Options by which other tools name a server.
const OF_SERVERS: [&str; 8] =
    ["dsn", "url", "uri", "host", "socket", "mysql-host", "mysql-socket", "pgsql-host"];

/// Options by which other tools name what is run.
const OF_STEPS: [&str; 3] = ["benchmarks", "steps", "step"];

/// Adds what was meant to the error of an unknown option or command.
pub(crate) fn explained(mut error: Error, args: &[OsString], mut root: Command) -> Error {
    root.build();
    let verb = verb_of(&root, args);
    let tip = if error.kind() == ErrorKind::UnknownArgument {
        of_option(&mut error, verb, &root)
    } else if error.kind() == ErrorKind::InvalidSubcommand {
        of_command(&mut error, verb, &root)
    } else {
        None
    };
    if let Some(tip) = tip {
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns what was meant by an unknown command.
fn of_command(error: &mut Error, verb: &Command, root: &Command) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let known = commands(root, "assay", &|command| command.find_subcommand(typed).is_some());
    let tip = match misplaced::remedy(typed) {
        Some(_) if verb.get_name() == "engine" => format!("assay engine show {typed}"),
        Some(remedy) => remedy,
        None if known.is_empty() => return None,
        None => format!("`{typed}` is a command of {}", known.join(", ")),
    };
    error.remove(ContextKind::SuggestedSubcommand);
    Some(tip)
}

/// Returns what was meant by an unknown option.
fn of_option(error: &mut Error, verb: &Command, root: &Command) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if typed.starts_with('-') && typed[1..].starts_with(|sign: char| sign.is_ascii_digit()) {
        return Some("remove the minus sign: amounts are not negative".to_owned());
    }
    let option = typed.strip_prefix("--")?.split('=').next().unwrap_or_default();
    let option = option.to_lowercase().replace('_', "-");
    // How to pass the option as an operand is of no use.
    error.remove(ContextKind::Suggested);
    if let Some(ContextValue::String(near)) = error.get(ContextKind::SuggestedArg)
        && plan::nearest(&option, [near.trim_start_matches('-')]).is_none()
    {
        error.remove(ContextKind::SuggestedArg);
    }
    here(&option, verb).or_else(|| elsewhere(&option, root))
}

/// Returns the command that was typed, as far as it is one.
fn verb_of<'c>(root: &'c Command, args: &[OsString]) -> &'c Command {
    let names = args.iter().skip(1).filter_map(|arg| arg.to_str());
    names.fold(root, |command, name| command.find_subcommand(name).unwrap_or(command))
}

fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(option) && !arg.is_hide_set())
}

/// Returns what a command has in the place of an option.
fn here(option: &str, verb: &Command) -> Option<String> {
    let takes_steps = verb.get_arguments().any(|arg| arg.get_id() == "inputs");
    if OF_SERVERS.contains(&option) && takes_steps {
        return Some(
            "a running server is an engine: --engine \
             'postgres://USER:${ASSAY_PASSWORD_NAME}@HOST:5432/DATABASE', or `dsn` in the \
             [[variant]] of an experiment file"
                .to_owned(),
        );
    }
    if OF_STEPS.contains(&option) && takes_steps {
        return Some("write steps without an option, such as fillseq readrandom".to_owned());
    }
    let ours = plan::option_of_peer(option)?;
    has(verb, ours).then(|| format!("write --{ours}; `--help` explains the option"))
}

/// Returns where else an option, or a key of its name, is known.
fn elsewhere(option: &str, root: &Command) -> Option<String> {
    let known = commands(root, "assay", &|command| has(command, option));
    if !known.is_empty() {
        return Some(format!("--{option} is an option of {}", known.join(", ")));
    }
    let key = option.replace('-', "_");
    let tables = plan::tables_with(&key);
    let table = tables.first()?;
    Some(format!("`{key}` is a key of {table} in an experiment file, and not an option"))
}

/// Returns the commands below one that fulfil a condition.
fn commands(command: &Command, path: &str, is_wanted: &dyn Fn(&Command) -> bool) -> Vec<String> {
    let is_own = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    let of_sub = |sub: &Command| {
        let path = format!("{path} {}", sub.get_name());
        let own = is_wanted(sub).then(|| format!("`{path}`"));
        own.into_iter().chain(commands(sub, &path, is_wanted)).collect::<Vec<_>>()
    };
    command.get_subcommands().filter(is_own).flat_map(of_sub).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::Cli;

    /// Returns the tip of a command line with an unknown option.
    fn tip(line: &str) -> String {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::try_parse_from(&args).expect_err("an unknown option or command");
        explained(error, &args, Cli::command()).to_string()
    }

    #[test]
    fn an_unknown_option_or_command_is_explained_by_what_was_meant() {
        let cases = [
            ("assay run readrandom --dsn postgres://a", "--engine 'postgres://USER"),
            ("assay plan readrandom --threads 4", "tip: write --clients"),
            ("assay run --value_size=400 fillseq", "tip: write --value-bytes"),
            ("assay run --benchmarks fillseq", "write steps without an option"),
            ("assay run readrandom --yes", "tip: write --trust"),
            ("assay run readrandom --until -2%", "tip: remove the minus sign"),
            ("assay plan readrandom --until 2%", "--until is an option of `assay run`"),
            ("assay compare a --disk-floor 1GiB", "`assay run`"),
            ("assay run readrandom --operations 5", "`operations` is a key of a step's table"),
            ("assay run readrandom --measure fillseq", "`measure` is a key of [experiment]"),
            ("assay run readrandom --duraton 5s", "'--duration'"),
        ];
        let commands = [
            ("assay lmdb", "assay run readrandom --engine lmdb"),
            ("assay readrandom --engine lmdb", "assay run readrandom --engine lmdb"),
            ("assay ibench-2023", "assay run --workload ibench-2023 --engine postgres@15.10"),
            ("assay engine lmdb", "assay engine show lmdb"),
            ("assay get lmdb", "`get` is a command of `assay engine`"),
            ("assay runn", "a similar subcommand exists: 'run'"),
        ];
        for (line, expected) in cases.into_iter().chain(commands) {
            let found = tip(line);
            assert!(found.contains(expected), "{line}: {found}");
        }
        assert!(tip("assay run --colour").contains("'--colour' found"));
        assert!(!tip("assay run readrandom --engine lmdb --db x").contains("tip:"));
    }

    #[test]
    fn every_synonym_is_no_option_of_ours_and_stands_for_one() {
        let mut root = Cli::command();
        root.build();
        let run = root.find_subcommand("run").expect("a command");
        for (theirs, ours) in plan::OPTIONS_OF_PEERS {
            assert!(has(run, ours) && !has(run, theirs), "{theirs} {ours}");
        }
        assert!(OF_SERVERS.iter().chain(&OF_STEPS).all(|theirs| !has(run, theirs)));
    }
}
