//! One request to Maven, and its errors.

use model::BuildRef;

use crate::error::SupplyError;
use crate::release::nearest;

/// The goal that copies one artifact; its version is pinned, the default one is of 2013.
pub(super) const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// One request to Maven.
pub(super) struct Request<'a> {
    /// The requested build.
    pub(super) build: &'a BuildRef,
    /// Coordinates of the artifact.
    pub(super) artifact: &'a str,
    /// Versions known to exist, oldest first.
    pub(super) known: &'static [&'static str],
    /// What the user may give instead, with the command: a library or an installation.
    pub(super) own: String,
}

impl Request<'_> {
    /// Returns whether an error line is about the artifact, and not about a part of Maven.
    pub(super) fn names_artifact(&self, line: &str) -> bool {
        self.artifact.split(':').nth(1).is_some_and(|name| line.contains(name))
    }

    /// Returns the error for a version that was never published.
    pub(super) fn unpublished(&self) -> SupplyError {
        let version = self.build.version.as_deref().unwrap_or_default();
        let nearest = nearest(version, self.known);
        SupplyError::NoSuchVersion {
            build: self.build.to_string(),
            nearest: format!("{}@{nearest}", self.build.engine),
        }
    }

    /// Returns the error for a failure of Maven's own.
    pub(super) fn failed(&self, summary: String) -> SupplyError {
        SupplyError::MavenFailed {
            build: self.build.to_string(),
            summary,
            goal: GOAL,
            artifact: self.artifact.to_owned(),
        }
    }
}
