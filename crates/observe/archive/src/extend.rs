//! Extends the plan of a stored experiment.

use model::Manifest;

use crate::error::ArchiveError;
use crate::experiment::{ExperimentDir, MANIFEST};
use crate::run::replace_json;

impl ExperimentDir {
    /// Replaces the manifest by one whose plan continues the old one.
    ///
    /// A kill at any moment leaves the old manifest or the new one, each with all its runs.
    ///
    /// # Errors
    /// When the new plan does not begin with the old one, or the file cannot be written.
    pub fn extend(&self, manifest: &Manifest) -> Result<(), ArchiveError> {
        let path = self.path().join(MANIFEST);
        if !manifest.plan.cells.starts_with(&self.manifest()?.plan.cells) {
            let reason = "its plan was laid out by another Assay and cannot continue; start a new \
            experiment";
            return Err(ArchiveError::Damaged { path, reason: reason.to_owned() });
        }
        replace_json(&path, manifest)
    }
}
