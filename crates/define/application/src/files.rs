//! Where the files of applications are.

use std::path::Path;

/// The files of applications, and the key distributions that they may name.
pub trait ApplicationFiles {
    /// Returns the text of a shipped application.
    fn application(&self, name: &str) -> Option<String>;
    /// Returns the names of the shipped applications.
    fn application_names(&self) -> Vec<String>;
    /// Returns the text of a user's file: an application, a profile, or a rate.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn file(&self, path: &Path) -> Result<String, String>;
    /// Checks a key distribution as written, for a key space of `rows`.
    ///
    /// # Errors
    /// Names the error in the text and the known distributions.
    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String>;
}
