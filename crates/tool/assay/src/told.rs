//! Errors of the libraries as reports.

use std::fmt::Display;

use miette::{Report, Result, miette};

/// Results whose errors tell everything in one text, causes included.
pub(crate) trait Told<T> {
    /// Makes the error a report of that one text.
    ///
    /// `into_diagnostic` would print the cause a second time below it.
    fn told(self) -> Result<T>;
}

impl<T, E: Display> Told<T> for Result<T, E> {
    fn told(self) -> Result<T> {
        self.map_err(|error| -> Report { miette!("{error}") })
    }
}
