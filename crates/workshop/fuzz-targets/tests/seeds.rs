//! Every target reads every committed seed, crashes of the past among them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fuzz_targets::TARGETS;

/// Targets of which files are shipped, each kind in a folder of its own.
const SHIPPED: [&str; 3] = ["experiment", "profile", "application"];

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Returns the files of a folder; none when it is absent.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("a readable folder").path()).collect()
}

#[test]
fn seeds_are_read_without_a_panic() {
    for (name, target) in TARGETS {
        let seeds = files(&root().join("fuzz/seeds").join(name));
        assert!(!seeds.is_empty(), "fuzz/seeds/{name} has no seed");
        // The shipped experiments, profiles and applications are seeds too.
        let shipped = files(&root().join(format!("{name}s")));
        assert!(!shipped.is_empty() || !SHIPPED.contains(&name), "{name}s has no file");
        for seed in seeds.iter().chain(&shipped) {
            println!("{name}: {}", seed.display());
            target(&fs::read(seed).expect("a seed is readable"));
        }
        println!("{name}: {} seeds, 0 panics", seeds.len() + shipped.len());
    }
}

#[test]
fn every_target_is_built_by_cargo_fuzz() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("it is readable");
    let built = manifest.split("[[bin]]\nname = \"").skip(1);
    let built: BTreeSet<_> = built.filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(built, TARGETS.iter().map(|(name, _)| *name).collect());
}
