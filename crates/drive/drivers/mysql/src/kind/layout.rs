//! Directory layout of an unpacked server, found from its program.

use std::path::{Path, PathBuf};

/// The directories of an unpacked server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Parent of `bin` or `sbin`.
    pub(super) base: PathBuf,
    /// Messages, character sets and scripts.
    pub(super) share: PathBuf,
    /// Engines and other plugins, when there are any.
    pub(super) plugins: Option<PathBuf>,
    /// Bundled libraries, when the program does not find them itself.
    pub(super) libraries: Option<PathBuf>,
}

impl Layout {
    /// Returns the layout around `program`.
    pub(super) fn around(program: &Path) -> Self {
        let base = program.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned();
        let first =
            |names: &[&str]| names.iter().map(|name| base.join(name)).find(|path| path.is_dir());
        let triplet = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
        Self {
            share: first(&["share/mysql", "share"]).unwrap_or_else(|| base.join("share")),
            plugins: first(&["lib/mysql/plugin", "lib/plugin"]),
            // An installed server finds its libraries itself.
            libraries: first(&[&triplet]).filter(|_| base != Path::new("/usr")),
            base,
        }
    }

    /// Returns the environment that the program needs.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let path = self.libraries.iter().map(|path| path.display().to_string());
        path.map(|path| ("LD_LIBRARY_PATH".to_owned(), path)).collect()
    }
}
