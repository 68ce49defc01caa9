//! Mimalloc statistics: committed bytes.
//!
//! Source: mimalloc 2.0.9, `mimalloc.h`, `mi_process_info`; its `current_rss` is an estimate from
//! the committed bytes on Linux, and is not taken.

use model::{Readings, metric};

use crate::ffi::{MimallocApi, Scope};
use crate::source::Source;

/// mimalloc as it serves this process.
pub(crate) struct Mimalloc(MimallocApi);

impl Mimalloc {
    /// Binds its functions; `None` when one is absent.
    pub(crate) fn bind(scope: &Scope) -> Option<Box<dyn Source>> {
        MimallocApi::bind(scope).map(|api| -> Box<dyn Source> { Box::new(Self(api)) })
    }
}

impl Source for Mimalloc {
    /// Returns its number with dots between the digits: 209 is 2.0.9.
    fn version(&self) -> String {
        let digits: Vec<String> = self.0.version().to_string().chars().map(String::from).collect();
        digits.join(".")
    }

    fn readings(&self) -> Readings {
        Readings::from([(metric::MALLOC_MAPPED_BYTES, self.0.committed())])
    }

    fn text(&self) -> Option<String> {
        self.0.report()
    }
}
