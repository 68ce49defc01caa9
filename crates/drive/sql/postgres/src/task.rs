//! The server's program with its configuration and environment.

use std::path::PathBuf;

use server::{ServerSpec, Task};

/// Returns the server's program with a configuration file, and others that it names.
pub(crate) fn serving(
    spec: &ServerSpec<'_>,
    file: PathBuf,
    configuration: String,
    others: Vec<(PathBuf, String)>,
) -> Task {
    let (data, config_file) = (spec.site.data.display(), file.display());
    let arguments = ["-D".to_owned(), data.to_string(), "-c".to_owned()].into_iter();
    Task {
        program: spec.program.to_owned(),
        arguments: arguments.chain([format!("config_file={config_file}")]).collect(),
        environment: environment(),
        files: [vec![(file, configuration)], others].concat(),
        ..Task::default()
    }
}

/// Locale and time zone that make messages equal on every machine.
pub(crate) fn environment() -> Vec<(String, String)> {
    vec![("LC_ALL".to_owned(), "C".to_owned()), ("TZ".to_owned(), "UTC".to_owned())]
}
