//! The application's own conditions, which hold after every run.

use std::io::Write;

use engine::{ApplicationSetup, Engine};
use model::sql::Check;

use super::around::server_of;
use crate::message::Message;
use crate::worker::parent_link::Worker;

impl<W: Write + Send> Worker<'_, W> {
    /// Evaluates the application's checks on each copy of their tables.
    ///
    /// # Errors
    /// Names the first check that does not hold, and what the query returned.
    pub(super) fn check_conditions(
        &self,
        engine: &dyn Engine,
        setup: &ApplicationSetup,
    ) -> Result<(), String> {
        for (at, check) in (0..).zip(&setup.application.checks) {
            self.send(&Message::stage(format!("check {}", check.name)));
            for copy in 0..setup.copies(check.table) {
                let query = || server_of(engine)?.check_row(at, copy);
                let row = self.patiently(engine, query).map_err(|error| {
                    format!("check `{}` could not be made: {error}", check.name)
                })?;
                holds(check, row)?;
            }
        }
        Ok(())
    }
}

/// Compares a query's first row with what a check expects.
fn holds(check: &Check, row: Option<Vec<String>>) -> Result<(), String> {
    let name = &check.name;
    match (check.expected, row) {
        (None, None) => Ok(()),
        (None, Some(row)) => {
            Err(format!("check `{name}` is violated: it returns ({})", row.join(", ")))
        }
        (Some(expected), row) => {
            let found = row.and_then(|row| row.into_iter().next()).unwrap_or_default();
            let is_same =
                found.parse::<f64>().is_ok_and(|found| (found - expected as f64).abs() < 0.005);
            if is_same {
                return Ok(());
            }
            let found = if found.is_empty() { "nothing".to_owned() } else { found };
            Err(format!("check `{name}` is violated: it returns {found}, not {expected}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::sql::PerDialect;

    use super::*;

    fn check(expected: Option<i64>) -> Check {
        Check { name: "sums".to_owned(), table: 0, query: PerDialect::default(), expected }
    }

    #[test]
    fn a_row_where_none_is_expected_is_shown() {
        let row = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(holds(&check(None), None), Ok(()));
        let violated = holds(&check(None), row(&["1", "3", ""])).unwrap_err();
        assert_eq!(violated, "check `sums` is violated: it returns (1, 3, )");
        assert_eq!(holds(&check(Some(30)), row(&["30.00"])), Ok(()));
        let other = holds(&check(Some(30)), row(&["29"])).unwrap_err();
        assert_eq!(other, "check `sums` is violated: it returns 29, not 30");
        let none = holds(&check(Some(0)), None).unwrap_err();
        assert_eq!(none, "check `sums` is violated: it returns nothing, not 0");
    }
}
