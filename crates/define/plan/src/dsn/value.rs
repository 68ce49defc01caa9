//! A parameter of an address, and what its value means.

use std::path::PathBuf;

use model::{AuthMethod, ServerRole};
use reader::error::PlanError;

use super::text::wrong;

/// A parameter of an address.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether it stands before every password, so that its value is not secret.
    pub(super) is_shown: bool,
}

impl Parameter {
    /// Returns the name, as errors of known parameters show it.
    pub(super) fn title(&self) -> String {
        format!("`{}`", self.name)
    }

    /// Returns the error of a value, which is shown if it cannot be secret.
    pub(super) fn refuse(&self, remedy: impl Into<String>) -> PlanError {
        wrong(format!("{} cannot be {}", self.title(), self.shown_value())).remedy(remedy)
    }

    /// Returns the value, as errors show it.
    fn shown_value(&self) -> String {
        if self.is_shown { format!("`{}`", self.value) } else { "its value".to_owned() }
    }
}

/// Returns what a server must be; Assay writes, so it can be no standby.
pub(super) fn role(parameter: &Parameter) -> Result<Option<ServerRole>, PlanError> {
    match parameter.value.as_str() {
        "any" | "prefer-standby" | "preferSecondary" | "preferPrimary" => Ok(None),
        "read-write" => Ok(Some(ServerRole::ReadWrite)),
        "primary" | "master" => Ok(Some(ServerRole::Primary)),
        _ => Err(parameter.refuse("Assay writes: use any, read-write or primary")),
    }
}

/// Returns the methods by which a server may verify a login, as far as Assay speaks them.
///
/// Source: PostgreSQL documentation, section 34.1.2, `require_auth`.
pub(super) fn methods(parameter: &Parameter) -> Result<Vec<AuthMethod>, PlanError> {
    let names: Vec<_> = parameter.value.split(',').collect();
    let excluded: Vec<_> = names.iter().filter_map(|name| name.strip_prefix('!')).collect();
    let is_listed = |method: &AuthMethod| match excluded.is_empty() {
        true => names.contains(&method.name()),
        false => !excluded.contains(&method.name()),
    };
    let methods: Vec<_> = AuthMethod::ALL.into_iter().filter(is_listed).collect();
    let known = |name: &&str| {
        let name = name.strip_prefix('!').unwrap_or(name);
        ["gss", "sspi", "oauth"].contains(&name) || name.parse::<AuthMethod>().is_ok()
    };
    let is_mixed = !excluded.is_empty() && excluded.len() < names.len();
    if is_mixed || methods.is_empty() || !names.iter().all(known) {
        return Err(parameter.refuse(
            "list the methods that Assay may use (scram-sha-256, md5, password, none), or all \
             methods to exclude, each after a `!`",
        ));
    }
    Ok(methods)
}

/// Returns whether a switch is on.
pub(super) fn switched(parameter: &Parameter) -> Result<bool, PlanError> {
    match parameter.value.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(parameter.refuse("use true or false")),
    }
}

/// Returns the absolute path of a socket.
pub(super) fn absolute(parameter: &Parameter) -> Result<PathBuf, PlanError> {
    let path = PathBuf::from(&parameter.value);
    if path.is_absolute() {
        return Ok(path);
    }
    let value = parameter.shown_value();
    Err(wrong(format!("{value} is not the path of a socket")).remedy("give an absolute path"))
}

/// Returns the path of a file.
pub(super) fn file(parameter: &Parameter, content: &str) -> Result<PathBuf, PlanError> {
    let path = PathBuf::from(&parameter.value);
    if path.is_absolute() && path.is_file() {
        return Ok(path);
    }
    let (title, value) = (parameter.title(), parameter.shown_value());
    Err(wrong(format!("{title}: {value} is not the path of a file"))
        .remedy(format!("give the absolute path of a PEM file with {content}")))
}
