//! Descriptions of applications for listings.

use std::path::Path;

use crate::application::{self, Described};
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};

/// Rows assumed for a description.
const ROWS: u64 = 1_000_000;

/// Returns the application of that name or file, for a million rows.
///
/// # Errors
/// When there is none, or its file is invalid.
pub fn describe(name: &str, catalog: &dyn Catalog) -> Result<Described, PlanError> {
    let found = application::find(name, Path::new(""), catalog).map_err(PlanError::new)?;
    let names = catalog.application_names();
    let source = found.ok_or_else(|| {
        let otherwise = format!("applications: {}", names.join(", "));
        let error = PlanError::new(format!("no application is named `{name}`"));
        error.meant(name, names.iter().map(String::as_str), otherwise)
    })?;
    application::read(&source, (&Source::default(), &Vec::new()), ROWS, catalog)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::TestCatalog;

    #[test]
    fn an_application_is_found_by_name_and_a_typo_gets_a_suggestion() {
        let known = TestCatalog::default();
        let sysbench = describe("sysbench", &known).unwrap();
        assert_eq!(sysbench.parameters[0], ("tables".to_owned(), "1".to_owned()));
        assert!(sysbench.published_by.is_some() && sysbench.application.steps.len() > 20);
        let slip = describe("sysbenhc", &known).unwrap_err();
        assert_eq!(slip.to_string(), "no application is named `sysbenhc`");
        let lost = describe("lost.toml", &known).unwrap_err();
        assert_eq!(lost.to_string(), "cannot read the application lost.toml: no such file");
    }
}
