//! Search and copy of an engine's headers.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::SupplyError;

/// Parent directories searched for `include`.
///
/// A build tree has its libraries in `build/release/lib`.
const LEVELS: usize = 4;

/// Header directories of the system.
const SYSTEM: [&str; 2] = ["/usr/include", "/usr/local/include"];

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
    for more in [dir, Path::new(SYSTEM[0])] {
        if !places.iter().any(|place| place == more) {
            places.push(more.to_owned());
        }
    }
    places
}

/// Copies the engine's headers among `needed` from `include` to `copied`.
///
/// In system directories only the header's own folder is the engine's.
pub(crate) fn copy_headers(
    include: &Path,
    header: &str,
    needed: &[PathBuf],
    copied: &Path,
) -> Result<(), SupplyError> {
    let folder = Path::new(header).parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_system = SYSTEM.iter().any(|system| Path::new(system) == include);
    let below = needed.iter().filter_map(|path| path.strip_prefix(include).ok());
    for path in below {
        let is_own = Path::new(header) == path
            || !is_system
            || folder.is_some_and(|folder| path.starts_with(folder));
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if is_own && is_plain {
            let (from, to) = (include.join(path), copied.join(path));
            let dir = to.parent().unwrap_or(copied);
            fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
            fs::copy(&from, &to).map_err(SupplyError::io("copy", &from))?;
        }
    }
    Ok(())
}

/// Parses the files of a compiler's `make` rule, the source included.
pub(crate) fn parse_make_rule(rule: &str) -> Vec<PathBuf> {
    let (_, files) = rule.split_once(": ").unwrap_or_default();
    let mut found = vec![String::new()];
    let mut letters = files.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = found.len() - 1;
        match letter {
            // A blank of a name is escaped, as is the end of a line.
            '\\' if letters.peek() == Some(&' ') => found[last].extend(letters.next()),
            '\\' if letters.peek() == Some(&'\n') => drop(letters.next()),
            letter if letter.is_whitespace() => found.push(String::new()),
            letter => found[last].push(letter),
        }
    }
    found.retain(|name| !name.is_empty());
    found.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn make_rule_over_many_lines_is_parsed() {
        let rule = "it.o: it.c /a/b.h \\\n /a\\ b/c.h \\\n  d.h\n";
        let found = parse_make_rule(rule);
        assert_eq!(found, ["it.c", "/a/b.h", "/a b/c.h", "d.h"].map(PathBuf::from));
        assert!(parse_make_rule("").is_empty());
    }

    #[test]
    fn only_engine_headers_are_copied_from_system_directories() {
        let dir = tempfile::tempdir().unwrap();
        let needed = ["/usr/include/stdio.h", "/usr/include/features.h"].map(PathBuf::from);
        if !needed[0].is_file() {
            println!("skipped: no C headers here: apt install libc6-dev");
            return;
        }
        copy_headers(Path::new("/usr/include"), "stdio.h", &needed, dir.path()).unwrap();
        let copied: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(copied, ["stdio.h"]);
    }
}
