use super::read::{Loaded, read};
use crate::error::{PlanError, Source};
use crate::sample::{Knowledge, SHIPPED};

fn loaded(name: &str, text: &str, rows: u64) -> Result<Loaded, PlanError> {
    let source = Source { name: format!("{name}.toml"), text: text.to_owned() };
    let empty = Source::default();
    read(&source, (&empty, &[]), rows, &Knowledge::default())
}

#[test]
fn shipped() {
    for (name, text) in SHIPPED {
        match loaded(name, text, 10_000) {
            Ok(loaded) => drop(loaded),
            Err(error) => panic!("{:?}", miette::Report::new(error)),
        }
    }
}
