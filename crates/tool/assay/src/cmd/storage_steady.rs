//! Writes at levels of fullness until the rate is steady.

use std::path::Path;

use archive::Results;
use device::{DeviceError, Place, ROUND_S, TestFile, WriteBudget, WriteTarget, settle};
use miette::{Result, miette};
use model::{Access, Bytes, DeviceRecord, DeviceTarget, SteadyLevel, whole};

use super::storage::{Storage, known_target};
use crate::diagnostic::IntoReport as _;
use crate::ui::Ui;

/// Levels of fullness. Our choice: half full, usual, and where drives become slow.
const LEVELS: [f64; 3] = [0.5, 0.7, 0.9];

/// Least room for the writes of a level.
const LEVEL_BYTES: u64 = 1 << 20;

/// Checks that the limit leaves something to measure: the fill of a level and more.
///
/// # Errors
/// When it does not, with the limit that is needed; when the storage is fuller than every level.
pub(crate) fn check_limit(storage: &Storage, limit: Bytes) -> Result<()> {
    let fills = LEVELS.map(|full| fill_size(storage, full));
    let fills = fills.into_iter().collect::<Result<Vec<_>, _>>().into_report()?;
    let fills = fills.into_iter().filter(|size| size.0 >= LEVEL_BYTES);
    let (least, most) = (fills.clone().min(), fills.map(|size| size.0).sum());
    let Some(least) = least else {
        return Err(miette!(
            help = "name a directory on a file system with room",
            "the file system is more than {:.0} % full, so no fill level is left to measure",
            100.0 * LEVELS[LEVELS.len() - 1]
        ));
    };
    if limit > least {
        return Ok(());
    }
    Err(miette!(
        help = format!(
            "give a --write-limit above {least} for the first level; filling all levels takes {}, \
             and each level then writes for minutes",
            Bytes(most)
        ),
        "a write limit of {limit} leaves nothing to measure: the first level takes {least} to fill"
    ))
}

/// Returns the size of a file or of a part of a device that makes the storage so full, a share.
fn fill_size(storage: &Storage, full: f64) -> std::result::Result<Bytes, DeviceError> {
    match (&storage.raw, &storage.request.parent) {
        (Some(raw), _) => Ok(Bytes(whole(raw.place().size.0 as f64 * full) >> 20 << 20)),
        (None, Some(parent)) => TestFile::size_at(parent, full),
        (None, None) => Ok(Bytes(0)),
    }
}

/// Writes at each level of fullness until the rate is steady or the limit is reached.
///
/// What an interrupt leaves is stored too.
pub(crate) fn until_steady(
    storage: &Storage,
    results: &Results,
    host: model::Host,
    limit: Bytes,
    ui: &Ui,
) -> Result<DeviceRecord> {
    let mut record = storage.profile(runner::stamp_id(std::process::id()), host);
    let mut budget = WriteBudget { left: limit };
    let access = if storage.raw.is_some() { Access::Raw } else { Access::Direct };
    record.targets.push(DeviceTarget {
        never_written_by: "it is filled at each level".to_owned(),
        ..known_target(storage, access, record.host.filesystem.as_ref())
    });
    for full in LEVELS {
        let mut level = SteadyLevel { full, round_s: ROUND_S, ..SteadyLevel::default() };
        match one_level(storage, &mut level, &mut budget, ui) {
            Ok(()) => {}
            Err(DeviceError::NoRoom(..)) => level.ended = "the disk floor".to_owned(),
            Err(_) if storage.is_interrupted() => level.ended = "interrupted".to_owned(),
            Err(error) => level.ended = error.to_string(),
        }
        record.steady.push(level);
        results.write_device(&record).into_report()?;
        if storage.is_interrupted() {
            return Ok(record);
        }
    }
    record.is_complete = true;
    results.write_device(&record).into_report()?;
    Ok(record)
}

/// Fills the storage to a level, and writes there.
fn one_level(
    storage: &Storage,
    level: &mut SteadyLevel,
    budget: &mut WriteBudget,
    ui: &Ui,
) -> std::result::Result<(), DeviceError> {
    let size = fill_size(storage, level.full)?;
    level.size_bytes = size;
    if size.0 < LEVEL_BYTES {
        level.ended = "it is fuller already".to_owned();
        return Ok(());
    }
    if budget.left <= size {
        level.ended = format!("the write limit leaves {}, but the fill takes {size}", budget.left);
        return Ok(());
    }
    let file = match (&storage.raw, &storage.request.parent) {
        (None, Some(parent)) => Some(TestFile::create(parent, size, storage.request.disk_floor)?),
        _ => None,
    };
    let line = |text: String| {
        let is_on = !storage.is_interrupted();
        if is_on {
            ui.status(text);
        }
        is_on
    };
    let mut filling = |written: Bytes| line(format!("filling: {written} of {size}"));
    let (place, access, dir) = match (&file, &storage.raw) {
        (Some(file), _) => {
            file.fill(&storage.fio, &mut filling)?;
            (file.place().clone(), Access::Direct, file.dir())
        }
        (None, Some(raw)) => {
            let place = Place { size, ..raw.place().clone() };
            raw.fill(&storage.fio, &place, &mut filling)?;
            (place, Access::Raw, Path::new("/"))
        }
        (None, None) => return Ok(()),
    };
    budget.take(size);
    level.written_bytes = size;
    let mut goes_on = |level: &SteadyLevel| {
        let last = level.writes_per_s.last().map_or(0, |rate| whole(*rate));
        let rounds = level.writes_per_s.len();
        line(format!("{:.0} % full: {rounds} rounds, {last} writes/s", 100.0 * level.full))
    };
    let target = WriteTarget { place: &place, access, dir };
    settle(&storage.fio, target, level, budget, &mut goes_on)
}
