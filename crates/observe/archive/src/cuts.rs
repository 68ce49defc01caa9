//! Simulated crashes of an experiment's variants: one file.

use model::CutCampaign;
use serde::{Deserialize, Serialize};

use crate::checksum::{parse, read_list, replace_sealed};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::CUTS;
use crate::replace::{json, replace};
use crate::run::read_json;

/// Version of the file's shape.
const SCHEMA: u32 = 1;

#[derive(Serialize, Deserialize)]
struct CutsFile {
    schema: u32,
    campaigns: Vec<CutCampaign>,
}

impl ExperimentDir {
    /// Stores the simulated crashes of the variants, in place of earlier ones.
    ///
    /// # Errors
    /// When the file cannot be written: the old one stays.
    pub fn write_cuts(&self, campaigns: Vec<CutCampaign>) -> Result<(), ArchiveError> {
        let text = json(&CutsFile { schema: SCHEMA, campaigns });
        match read_list(self.path()).ok().and_then(|list| parse(&list)) {
            Some(sums) => replace_sealed(self.path(), CUTS, &text, sums),
            // An experiment of an older Assay without checksums gets none.
            None => replace(&self.path().join(CUTS), &text),
        }
    }

    /// Returns the simulated crashes of the variants; none where none were made.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn cuts(&self) -> Result<Vec<CutCampaign>, ArchiveError> {
        match read_json(&self.path().join(CUTS), |file: &CutsFile| file.schema) {
            Ok(file) => Ok(file.campaigns),
            Err(error) if error.is_absence() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
