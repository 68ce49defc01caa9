//! Descriptions of applications for listings.

use std::path::Path;

use model::Application;

use crate::application;
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};

/// Rows assumed for a description.
const ROWS: u64 = 1_000_000;

/// An application with its descriptive fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// The application, for a million rows.
    pub application: Application,
    /// Its publication.
    pub published_by: Option<String>,
    /// Its parameters and their defaults as written.
    pub parameters: Vec<(String, String)>,
    /// The text of its file.
    pub text: String,
}

/// Returns the application of that name or file.
///
/// # Errors
/// When there is none, or its file is invalid.
pub fn describe(name: &str, catalog: &dyn Catalog) -> Result<Described, PlanError> {
    let (name, text) = if name.ends_with(".toml") {
        let text = catalog
            .application_file(Path::new(name))
            .map_err(|why| PlanError::new(format!("cannot read the application {name}: {why}")))?;
        (name.to_owned(), text)
    } else if let Some(text) = catalog.application(name) {
        (format!("{name}.toml"), text)
    } else {
        let names = catalog.application_names();
        return Err(PlanError::new(format!("no application is named `{name}`")).meant(
            name,
            names.iter().map(String::as_str),
            format!("applications: {}", names.join(", ")),
        ));
    };
    let source = Source { name, text };
    let loaded = application::read(&source, (&Source::default(), &Vec::new()), ROWS, catalog)?;
    let application::Loaded { application, published_by, defaults, .. } = loaded;
    Ok(Described { application, published_by, parameters: defaults, text: source.text })
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
