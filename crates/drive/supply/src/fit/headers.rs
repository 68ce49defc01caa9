//! An engine's own headers: where they are looked for, and which of them a shim needs.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::SupplyError;

/// Directories above a library's own below which `include` is looked for: a tree that was built
/// keeps libraries in `build/release/lib`.
const LEVELS: usize = 4;

/// Where the system keeps the headers of everything that is installed.
const SYSTEM: [&str; 2] = ["/usr/include", "/usr/local/include"];

/// Returns the directory from which `header` is included: the one given, or one near the library.
///
/// # Errors
/// The directories that were searched.
pub(crate) fn find(
    header: &str,
    given: Option<&Path>,
    library: &Path,
) -> Result<PathBuf, Vec<PathBuf>> {
    let places = match given {
        Some(dir) => vec![dir.to_owned(), dir.join("include")],
        None => near(library),
    };
    let found = places.iter().find(|dir| dir.join(header).is_file());
    match found.map(|dir| dir.canonicalize()) {
        Some(Ok(dir)) => Ok(dir),
        Some(Err(_)) | None => Err(places),
    }
}

/// Returns the directories in which the headers of a library may lie, nearest first.
fn near(library: &Path) -> Vec<PathBuf> {
    let library = library.canonicalize().unwrap_or_else(|_absent| library.to_owned());
    let dir = library.parent().unwrap_or(Path::new("/"));
    let mut places: Vec<_> =
        dir.ancestors().take(LEVELS).map(|above| above.join("include")).collect();
    places.push(dir.to_owned());
    places.push(PathBuf::from(SYSTEM[0]));
    let mut seen = Vec::new();
    places.retain(|place| {
        let is_new = !seen.contains(place);
        seen.push(place.clone());
        is_new
    });
    places
}

/// Copies those of the `needed` files that are the engine's from `include` to `kept`.
///
/// Below the system's own directories only what lies in the header's folder is the engine's.
pub(crate) fn keep(
    include: &Path,
    header: &str,
    needed: &[PathBuf],
    kept: &Path,
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
            let (from, to) = (include.join(path), kept.join(path));
            let dir = to.parent().unwrap_or(kept);
            fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
            fs::copy(&from, &to).map_err(SupplyError::io("copy", &from))?;
        }
    }
    Ok(())
}

/// Returns the files that a compiler's rule for `make` names, the source itself among them.
pub(crate) fn of_rule(rule: &str) -> Vec<PathBuf> {
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
    fn headers_are_found_beside_above_and_where_they_are_said_to_be() {
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
        let given = root.join("elsewhere");
        assert_eq!(find("it/it.h", Some(&given), &library).unwrap_err().len(), 2);
        fs::write(root.join("elsewhere/include/it/it.h"), "").unwrap();
        assert_eq!(find("it/it.h", Some(&given), &library), Ok(given.join("include")));
    }

    #[test]
    fn a_rule_for_make_names_files_over_many_lines() {
        let rule = "it.o: it.c /a/b.h \\\n /a\\ b/c.h \\\n  d.h\n";
        let found = of_rule(rule);
        assert_eq!(found, ["it.c", "/a/b.h", "/a b/c.h", "d.h"].map(PathBuf::from));
        assert!(of_rule("").is_empty());
    }

    #[test]
    fn of_the_system_s_headers_only_the_engine_s_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let needed = ["/usr/include/stdio.h", "/usr/include/features.h"].map(PathBuf::from);
        if !needed[0].is_file() {
            println!("skipped: no C headers here: apt install libc6-dev");
            return;
        }
        keep(Path::new("/usr/include"), "stdio.h", &needed, dir.path()).unwrap();
        let kept: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(kept, ["stdio.h"]);
    }
}
