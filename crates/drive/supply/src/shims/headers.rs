//! Search of an engine's headers.

use std::path::{Path, PathBuf};

/// Parent directories searched for `include`.
///
/// A build tree has its libraries in `build/release/lib`.
const LEVELS: usize = 4;

/// Header directory of the system.
const SYSTEM: &str = "/usr/include";

/// Returns the directory that has `header`: the given one, or one near the library.
///
/// # Errors
/// The directories that were searched.
pub(crate) fn find(
    header: &str,
    explicit: Option<&Path>,
    library: &Path,
) -> Result<PathBuf, Vec<PathBuf>> {
    let places = match explicit {
        Some(dir) => vec![dir.to_owned(), dir.join("include")],
        None => candidates(library),
    };
    let found = places.iter().find(|dir| dir.join(header).is_file());
    match found.map(|dir| dir.canonicalize()) {
        Some(Ok(dir)) => Ok(dir),
        Some(Err(_)) | None => Err(places),
    }
}

/// Returns the directories that may have a library's headers, nearest first.
fn candidates(library: &Path) -> Vec<PathBuf> {
    let library = library.canonicalize().unwrap_or_else(|_absent| library.to_owned());
    let dir = library.parent().unwrap_or(Path::new("/"));
    let mut places: Vec<_> =
        dir.ancestors().take(LEVELS).map(|above| above.join("include")).collect();
    for more in [dir, Path::new(SYSTEM)] {
        if !places.iter().any(|place| place == more) {
            places.push(more.to_owned());
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn headers_are_found_near_the_library_and_in_the_given_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let library = root.join("build/release/lib/libit.so");
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, "").unwrap();
        let searched = find("it/it.h", None, &library).unwrap_err();
        assert_eq!(searched[0], root.join("build/release/lib/include"));
        assert_eq!(searched.last().unwrap(), Path::new("/usr/include"));
        for include in ["include", "elsewhere/include", "build/release/lib"] {
            fs::create_dir_all(root.join(include).join("it")).unwrap();
        }
        fs::write(root.join("include/it/it.h"), "").unwrap();
        assert_eq!(find("it/it.h", None, &library), Ok(root.join("include")));
        let explicit = root.join("elsewhere");
        assert_eq!(find("it/it.h", Some(&explicit), &library).unwrap_err().len(), 2);
        fs::write(root.join("elsewhere/include/it/it.h"), "").unwrap();
        assert_eq!(find("it/it.h", Some(&explicit), &library), Ok(explicit.join("include")));
    }
}
