//! Moves complete blocks into the archive, and what lost owners left to `attempts/`.

use std::path::Path;

use archive::{ExperimentDir, read_record};
use model::{Manifest, RunRecord};

use crate::block::Attempt;
use crate::directory::Fleet;
use crate::error::FleetError;

/// Moves what the machines have left of a block into the experiment's directory, which the caller
/// has locked.
///
/// Returns a line for each attempt that counts no more, and for a block that is not whole.
///
/// # Errors
/// When a run cannot be moved: it stays where it was, and the next call moves it.
pub fn collect(
    fleet: &Fleet,
    dir: &ExperimentDir,
    manifest: &Manifest,
    block: u32,
) -> Result<Vec<String>, FleetError> {
    let (state, mut notes) = (fleet.state(block), Vec::new());
    for lost in &state.lost {
        let runs = lost.runs();
        for run in &runs {
            dir.set_run_aside(&cell_id(run), run)?;
        }
        if !runs.is_empty() {
            let (machine, runs) = (lost.machine(), runs.len());
            notes.push(format!("block {block}: {runs} of the runs of {machine} in attempts/"));
        }
    }
    if let Some(done) = &state.done {
        adopt(done, block, dir, manifest, &mut notes)?;
    }
    Ok(notes)
}

/// Moves the runs of a complete block to the places of their cells.
fn adopt(
    done: &Attempt,
    block: u32,
    dir: &ExperimentDir,
    manifest: &Manifest,
    notes: &mut Vec<String>,
) -> Result<(), FleetError> {
    let runs = done.runs();
    if runs.is_empty() {
        return Ok(());
    }
    let records = runs.iter().map(|run| read_record(run)).collect::<Result<Vec<_>, _>>()?;
    if let [first, others @ ..] = &records[..]
        && others.iter().any(|other| !is_of_one_machine(first, other))
    {
        notes.push(format!("block {block}: its runs name several machines: it does not count"));
        return Ok(());
    }
    let planned =
        |id: &str| manifest.plan.cells.iter().any(|cell| cell.repetition == block && cell.id == id);
    for run in &runs {
        let id = cell_id(run);
        match planned(&id) {
            true => dir.adopt_run(&id, run)?,
            false => notes.push(format!("block {block}: {id} is not one of its runs")),
        }
    }
    Ok(())
}

fn is_of_one_machine(one: &RunRecord, other: &RunRecord) -> bool {
    match (&one.machine, &other.machine) {
        (Some(one), Some(other)) => one.name == other.name && one.host.is_same_machine(&other.host),
        _ => false,
    }
}

fn cell_id(run: &Path) -> String {
    run.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
