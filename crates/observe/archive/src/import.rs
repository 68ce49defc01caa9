//! Brings an experiment from one file into the archive.

use std::fs;
use std::io;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::{Timestamp, ToSpan as _};
use rustix::fs::{Mode, OFlags, syncfs};
use trust::{Dir, Entries};

use crate::bundle::BundleFacts;
use crate::checksum::{checksum_of, names};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::RUN_DIRS;
use crate::replace::rename;
use crate::results::{Results, directories};
use crate::run::{read_intervals, read_record};
use crate::scratch::ScratchDir;
use crate::unpack::unpack;

/// Bytes of the time in an identifier, as in `20260131T235959Z`.
const STAMP_BYTES: usize = 16;
/// Start of the name of a directory in which experiments are prepared; listings leave it out.
pub(crate) const PREPARED: &str = ".import-";

impl Results {
    /// Brings an experiment from one file into the archive, after checking it as a whole.
    ///
    /// A kill or an error leaves no experiment behind, only a hidden directory, which the next
    /// import removes. One that is there already, with the same files, stays as it is.
    ///
    /// # Errors
    /// When the file is damaged, or the experiment is there with other files, or cannot be written.
    pub fn import(&self, file: &Path) -> Result<(ExperimentDir, BundleFacts), ArchiveError> {
        let root = self.root();
        // Before a directory is made.
        fs::metadata(file).map_err(ArchiveError::read(file))?;
        Dir::create(root, Entries::Shared).map_err(ArchiveError::write(root))?;
        let prepared = ScratchDir::make(root, PREPARED).map_err(ArchiveError::write(root))?;
        let facts = unpack(file, prepared.path())?;
        check_id(&facts.id).map_err(|reason| ArchiveError::Damaged(file.to_owned(), reason))?;
        let parent = root.join(&facts.experiment);
        let target = parent.join(&facts.id);
        let place = prepared.path().join(&facts.experiment).join(&facts.id);
        check_figures(&ExperimentDir::open(&place)?)?;
        Dir::create(&parent, Entries::Closed).map_err(ArchiveError::write(&parent))?;
        if target.exists() {
            let is_same = is_part_of(&place, &target).map_err(ArchiveError::read(&target))?;
            return match is_same {
                true => Ok((ExperimentDir::open(&target)?, facts)),
                false => Err(ArchiveError::Exists(target)),
            };
        }
        rename(&place, &target).map_err(ArchiveError::write(&target))?;
        Ok((ExperimentDir::open(&target)?, facts))
    }
}

/// Checks that an identifier is one that Assay gives, and of no later time: those that follow in
/// the archive continue the newest of their name.
fn check_id(id: &str) -> Result<(), String> {
    let is_hex = |end: &str| end.len() == 4 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    let stamp =
        id.rsplit_once('-').filter(|(stamp, end)| stamp.len() == STAMP_BYTES && is_hex(end));
    let stamp = stamp.and_then(|(stamp, _)| DateTime::strptime("%Y%m%dT%H%M%SZ", stamp).ok());
    let Some(stamp) = stamp else {
        return Err(format!("its identifier {id:?} is not of the form 20260131T235959Z-00ff"));
    };
    // The clocks of two hosts differ.
    let latest = Timestamp::now().checked_add(24.hours()).map_err(|error| error.to_string())?;
    match stamp <= latest.to_zoned(jiff::tz::TimeZone::UTC).datetime() {
        true => Ok(()),
        false => Err(format!("its identifier {id:?} is in the future")),
    }
}

/// Reads every record and interval, so that no figure out of range is in the archive.
///
/// Then all files are on the disk, by one call for all: they are visible after the rename only.
pub(crate) fn check_figures(experiment: &ExperimentDir) -> Result<(), ArchiveError> {
    let dir = experiment.path();
    experiment.runs(&experiment.manifest()?)?;
    for run in RUN_DIRS.iter().flat_map(|part| directories(&dir.join(part))) {
        for read in [read_record(&run).map(drop), read_intervals(&run).map(drop)] {
            // A run that was killed at its start has neither.
            match read {
                Err(error) if !error.is_absence() => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let synced = rustix::fs::open(dir, flags, Mode::empty()).and_then(syncfs);
    synced.map_err(|errno| ArchiveError::write(dir)(errno.into()))
}

/// Returns whether every file of one experiment is in another with the same content.
fn is_part_of(one: &Path, other: &Path) -> io::Result<bool> {
    for name in names(one)? {
        let there = other.join(&name);
        if !there.exists() || checksum_of(&one.join(&name))? != checksum_of(&there)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_that_assay_gives_and_of_no_later_time() {
        for id in ["20261121T141851Z-b943", "20240229T000000Z-ffff"] {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
        let later = "29991128T065041Z-191e";
        let long = "z".repeat(80);
        for id in [later, &long, "", "quick", "20261121T141851Z-b94", "20261321T141851Z-b943"] {
            let reason = check_id(id).unwrap_err();
            let expected = if id == later { "in the future" } else { "is not of the form" };
            assert!(reason.contains(expected), "{id}: {reason}");
        }
    }
}
