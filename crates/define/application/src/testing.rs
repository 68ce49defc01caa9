//! The shipped applications, for tests.

use std::path::Path;

use reader::PlanError;
use reader::error::Source;
use reader::place::{Place, Placed};

use crate::expression::Setup;
use crate::names::ApplicationFiles;
use crate::read::{Described, read};

/// The applications that come with the program.
pub const SHIPPED: [(&str, &str); 6] = [
    ("ibench-2023", include_str!("../../../../applications/ibench-2023.toml")),
    ("ibench-current", include_str!("../../../../applications/ibench-current.toml")),
    ("sysbench", include_str!("../../../../applications/sysbench.toml")),
    ("documents", include_str!("../../../../applications/documents.toml")),
    ("linkbench", include_str!("../../../../applications/linkbench.toml")),
    ("tproc-c", include_str!("../../../../applications/tproc-c.toml")),
];

/// The shipped applications, and no file of a user.
#[derive(Debug, Clone, Copy)]
pub struct Shipped;

impl ApplicationFiles for Shipped {
    fn application(&self, name: &str) -> Option<String> {
        SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
    }

    fn application_names(&self) -> Vec<String> {
        SHIPPED.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn file(&self, _path: &Path) -> Result<String, String> {
        Err("no such file".to_owned())
    }

    fn check_distribution(&self, text: &str, _rows: u64) -> Result<(), String> {
        if text == "uniform" || text.starts_with("zipf:") {
            Ok(())
        } else {
            Err(format!("unknown distribution `{text}`"))
        }
    }
}

/// Returns an application's file, read for an experiment that sets these parameters.
///
/// # Errors
/// What is wrong in the file.
pub fn described(
    text: &str,
    rows: u64,
    clients: u32,
    set: &[(&str, &str)],
) -> Result<Described, PlanError> {
    let typed = |text: &str| Placed::new(text.to_owned(), Place::flag("parameter"));
    let parameters = set.iter().map(|(name, value)| (typed(name), typed(value))).collect();
    let (source, experiment) = (Source::new("own.toml", text), &Source::default());
    let setup = Setup { experiment, parameters: &parameters, rows, clients };
    read(&source, setup, &Shipped)
}
