//! A catalog and an experiment file for tests.

use std::collections::BTreeSet;
use std::path::Path;

use application::ApplicationFiles;
use application::testing::Shipped;
use model::{Bytes, CpuCount, DataShape, Dialect, Experiment, OpKind, Step, StepInfo, StepRole};
use reader::PlanError;

use crate::catalog::{Builds, Catalog, EngineInfo, Machine};
use crate::checked::Checked;
use crate::experiment::load;
use crate::overrides::Overrides;

/// A machine of moderate size.
pub(crate) const MACHINE: Machine =
    Machine { cpus: CpuCount::of(8), memory_bytes: Bytes(32 << 30), free_bytes: Bytes(1 << 40) };

/// A valid experiment file.
pub(crate) const FILE: &str = r#"
[experiment]
name = "sample"
question = "?"

[benchmark]
steps = ["fillseq", "overwritesome", "readwhilewriting"]
rows = "10k"

[[variant]]
name = "a"
engine = "tree"
"#;

/// A catalog of files by name.
#[derive(Debug, Default)]
pub(crate) struct TestCatalog {
    pub(crate) profiles: Vec<(&'static str, &'static str)>,
    pub(crate) rate_files: Vec<(&'static str, &'static str)>,
    pub(crate) applications: Vec<(&'static str, String)>,
}

fn step(name: &'static str, role: StepRole, share_of_rows: Option<f64>) -> StepInfo {
    let mut needs = BTreeSet::from([OpKind::Put]);
    if role == StepRole::ReadWrite {
        needs.insert(OpKind::Scan);
    }
    StepInfo {
        name: name.into(),
        about: "a step of a test".into(),
        needs,
        role,
        share_of_rows,
        has_writer: role == StepRole::ReadWrite,
        is_single_client: role == StepRole::Load,
    }
}

impl ApplicationFiles for TestCatalog {
    fn application(&self, name: &str) -> Option<String> {
        Shipped.application(name)
    }

    fn application_names(&self) -> Vec<String> {
        Shipped.application_names()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        let rates = self.rate_files.iter().map(|(name, text)| (*name, (*text).to_owned()));
        let mut known = self.applications.iter().cloned().chain(rates);
        let found = known.find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| text).ok_or_else(|| "no such file".to_owned())
    }

    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String> {
        Shipped.check_distribution(text, rows)
    }
}

impl Catalog for TestCatalog {
    fn steps(&self) -> Vec<StepInfo> {
        vec![
            step("fillseq", StepRole::Load, Some(1.0)),
            step("overwritesome", StepRole::Write, Some(0.1)),
            step("readrandom", StepRole::Read, None),
            step("readwhilewriting", StepRole::ReadWrite, None),
            step("settle", StepRole::Maintain, None),
        ]
    }

    fn engines(&self) -> Vec<EngineInfo> {
        vec![
            EngineInfo {
                name: "tree".to_owned(),
                builds: Builds::Linked,
                dialect: None,
                is_own: false,
            },
            EngineInfo {
                name: "log".to_owned(),
                builds: Builds::Loaded,
                dialect: None,
                is_own: false,
            },
            EngineInfo {
                name: "pg".to_owned(),
                builds: Builds::Loaded,
                dialect: Some(Dialect::Postgres),
                is_own: false,
            },
            EngineInfo {
                name: "my".to_owned(),
                builds: Builds::Loaded,
                dialect: Some(Dialect::Mysql),
                is_own: false,
            },
        ]
    }

    fn profile(&self, name: &str) -> Option<String> {
        let found = self.profiles.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| (*text).to_owned())
    }

    fn profile_names(&self) -> Vec<String> {
        self.profiles.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn rule_codes(&self) -> Vec<&'static str> {
        vec!["A001", "A008", "A039"]
    }

    fn check_step(&self, step: &Step, data: &DataShape) -> Result<(), String> {
        if step.range_rows <= 100 { Ok(()) } else { Err(format!("only {} rows", data.rows)) }
    }
}

impl Overrides {
    /// Adds the setting of that key.
    pub(crate) fn with(mut self, key: &str, text: &str) -> Self {
        let setting = crate::settings::flags().find(|one| one.key == key);
        self.settings.push((setting.expect("a declared flag"), text.to_owned()));
        self
    }
}

/// Checks [`FILE`] in which `old` is replaced by `new`.
pub(crate) fn checked(old: &str, new: &str) -> Result<Checked, PlanError> {
    assert!(FILE.contains(old), "{old}");
    let text = FILE.replacen(old, new, 1);
    load("sample.toml", &text, &Overrides::default(), &TestCatalog::default(), MACHINE)
}

/// Returns the experiment of [`FILE`] in which `old` is replaced by `new`.
pub(crate) fn experiment(old: &str, new: &str) -> Experiment {
    checked(old, new).expect("a right experiment").experiment
}
