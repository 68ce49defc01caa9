//! The sources, in order of precedence.

use super::{Debian, Distribution, Installed, Maven, MavenServers, Npm, Source};

/// Returns every source, in order of precedence.
pub(crate) fn registry() -> Vec<Box<dyn Source>> {
    vec![
        Box::new(Distribution::default()),
        Box::new(Installed::default()),
        Box::new(Maven::default()),
        Box::new(MavenServers::default()),
        Box::new(Npm::default()),
        Box::new(Debian),
    ]
}
