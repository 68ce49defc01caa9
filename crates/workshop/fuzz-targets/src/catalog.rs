//! A catalog whose files are the bytes of a target.

use std::path::Path;

use model::{Bytes, CpuCount, DataShape, Dialect, Step, StepInfo};
use plan::{ApplicationFiles, Builds, Catalog, EngineInfo, Machine};

/// The machine for which sizes are derived.
pub(crate) const MACHINE: Machine =
    Machine { cpus: CpuCount::of(8), memory_bytes: Bytes(32 << 30), free_bytes: Bytes(1 << 40) };

/// Name of the profile and of the application.
const OWN: &str = "own";

/// Engines, the program's steps, and one text.
#[derive(Debug, Default)]
pub(crate) struct OneText<'a> {
    /// Profile, application and every other file.
    pub(crate) text: &'a str,
}

impl OneText<'_> {
    fn named(&self, name: &str) -> Option<String> {
        (name == OWN).then(|| self.text.to_owned())
    }
}

impl ApplicationFiles for OneText<'_> {
    fn application(&self, name: &str) -> Option<String> {
        self.named(name)
    }

    fn application_names(&self) -> Vec<String> {
        vec![OWN.to_owned()]
    }

    fn file(&self, _path: &Path) -> Result<String, String> {
        Ok(self.text.to_owned())
    }

    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String> {
        workload::check_distribution(text, rows)
    }
}

impl Catalog for OneText<'_> {
    fn steps(&self) -> Vec<StepInfo> {
        workload::catalog()
    }

    fn engines(&self) -> Vec<EngineInfo> {
        let engine = |name: &str, builds, dialect| EngineInfo {
            name: name.to_owned(),
            builds,
            dialect,
            is_own: false,
        };
        vec![
            engine("rocksdb", Builds::Loaded, None),
            engine("sqlite", Builds::Either, None),
            engine("lmdb", Builds::Either, None),
            engine("memory", Builds::Linked, None),
            engine("postgres", Builds::Loaded, Some(Dialect::Postgres)),
            engine("mysql", Builds::Loaded, Some(Dialect::Mysql)),
        ]
    }

    fn profile(&self, name: &str) -> Option<String> {
        self.named(name)
    }

    fn profile_names(&self) -> Vec<String> {
        vec![OWN.to_owned()]
    }

    fn rule_codes(&self) -> Vec<&'static str> {
        lint::rules().iter().map(|rule| rule.code).collect()
    }

    fn check_step(&self, step: &Step, data: &DataShape) -> Result<(), String> {
        let step = Step { clients: step.clients.max(1), ..step.clone() };
        workload::check(&step, data).map_err(|error| error.to_string())
    }
}
