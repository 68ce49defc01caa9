//! An experiment that goes on after the end of its plan.

use model::Manifest;

use crate::error::ArchiveError;
use crate::experiment::{ExperimentDir, MANIFEST};
use crate::run::replace_json;

impl ExperimentDir {
    /// Replaces the manifest by one whose plan goes on where the old one ends.
    ///
    /// A kill at any moment leaves the old manifest or the new one, each with all its runs.
    ///
    /// # Errors
    /// When the new plan does not begin with the old one, or the file cannot be written.
    pub fn extend(&self, manifest: &Manifest) -> Result<(), ArchiveError> {
        let path = self.path().join(MANIFEST);
        if !manifest.plan.cells.starts_with(&self.manifest()?.plan.cells) {
            let reason = "its plan was laid out by another Assay and cannot go on; begin it anew";
            return Err(ArchiveError::Damaged { path, reason: reason.to_owned() });
        }
        replace_json(&path, manifest)
    }
}
