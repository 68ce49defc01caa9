//! Directory of an experiment's blocks, which its machines share.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::block::{Attempt, Attempts, Claim, Claimed, Owner, reopen};
use crate::error::FleetError;
use crate::order::Order;

const ORDER: &str = "order.json";
const BUILDS: &str = "builds.tar";
const PROGRAM: &str = "assay";
const BLOCKS: &str = "blocks";

/// Directory of an experiment's blocks.
#[derive(Debug, Clone)]
pub struct Fleet {
    dir: PathBuf,
}

/// State of a block.
#[derive(Debug, Default)]
pub struct BlockState {
    /// The attempt that completed it.
    pub done: Option<Attempt>,
    /// The newest attempt in force, which may have ended.
    pub current: Option<Attempt>,
    /// Attempts that later owners took over, in order.
    pub lost: Vec<Attempt>,
}

impl Fleet {
    /// Returns the fleet of a directory; nothing is touched.
    pub const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns its directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns whether an experiment was begun here.
    pub fn exists(&self) -> bool {
        self.dir.join(ORDER).exists()
    }

    /// Returns the file of the builds.
    pub fn builds(&self) -> PathBuf {
        self.dir.join(BUILDS)
    }

    /// Returns the file of this program.
    pub fn program(&self) -> PathBuf {
        self.dir.join(PROGRAM)
    }

    /// Makes the directory with this program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self, program: &Path) -> Result<(), FleetError> {
        let make = || {
            fs::create_dir_all(self.dir.join(BLOCKS))?;
            // A program that runs cannot be written to: it is replaced.
            let part = self.dir.join(".program");
            fs::copy(program, &part)?;
            fs::rename(part, self.program())
        };
        make().map_err(FleetError::file(&self.dir))
    }

    /// Writes the order, last: a directory without an order is ignored.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_order(&self, order: &Order) -> Result<(), FleetError> {
        self.write(ORDER, order)
    }

    /// Reads the order.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn order(&self) -> Result<Order, FleetError> {
        self.read(ORDER)
    }

    /// Writes a value to a file of the directory, by rename.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FleetError> {
        let (part, path) = (self.dir.join(format!(".{name}")), self.dir.join(name));
        let text =
            serde_json::to_vec(value).map_err(|error| FleetError::Damaged(path.clone(), error))?;
        let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
        written.map_err(FleetError::file(&path))
    }

    /// Reads a value from a file of the directory.
    ///
    /// # Errors
    /// When it cannot be read or parsed.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, FleetError> {
        let path = self.dir.join(name);
        let text = fs::read(&path).map_err(FleetError::file(&path))?;
        serde_json::from_slice(&text).map_err(|error| FleetError::Damaged(path, error))
    }

    /// Takes a block, also from another owner.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn claim(&self, block: u32, owner: &Owner) -> Result<Claimed, FleetError> {
        Claim::take(&self.place(block), block, owner)
    }

    /// Returns the state of a block.
    pub fn state(&self, block: u32) -> BlockState {
        let Attempts { done, mut current, lost, .. } = Attempts::of(&self.place(block));
        BlockState { done, current: current.pop(), lost }
    }

    /// Sets a complete block aside, so that its runs are repeated on one machine.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn reopen(&self, block: u32) -> Result<(), FleetError> {
        reopen(&self.place(block))
    }

    /// Removes what the machines needed; the files that name the machines stay.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn clear(&self) -> Result<(), FleetError> {
        // Without an order it is ignored.
        for file in [self.dir.join(ORDER), self.builds(), self.program()] {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(FleetError::file(&file)(error));
                }
                _ => {}
            }
        }
        // By rename: an owner that comes late finds no blocks, and cannot add any while they go.
        let (blocks, removed) = (self.dir.join(BLOCKS), self.dir.join(format!(".{BLOCKS}")));
        let remove = fs::rename(&blocks, &removed).and_then(|()| fs::remove_dir_all(&removed));
        remove.map_err(FleetError::file(&blocks))
    }

    fn place(&self, block: u32) -> PathBuf {
        self.dir.join(BLOCKS).join(block.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_owner_begins_no_block_of_an_experiment_that_is_over() {
        let root = tempfile::tempdir().unwrap();
        let (program, fleet) = (root.path().join("program"), root.path().join("fleet"));
        fs::write(&program, "").unwrap();
        let fleet = Fleet::at(fleet);
        fleet.create(&program).unwrap();
        fleet.clear().unwrap();
        let owner = Owner {
            machine: "late".to_owned(),
            fingerprint: String::new(),
            job: None,
            process: 1,
            started_at: String::new(),
        };
        assert!(fleet.claim(1, &owner).is_err());
        assert_eq!(fs::read_dir(fleet.path()).unwrap().count(), 0);
    }
}
