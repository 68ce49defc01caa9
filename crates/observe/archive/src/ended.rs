//! The ended runs that an experiment's `checksums` lists.
//!
//! Without the list, a deleted run has the same traces as a run that was only planned.

use std::path::Path;

use crate::checksum::{Checksums, checksum_of, parse, read_list, write};
use crate::error::ArchiveError;
use crate::layout::{CHECKSUMS, Content, content};
use crate::replace;

/// Lists a run in its experiment's checksums, by the checksum of the run's own list.
///
/// An experiment of an older Assay without checksums gets none.
pub(crate) fn add(run: &Path) -> Result<(), ArchiveError> {
    let Some((experiment, name)) = place(run) else { return Ok(()) };
    let list = run.join(CHECKSUMS);
    let sum = checksum_of(&list).map_err(ArchiveError::read(&list))?;
    change(experiment, |sums| drop(sums.insert(name, [sum].into())))
}

/// Moves a run's directory, and lists an ended run by its new name.
///
/// A kill at any moment leaves a list with the name that the run then has.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), ArchiveError> {
    let moved = || replace::rename(from, to).map_err(ArchiveError::write(from));
    let Some(((experiment, old), (_, new))) = place(from).zip(place(to)) else { return moved() };
    // A run that was killed has none.
    let sum = checksum_of(&from.join(CHECKSUMS)).ok();
    change(experiment, |sums| sums.extend(sum.map(|sum| (new, [sum].into()))))?;
    moved()?;
    change(experiment, |sums| drop(sums.remove(&old)))
}

/// Returns the ended runs in a list of checksums.
pub(crate) fn runs(mut sums: Checksums) -> Checksums {
    sums.retain(|name, _| name.contains('/') && content(name) == Some(Content::Checksums));
    sums
}

/// Returns the experiment of a run, and the name of the run's list in it.
fn place(run: &Path) -> Option<(&Path, String)> {
    let experiment = run.ancestors().nth(2)?;
    let name = run.strip_prefix(experiment).ok()?.to_str()?;
    Some((experiment, format!("{name}/{CHECKSUMS}")))
}

/// Replaces an experiment's list if the change has an effect; a damaged list stays for `verify`.
fn change(experiment: &Path, edit: impl FnOnce(&mut Checksums)) -> Result<(), ArchiveError> {
    let Some(old) = read_list(experiment).ok().and_then(|list| parse(&list)) else {
        return Ok(());
    };
    let mut new = old.clone();
    edit(&mut new);
    if new == old { Ok(()) } else { write(experiment, &new) }
}
