//! Refusals: what an engine rejects before it opens, as typed values.

use model::Setting;
use model::sql::StatementOwner;
use serde::{Deserialize, Serialize};

/// Most known options that a message lists.
const LISTED_MAX: usize = 30;
/// Remedy for whatever another build may support.
pub(crate) const OTHER_BUILD: &str =
    "leave it out, or find a build that has it with `assay engine show`";

/// Why an engine does not open, by what is the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Refusal {
    /// An unknown option, or a wrong value.
    #[error("option `{name}` refused: {reason}{}", listed(name, reason, known))]
    Option {
        /// The option's name, as the user wrote it.
        name: String,
        /// The engine's reason.
        reason: String,
        /// The options the engine has; empty when it lists none.
        known: Vec<String>,
    },
    /// An option that needs another build of the engine.
    #[error("option `{option}` not supported: {reason}")]
    Capability {
        /// The option's name, as the user wrote it.
        option: String,
        /// What the build lacks.
        reason: String,
    },
    /// A setting that engine or build do not support.
    #[error("{reason}")]
    Setting {
        /// The setting.
        setting: Setting,
        /// The requested value and the engine's reason.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// A statement of the application that the server rejects.
    #[error("{owner}, statement {}: {reason}", index + 1)]
    Statement {
        /// What the statement belongs to.
        owner: StatementOwner,
        /// Its position among the owner's statements for the server, as executed.
        index: usize,
        /// The server's message.
        reason: String,
    },
    /// The build itself: it does not load, or does not open for any other reason.
    #[error("{reason}")]
    Build {
        /// The engine's or the loader's message.
        reason: String,
    },
}

impl Refusal {
    /// Returns the remedy for a refused capability or setting.
    pub fn remedy(&self) -> &str {
        if let Self::Setting { remedy, .. } = self { remedy } else { OTHER_BUILD }
    }
}

/// Returns the known options, for a message about an unknown one whose `reason` lists them not.
pub fn listed(name: &str, reason: &str, known: &[String]) -> String {
    let is_listed = known.iter().all(|option| reason.contains(option.as_str()));
    let is_known = known.iter().any(|option| option == name);
    match (1..=LISTED_MAX).contains(&known.len()) && !is_known && !is_listed {
        true => format!("; known: {}", known.join(", ")),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineError;

    #[test]
    fn known_options_are_listed_unless_the_option_is_one_or_they_are_many() {
        let text = |known: &[&str]| EngineError::unknown("a", "no", known).to_string();
        assert_eq!(text(&["b", "c"]), "option `a` refused: no; known: b, c");
        assert_eq!(text(&["b", "a"]), "option `a` refused: no");
        let own_list = EngineError::unknown("a", "not an option; known: room", &["room"]);
        assert_eq!(own_list.to_string(), "option `a` refused: not an option; known: room");
        assert_eq!(text(&["b"; LISTED_MAX + 1]), "option `a` refused: no");
    }
}
