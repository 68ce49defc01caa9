//! `cargo tidy`: the definition of done.
#![expect(clippy::print_stderr, reason = "usage and errors of a program")]

use std::process::ExitCode;

use tidy::stage::{self, Extent};

const USAGE: &str = "\
Usage: cargo tidy [rules | --no-test]

  cargo tidy             the definition of done: format, clippy, rules, docs, licences, tests
  cargo tidy --no-test   the same without the tests
  cargo tidy rules       the repository's own rules only";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let extent = match args.as_slice() {
        [] => Extent::All,
        ["--no-test"] => Extent::AllButTests,
        ["rules"] => Extent::Rules,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match stage::run(extent, &mut std::io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tidy: {error}");
            ExitCode::from(2)
        }
    }
}
