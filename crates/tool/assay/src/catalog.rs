//! What the program knows, for the planner; and the profiles that ship inside it.

use std::fs;

use model::{DataShape, Step, StepInfo};
use plan::{Catalog, EngineInfo};

/// Shortens the table below.
macro_rules! profile {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../profiles/", $name, ".toml")))
    };
}

/// The profiles in `profiles/`.
static PROFILES: &[(&str, &str)] = &[
    profile!("rocksdb-consistent"),
    profile!("rocksdb-stock"),
    profile!("rocksdb-leveled"),
    profile!("rocksdb-universal"),
    profile!("rocksdb-blob"),
    profile!("rocksdb-dbbench"),
];

/// The program's own knowledge.
pub(crate) struct Program;

impl Catalog for Program {
    fn steps(&self) -> Vec<StepInfo> {
        workload::catalog()
    }

    fn engines(&self) -> Vec<EngineInfo> {
        crate::registry::infos()
    }

    /// Returns a shipped profile by name, or the user's own by path (`./mine.toml`).
    fn profile(&self, name: &str) -> Option<String> {
        let shipped = PROFILES.iter().find(|(known, _)| *known == name);
        match shipped {
            Some((_, text)) => Some((*text).to_owned()),
            None if name.ends_with(".toml") => fs::read_to_string(name).ok(),
            None => None,
        }
    }

    fn profile_names(&self) -> Vec<String> {
        PROFILES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String> {
        workload::check_distribution(text, rows)
    }

    fn check_step(&self, step: &Step, data: &DataShape) -> Result<(), String> {
        let step = Step { clients: step.clients.max(1), ..step.clone() };
        workload::check(&step, data).map_err(|error| error.to_string())
    }
}
