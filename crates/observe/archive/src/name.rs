//! Names in records that become parts of paths.
//!
//! An archive may come from a stranger: a name such as `../../home` must lead nowhere.

use model::{Cell, Manifest};

/// Longest name in bytes.
///
/// Source: Linux, `NAME_MAX`, 255; a run's data directory joins two names and a prefix.
const NAME_BYTES_MAX: usize = 120;

/// Checks that a name is one part of a path.
///
/// `what` is the thing it names; the error completes a sentence about the file.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_part = |c: char| c != '/' && c != '\\' && !c.is_control();
    let is_dots = name.chars().all(|c| c == '.');
    if !is_dots && name.len() <= NAME_BYTES_MAX && name.chars().all(is_part) {
        return Ok(());
    }
    Err(format!("its {what} is {name:?}, which cannot be the name of a directory"))
}

/// Checks every name of a manifest that becomes part of a path, and what its cells refer to.
pub(crate) fn check_manifest(manifest: &Manifest) -> Result<(), String> {
    let experiment = &manifest.plan.experiment;
    if experiment.steps.is_empty() {
        return Err("its plan has no step".to_owned());
    }
    let lost = |cell: &&Cell| experiment.variant(&cell.variant).is_none();
    if let Some(cell) = manifest.plan.cells.iter().find(lost) {
        return Err(format!("its cell {:?} is of no variant of its plan", cell.id));
    }
    check_name("identifier", &manifest.id)?;
    check_name("experiment", &experiment.name)?;
    experiment.steps.iter().try_for_each(|step| check_name("step", &step.name))?;
    manifest.plan.cells.iter().try_for_each(|cell| check_name("cell", &cell.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        for name in ["rocksdb-9.10.0.c1.r1", "20261122T010203Z-4f2a", ".hidden", "b\u{fc}ro"] {
            assert_eq!(check_name("cell", name), Ok(()));
        }
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        for name in ["", ".", "..", "../../..", "/etc", "a/b", "a\\b", "a\0", "a\u{1b}[2J", &long] {
            let reason = check_name("cell", name).unwrap_err();
            assert!(reason.contains("its cell is") && !reason.contains('\u{1b}'), "{reason}");
        }
    }
}
