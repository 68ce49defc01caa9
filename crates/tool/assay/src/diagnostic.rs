//! Library errors as miette reports.

use std::fmt::Display;

use miette::{Report, Result, miette};
use model::secret::masked;

/// Results whose error text includes the causes.
///
/// Passwords are masked before long lines are wrapped.
pub(crate) trait IntoReport<T> {
    /// Turns the error into a report of its text.
    ///
    /// `into_diagnostic` would print the cause a second time below it.
    fn into_report(self) -> Result<T>;
}

impl<T, E: Display> IntoReport<T> for Result<T, E> {
    fn into_report(self) -> Result<T> {
        self.map_err(|error| -> Report { miette!("{}", masked(&error.to_string())) })
    }
}
