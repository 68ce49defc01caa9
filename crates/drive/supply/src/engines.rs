//! What the store is told of engines, for it knows none.

use std::path::Path;

use shim::Recipe;

/// Why a library is not what it claims to be, or does not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disproof {
    /// It was not loaded, in the words of its driver.
    NotLoaded(String),
    /// It ended its process, or hung: "it died of signal 11 (SEGV)".
    Died(String),
    /// It answers wrongly, or refuses what it must do.
    Wrong(String),
}

/// Tries the library of an engine at a path, in a process of its own.
pub type Prove = Box<dyn Fn(&str, &Path) -> Result<(), Disproof> + Send + Sync>;

/// What the store must know of engines.
pub struct Engines {
    /// Returns how an engine's shim is compiled; `None` for one that needs none.
    pub recipe: fn(&str) -> Option<Recipe>,
    /// Command of the C compiler.
    pub compiler: String,
    /// Tries a library before it is kept.
    pub prove: Prove,
}

impl Default for Engines {
    /// Knows no engine: nothing is compiled and nothing is tried.
    fn default() -> Self {
        Self { recipe: |_| None, compiler: "cc".to_owned(), prove: Box::new(|_, _| Ok(())) }
    }
}
