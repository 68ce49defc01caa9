//! Finds an allocator's library and builds `LD_PRELOAD`.

use std::path::{Path, PathBuf};

use model::Allocator;

use crate::error::MallocError;

/// The allocators that are preloaded: their files, of which the first that is there wins, and
/// Debian's packages of them.
///
/// Source: the packages of Debian 12. The minimal tcmalloc lacks only its profilers.
const FILES: &[(Allocator, &[&str], &str)] = &[
    (Allocator::Jemalloc, &["libjemalloc.so.2"], "libjemalloc2"),
    (
        Allocator::Tcmalloc,
        &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
        "libtcmalloc-minimal4",
    ),
    (
        Allocator::Mimalloc,
        &["libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3"],
        "libmimalloc2.0",
    ),
];

/// Search path for allocator libraries, and the user's own preloads.
#[derive(Debug, Clone, Default)]
pub struct Libraries {
    dirs: Vec<PathBuf>,
    preloaded: Option<String>,
}

impl Libraries {
    /// Returns a search of `dirs` alone; the first match wins.
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self { dirs, preloaded: None }
    }

    /// Returns a search of the loader's path.
    ///
    /// `library_path` and `preload` are the user's `LD_LIBRARY_PATH` and `LD_PRELOAD`. What the
    /// user preloads stays, before the allocator; [`crate::Heap::expect`] detects an allocator
    /// among it.
    ///
    /// Source: ld.so(8), "LD_LIBRARY_PATH", "LD_PRELOAD".
    pub fn of_loader(library_path: Option<&str>, preload: Option<&str>) -> Self {
        let named = library_path.unwrap_or_default().split([':', ';']);
        let named = named.filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let usual = [&triplet, "/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from);
        let preloaded = preload.filter(|preload| !preload.trim().is_empty()).map(str::to_owned);
        Self { dirs: named.chain(usual).collect(), preloaded }
    }

    /// Returns an allocator's library, links resolved; `None` for the system's own.
    ///
    /// # Errors
    /// [`MallocError::NotInstalled`] when there is none.
    pub fn find(&self, allocator: Allocator) -> Result<Option<PathBuf>, MallocError> {
        let Some((_, names, package)) = FILES.iter().find(|(known, ..)| *known == allocator) else {
            return Ok(None);
        };
        let in_dir = |dir: &PathBuf| {
            let mut paths = names.iter().map(|name| dir.join(name));
            paths.find_map(|path| path.canonicalize().ok().filter(|path| path.to_str().is_some()))
        };
        self.dirs.iter().find_map(in_dir).map(Some).ok_or_else(|| {
            let dirs: Vec<_> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
            MallocError::NotInstalled(allocator, names[0], package, dirs.join(", "))
        })
    }

    /// Returns `LD_PRELOAD` with a library after the user's preloads.
    pub fn preload(&self, library: &Path) -> String {
        let library = library.display();
        match &self.preloaded {
            Some(before) => format!("{before}:{library}"),
            None => library.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_directory_that_has_the_library_wins_and_its_link_is_followed() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (dir, name) in [(&one, "libmimalloc.so.2.0"), (&two, "libmimalloc.so.2")] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("libmimalloc.so.2.0", one.path().join("libmimalloc.so.2"))
            .unwrap();
        let libraries = Libraries::new([&one, &two].map(|dir| dir.path().to_owned()).into());
        let found = libraries.find(Allocator::Mimalloc).unwrap().unwrap();
        assert!(found.ends_with("libmimalloc.so.2.0"), "{}", found.display());
        assert_eq!(libraries.find(Allocator::System), Ok(None));
    }

    #[test]
    fn a_missing_allocator_is_reported_with_its_package() {
        let dir = tempfile::tempdir().unwrap();
        let libraries = Libraries::new(vec![dir.path().to_owned()]);
        let error = libraries.find(Allocator::Tcmalloc).unwrap_err();
        let message = format!("{error}; {}", error.remedy());
        let expected = format!(
            "tcmalloc is not installed: no libtcmalloc_minimal.so.4 in {}; install the allocator \
             (Debian: apt install libtcmalloc-minimal4), or name the directory of its library in \
             LD_LIBRARY_PATH",
            dir.path().display()
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn the_users_preloads_and_directories_come_first() {
        let library = Path::new("/lib/a.so");
        assert_eq!(Libraries::of_loader(None, Some(" ")).preload(library), "/lib/a.so");
        let libraries = Libraries::of_loader(Some("/x::/y"), Some("/lib/trace.so"));
        assert_eq!(libraries.preload(library), "/lib/trace.so:/lib/a.so");
        assert_eq!(libraries.dirs[..2], ["/x", "/y"].map(PathBuf::from));
        assert!(libraries.dirs.len() > 2);
    }
}
