//! `cargo tidy`: the repository's own rules, which compiler and clippy do not check.
//!
//! [`disk::read`] makes a [`repo::Repo`], and the rules make violations of it; no file is changed.
//!
//! Invariants: a rule is a pure function of a [`repo::Repo`], so its test builds one in memory; a
//! violation names place, defect and remedy.
//!
//! To add a rule: one file under `rule/`, with its test, its `mod` line and its entry there.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a program")]

mod disk;
mod markdown;
mod module;
mod repo;
mod rule;
mod rust;

use std::process::ExitCode;

use crate::rule::registry;

fn main() -> ExitCode {
    let repo = match disk::read() {
        Ok(repo) => repo,
        Err(error) => {
            eprintln!("tidy: {error}");
            return ExitCode::from(2);
        }
    };
    let found = registry::check_all(&repo);
    found.iter().for_each(|(rule, violation)| println!("{violation} [{rule}]"));
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
