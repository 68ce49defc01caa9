//! Capabilities of a SplinterDB build, and its driver.

use std::path::Path;

use engine::{Driver, REVERSE_SCANS, Result, Setting};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity};
use shim::Binding;

use crate::config::translate;

/// SplinterDB behind its shim.
static BINDING: Binding = Binding {
    capabilities,
    translate,
    settings: &[(Setting::Cache, "cache_size")],
    own_files: &["splinterdb.log"],
};

/// Loads a SplinterDB library with its shim and returns its driver.
///
/// # Errors
/// See [`shim::open_library`].
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    shim::open_library(path, "splinterdb", &BINDING)
}

fn capabilities(build: &Identity) -> Result<Capabilities> {
    let fact = |name: &str| build.facts.get(name).map(String::as_str);
    let reverse = match fact("reverse_scans") {
        Some("yes") => Feature::Yes,
        _ => Feature::no("this build scans upwards only: use a build of April 2026 or newer"),
    };
    Ok(Capabilities {
        durability: [Durability::None].into(),
        key_bytes_max: fact("key_bytes_max").and_then(|most| most.parse().ok()),
        value_bytes_max: fact("value_bytes_max").and_then(|most| most.parse().ok()),
        ..Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (DIRECT_IO, Feature::Yes),
            (COMPRESSION, Feature::no("rows are stored as given")),
            (REVERSE_SCANS, reverse),
        ])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_follow_the_reported_facts() {
        let build = |facts: &[(&str, &str)]| Identity {
            facts: facts.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
            ..Identity::default()
        };
        let old = capabilities(&build(&[
            ("key_bytes_max", "103"),
            ("value_bytes_max", "1433"),
            ("reverse_scans", "no"),
        ]))
        .unwrap();
        assert_eq!((old.key_bytes_max, old.value_bytes_max), (Some(103), Some(1433)));
        assert!(!engine::scans_in_reverse(&old));
        let new =
            capabilities(&build(&[("key_bytes_max", "512"), ("reverse_scans", "yes")])).unwrap();
        assert_eq!((new.key_bytes_max, new.value_bytes_max), (Some(512), None));
        assert!(engine::scans_in_reverse(&new));
    }
}
