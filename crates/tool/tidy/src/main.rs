//! `cargo tidy`: the definition of done.
//!
//! The repository's own rules check what compiler and clippy do not; no file is changed.
//! [`disk::read`] makes a [`repo::Repo`], the rules make violations of it, and [`stage`] runs them
//! with the other checks.
//!
//! Invariants: a rule is a pure function of a [`repo::Repo`], so its test builds one in memory; a
//! violation names place, defect and remedy.
//!
//! To add a rule: one file under `rule/`, with its test, and one line in [`rule::registry::RULES`].
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a program")]

mod disk;
mod markdown;
mod module;
mod repo;
mod rule;
mod rust;
mod stage;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo tidy [rules | --no-test]

  cargo tidy             the definition of done: format, rules, and `make test`, which lints
  cargo tidy --no-test   the same without the tests
  cargo tidy rules       the repository's own rules only";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_wanted: fn(&str) -> bool = match args.as_slice() {
        [] => |_| true,
        ["--no-test"] => |name| name != stage::TESTS,
        ["rules"] => |name| name == stage::RULES,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match stage::run(is_wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tidy: {error}");
            ExitCode::from(2)
        }
    }
}
