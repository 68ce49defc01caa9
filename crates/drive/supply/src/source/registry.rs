//! The sources, in order of precedence.

use super::{Debian, Distribution, Maven, Npm, Source};

/// Returns every source, in order of precedence.
pub(crate) fn registry() -> Vec<Box<dyn Source>> {
    vec![
        Box::new(Distribution::default()),
        Box::new(Maven::default()),
        Box::new(Npm::default()),
        Box::new(Debian),
    ]
}
