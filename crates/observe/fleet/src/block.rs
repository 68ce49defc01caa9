//! One block: who runs it, what it left, and how it becomes complete.
//!
//! ```text
//! <block>/turn.1/      empty: there was a first owner
//!        /g1/          its runs; owner.json, log.txt, outcome.json
//!        /lost.1/      the same, once a later owner has taken the block over
//!        /g2/          runs of the second owner
//!        /done/        runs of the owner that completed the block
//! ```
//!
//! An owner writes below the path of its generation. The next owner renames this directory before
//! it runs anything, and from then on no rename of the earlier owner succeeds: the earlier owner
//! may have been lost, frozen, or separated from the network. A block is completed by renaming the
//! directory of a generation to `done`. Both renames have the same source, so exactly one succeeds.
//!
//! A turn is never renamed or removed, so no generation has two owners; an owner that finds the
//! turn after its own has come too late.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use archive::{ArchiveError, unpack_run};
use model::limits::{RUN_NAME_BYTES_MAX, check_name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::FleetError;

/// Directory of a complete block.
const DONE: &str = "done";
/// Start of the names of generations in force, and of those that were taken over.
const STARTS: [&str; 2] = ["g", "lost."];
/// Start of the names of turns.
const TURN: &str = "turn.";
const OWNER: &str = "owner.json";
const OUTCOME: &str = "outcome.json";
const LOG: &str = "log.txt";

/// The process that runs a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Name of the machine.
    pub machine: String,
    /// Class of the machine.
    pub fingerprint: String,
    /// What the scheduler calls it, such as `12_3`.
    pub job: Option<String>,
    /// Process on the machine.
    pub process: u32,
    /// When it took the block, UTC, RFC 3339.
    pub started_at: String,
}

/// How an owner ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// Every run has ended.
    Complete,
    /// The machine did not fit: nothing was run.
    Refused {
        /// Why.
        reason: String,
    },
    /// The block could not be run to its end.
    Failed {
        /// Why.
        reason: String,
    },
    /// A signal of the scheduler or of a user stopped it.
    Stopped,
}

impl Outcome {
    /// Returns the outcome as a phrase.
    pub fn phrase(&self) -> String {
        match self {
            Self::Complete => "complete".to_owned(),
            Self::Refused { reason } => format!("refused: {reason}"),
            Self::Failed { reason } => format!("failed: {reason}"),
            Self::Stopped => "stopped by a signal".to_owned(),
        }
    }
}

/// What one owner left of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its directory.
    pub dir: PathBuf,
    /// Its number, from 1.
    pub generation: u32,
    /// Its owner; `None` if the owner ended before it could write its name.
    pub owner: Option<Owner>,
    /// How it ended; `None` while it runs, or if it was lost.
    pub outcome: Option<Outcome>,
}

impl Attempt {
    /// Reads the attempt in a directory.
    pub(crate) fn read(dir: PathBuf, generation: u32) -> Self {
        let (owner, outcome) = (read(&dir.join(OWNER)), read(&dir.join(OUTCOME)));
        Self { dir, generation, owner, outcome }
    }

    /// Returns the file of its log.
    pub fn log(&self) -> PathBuf {
        self.dir.join(LOG)
    }

    /// Returns the machine with the job, for messages.
    pub fn machine(&self) -> String {
        match &self.owner {
            None => "an unknown machine".to_owned(),
            Some(Owner { machine, job: None, .. }) => machine.clone(),
            Some(Owner { machine, job: Some(job), .. }) => format!("{machine} (job {job})"),
        }
    }

    /// Returns the directories of its runs, by the names of the cells.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let is_run = |dir: &PathBuf| {
            let name = dir.file_name().unwrap_or_default();
            dir.is_dir() && !name.as_encoded_bytes().starts_with(b".")
        };
        let mut runs: Vec<_> = entries.map(|entry| entry.path()).filter(is_run).collect();
        runs.sort();
        runs
    }
}

/// Attempts at a block.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) done: Option<Attempt>,
    /// Attempts in force: one, or two while a block is taken over.
    pub(crate) current: Vec<Attempt>,
    /// Attempts that were taken over.
    pub(crate) lost: Vec<Attempt>,
    /// Newest number of a turn or an attempt.
    newest: u32,
}

impl Attempts {
    /// Reads the attempts at a block, each list in order.
    pub(crate) fn of(block: &Path) -> Self {
        let mut all = Self::default();
        for entry in fs::read_dir(block).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = |start: &str| name.strip_prefix(start).and_then(|it| it.parse().ok());
            let attempt = |generation| Attempt::read(entry.path(), generation);
            let numbers = [TURN, STARTS[0], STARTS[1]].into_iter().filter_map(number);
            all.newest = numbers.fold(all.newest, u32::max);
            if name == DONE {
                all.done = Some(attempt(0));
            } else if let Some(generation) = number(STARTS[0]) {
                all.current.push(attempt(generation));
            } else if let Some(generation) = number(STARTS[1]) {
                all.lost.push(attempt(generation));
            }
        }
        for list in [&mut all.current, &mut all.lost] {
            list.sort_by_key(|attempt| attempt.generation);
        }
        all
    }
}

/// A block that is complete already, or that the caller now owns.
#[derive(Debug)]
pub enum Claimed {
    /// It is complete.
    Done,
    /// The caller owns it.
    Owned(Claim),
}

/// The right to run a block.
#[derive(Debug)]
pub struct Claim {
    block: u32,
    /// Directory of the block.
    place: PathBuf,
    /// Directory of this generation.
    dir: PathBuf,
}

impl Claim {
    /// Takes a block, also from another owner.
    pub(crate) fn take(place: &Path, block: u32, owner: &Owner) -> Result<Claimed, FleetError> {
        // Without the directory of all blocks, the experiment is over.
        match fs::create_dir(place) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made.map_err(FleetError::file(place))?,
        }
        let done = place.join(DONE);
        if done.exists() {
            return Ok(Claimed::Done);
        }
        let generation = take_turn(place)?;
        for earlier in Attempts::of(place).current {
            if earlier.generation < generation {
                take_over(place, &earlier)?;
            }
        }
        let dir = place.join(format!("{}{generation}", STARTS[0]));
        let claim = Self { block, place: place.to_path_buf(), dir };
        fs::create_dir(&claim.dir).map_err(FleetError::file(&claim.dir))?;
        // No earlier owner can complete the block from now on; one may have before.
        let is_done = done.exists();
        // A later owner may have missed the directory.
        if is_done || place.join(format!("{TURN}{}", generation + 1)).exists() {
            fs::remove_dir(&claim.dir).ok();
            return if is_done { Ok(Claimed::Done) } else { Err(claim.superseded()) };
        }
        claim.write(OWNER, owner)?;
        Ok(Claimed::Owned(claim))
    }

    /// Opens the log.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn log(&self) -> Result<File, FleetError> {
        let open = OpenOptions::new().create(true).append(true).open(self.log_path());
        open.map_err(|error| self.fault(error))
    }

    /// Returns the file of the log.
    pub fn log_path(&self) -> PathBuf {
        self.dir.join(LOG)
    }

    /// Adds a run that has ended, from a stream of its files, by rename.
    ///
    /// # Errors
    /// When the stream breaks off, or another owner took the block over.
    pub fn add_run(&self, cell_id: &str, files: impl Read) -> Result<(), FleetError> {
        // It may come from another machine.
        check_name("a run", cell_id, RUN_NAME_BYTES_MAX)
            .map_err(|reason| ArchiveError::Damaged(self.dir.clone(), reason))?;
        let (part, place) = (self.dir.join(format!(".{cell_id}")), self.dir.join(cell_id));
        fs::remove_dir_all(&part).ok();
        match unpack_run(files, &part) {
            Err(_) if !self.dir.exists() => return Err(self.superseded()),
            unpacked => unpacked?,
        }
        fs::rename(&part, &place).map_err(|error| self.fault(error))
    }

    /// Makes the block complete, by rename.
    ///
    /// # Errors
    /// When another owner took the block over.
    pub fn complete(self) -> Result<(), FleetError> {
        self.write(OUTCOME, &Outcome::Complete)?;
        fs::rename(&self.dir, self.place.join(DONE)).map_err(|error| self.fault(error))
    }

    /// Records how the owner ended without completing the block.
    ///
    /// # Errors
    /// When another owner took the block over.
    pub fn end(self, outcome: &Outcome) -> Result<(), FleetError> {
        self.write(OUTCOME, outcome)
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FleetError> {
        let (part, path) = (self.dir.join(format!(".{name}")), self.dir.join(name));
        let text = serde_json::to_vec_pretty(value).unwrap_or_default();
        let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
        written.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: std::io::Error) -> FleetError {
        // A complete block has files, and is replaced by no other.
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) {
            return self.superseded();
        }
        FleetError::File(self.dir.clone(), error)
    }

    const fn superseded(&self) -> FleetError {
        FleetError::Superseded { block: self.block }
    }
}

/// Takes the next turn of a block and returns its number, from 1.
fn take_turn(place: &Path) -> Result<u32, FleetError> {
    let mut number = Attempts::of(place).newest + 1;
    loop {
        let turn = place.join(format!("{TURN}{number}"));
        match fs::create_dir(&turn) {
            Ok(()) => return Ok(number),
            // Another one takes the block at this moment.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(FleetError::file(&turn)(error)),
        }
    }
}

/// Ends the claim of an attempt: no later rename of its owner succeeds.
fn take_over(place: &Path, attempt: &Attempt) -> Result<(), FleetError> {
    let lost = place.join(format!("{}{}", STARTS[1], attempt.generation));
    match fs::rename(&attempt.dir, &lost) {
        // It completed the block, or a third owner took it over.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        renamed => renamed.map_err(FleetError::file(&attempt.dir)),
    }
}

/// Sets a complete block aside, so that its runs are repeated.
pub(crate) fn reopen(place: &Path) -> Result<(), FleetError> {
    let attempts = Attempts::of(place);
    let Some(done) = &attempts.done else { return Ok(()) };
    let lost = place.join(format!("{}{}", STARTS[1], take_turn(place)?));
    fs::rename(&done.dir, lost).map_err(FleetError::file(&done.dir))
}

/// Reads a value from a file; `None` if it is absent, or is not whole.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    fn owner(machine: &str) -> Owner {
        Owner {
            machine: machine.to_owned(),
            fingerprint: "x".to_owned(),
            job: None,
            process: 1,
            started_at: String::new(),
        }
    }

    fn claim(place: &Path, machine: &str) -> Claim {
        match Claim::take(place, 1, &owner(machine)).unwrap() {
            Claimed::Owned(claim) => claim,
            Claimed::Done => panic!("the block is complete"),
        }
    }

    fn is_superseded<T: std::fmt::Debug>(result: Result<T, FleetError>) -> bool {
        matches!(result, Err(FleetError::Superseded { block: 1 }))
    }

    #[test]
    fn a_later_owner_ends_the_claim_of_the_earlier_one() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("1");
        let first = claim(&place, "a");
        first.add_run("x.c1.r1", &[][..]).unwrap();
        let second = claim(&place, "b");
        assert!(is_superseded(first.add_run("y.c1.r1", &[][..])));
        assert!(is_superseded(first.complete()));
        second.add_run("x.c1.r1", &[][..]).unwrap();
        second.complete().unwrap();
        let attempts = Attempts::of(&place);
        let done = attempts.done.unwrap();
        assert_eq!(done.machine(), "b");
        assert_eq!(done.runs().len(), 1);
        assert_eq!(attempts.lost[0].machine(), "a");
        assert_eq!(attempts.lost[0].runs().len(), 1, "its run stays, for attempts/");
        assert!(matches!(Claim::take(&place, 1, &owner("c")).unwrap(), Claimed::Done));
    }

    /// Goal: an owner that is replaced while it stores a run stores nothing more. Method: a stream
    /// of two files, between which the next owner takes the block.
    #[test]
    fn an_owner_that_is_replaced_within_a_run_cannot_go_on() {
        let root = tempfile::tempdir().unwrap();
        let (place, run) = (root.path().join("1"), root.path().join("run"));
        fs::create_dir(&run).unwrap();
        for name in ["intervals.jsonl", "record.json"] {
            fs::write(run.join(name), "{}").unwrap();
        }
        let mut files = Vec::new();
        archive::pack_run(&run, &mut files).unwrap();
        // A header and its file have 512 bytes each. Source: POSIX.1-2017, pax, "ustar".
        let (first_file, second_file) = files.split_at(1024);
        let first = claim(&place, "a");
        let mut is_replaced = false;
        let replace = TakesOver { place: &place, is_over: &mut is_replaced };
        assert!(is_superseded(
            first.add_run("x.c1.r1", first_file.chain(replace).chain(second_file))
        ));
        assert!(is_replaced);
        assert!(is_superseded(first.complete()));
        assert_eq!(Attempts::of(&place).current[0].machine(), "b");
    }

    /// An input without bytes, whose first reading takes a block over.
    struct TakesOver<'a> {
        place: &'a Path,
        is_over: &'a mut bool,
    }

    impl Read for TakesOver<'_> {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            if !std::mem::replace(self.is_over, true) {
                claim(self.place, "b");
            }
            Ok(0)
        }
    }

    #[test]
    fn a_block_that_is_reopened_is_run_again() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("1");
        claim(&place, "a").complete().unwrap();
        reopen(&place).unwrap();
        assert_eq!(Attempts::of(&place).lost[0].machine(), "a");
        claim(&place, "b").complete().unwrap();
        assert_eq!(Attempts::of(&place).done.unwrap().machine(), "b");
    }

    /// Goal: however owners and their renames interleave, one of them completes the block, or the
    /// newest holds it.
    #[test]
    fn exactly_one_of_many_owners_completes_a_block() {
        for round in 0..100 {
            let root = tempfile::tempdir().unwrap();
            let (place, barrier) = (root.path().join("1"), Barrier::new(4));
            let completed = thread::scope(|scope| {
                let run = |machine: String| {
                    let (place, barrier) = (&place, &barrier);
                    move || {
                        barrier.wait();
                        match Claim::take(place, 1, &owner(&machine)) {
                            Ok(Claimed::Owned(claim)) => claim.complete().is_ok(),
                            Ok(Claimed::Done) | Err(FleetError::Superseded { .. }) => false,
                            Err(error) => panic!("{error}"),
                        }
                    }
                };
                let threads: Vec<_> =
                    (0..4).map(|number| scope.spawn(run(format!("m{number}")))).collect();
                threads.into_iter().map(|it| usize::from(it.join().unwrap())).sum::<usize>()
            });
            assert_eq!(completed, 1, "round {round}: {:?}", Attempts::of(&place));
        }
    }
}
