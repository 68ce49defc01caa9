//! Finds the installation of a server at, above or below a path.

use std::fs;
use std::path::{Path, PathBuf};

use super::program::{BIN_DIRS, ServerProgram};
use crate::error::{Result, SupplyError};
use crate::program::listed;

/// Levels below a directory at which installations are searched.
///
/// Eight are in a Python package: `lib/python3.11/site-packages/NAME/pginstall/bin/postgres`.
const LEVELS_MAX: usize = 8;
/// Directories searched at most. Our choice: less than a second on a busy disk.
const DIRS_MAX: usize = 20_000;

/// Returns the directory of the installation that `given` names, links followed.
///
/// `given` is that directory, the program, the directory of programs, or one above with a single
/// installation below it.
///
/// # Errors
/// When it cannot be read, or there is no installation or more than one.
pub(super) fn find(given: &Path, server: &ServerProgram) -> Result<PathBuf> {
    let path = given.canonicalize().map_err(SupplyError::io("read", given))?;
    if path.is_file() || is_bin(&path) {
        return above(&path, server).ok_or_else(|| {
            SupplyError::Unavailable(format!(
                "{} is not, and does not contain, the program of {}: give the directory in which \
                 the server is installed",
                given.display(),
                server.engine
            ))
        });
    }
    if server.find(&path).is_some() {
        return Ok(path);
    }
    let found = below(&path, server);
    match found.as_slice() {
        // The caller's error names the places of the program.
        [] => Ok(path),
        [one] => Ok(one.clone()),
        several => Err(SupplyError::Unavailable(format!(
            "{} installations of {} are below {}: name one of {}",
            several.len(),
            server.engine,
            given.display(),
            listed(several.iter().cloned())
        ))),
    }
}

/// Returns whether a directory has the name of one of programs.
fn is_bin(dir: &Path) -> bool {
    BIN_DIRS.iter().any(|bin| !bin.is_empty() && dir.ends_with(bin))
}

/// Returns the installation whose program is `path`, or lies in that directory.
fn above(path: &Path, server: &ServerProgram) -> Option<PathBuf> {
    let is_of = |root: &&Path| {
        let program = server.find(root).and_then(|program| root.join(program).canonicalize().ok());
        program.is_some_and(|program| program.starts_with(path))
    };
    path.ancestors().skip(1).filter(|dir| !is_bin(dir)).find(is_of).map(Path::to_owned)
}

/// Returns the installations below a directory, those of the fewest levels first.
///
/// Links are not followed, and what lies in an installation is not searched.
fn below(dir: &Path, server: &ServerProgram) -> Vec<PathBuf> {
    let (mut found, mut level, mut count) = (Vec::new(), vec![dir.to_owned()], 0);
    for _ in 0..LEVELS_MAX {
        let mut next = Vec::new();
        for dir in level {
            let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
            let dirs = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
            let (ours, others): (Vec<_>, Vec<_>) =
                dirs.map(|it| it.path()).partition(|dir| server.find(dir).is_some());
            found.extend(ours);
            count += others.len();
            next.extend(others);
        }
        if count > DIRS_MAX {
            break;
        }
        level = next;
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::server::{MARIADB, MYSQL, POSTGRES};

    fn tree(programs: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for program in programs {
            let path = dir.path().join(program);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    fn found(dir: &Path, given: &str, server: &ServerProgram) -> String {
        let root = dir.canonicalize().unwrap();
        let found = find(&dir.join(given), server).unwrap();
        found.strip_prefix(root).unwrap().display().to_string()
    }

    #[test]
    fn program_and_directories_around_it_name_an_installation() {
        let dir = tree(&["usr/lib/postgresql/15/bin/postgres", "usr/sbin/mariadbd", "n/s/mysqld"]);
        symlink("mariadbd", dir.path().join("usr/sbin/mysqld")).unwrap();
        let postgres = "usr/lib/postgresql/15";
        for (given, server, expected) in [
            ("", &POSTGRES, postgres),
            ("usr/lib/postgresql", &POSTGRES, postgres),
            (postgres, &POSTGRES, postgres),
            ("usr/lib/postgresql/15/bin", &POSTGRES, postgres),
            ("usr/lib/postgresql/15/bin/postgres", &POSTGRES, postgres),
            ("usr", &MARIADB, "usr"),
            ("usr/sbin", &MARIADB, "usr"),
            ("usr/sbin/mysqld", &MARIADB, "usr"),
            ("usr/sbin/mysqld", &MYSQL, "usr"),
            ("n/s/mysqld", &MYSQL, "n/s"),
            ("n", &MYSQL, "n/s"),
            ("usr/lib", &MARIADB, "usr/lib"),
        ] {
            assert_eq!(found(dir.path(), given, server), expected, "{given} {}", server.engine);
        }
    }

    #[test]
    fn several_installations_are_named() {
        let dir = tree(&["pg/15/bin/postgres", "pg/16/bin/postgres"]);
        let error = find(&dir.path().join("pg"), &POSTGRES).unwrap_err().to_string();
        assert!(error.starts_with("2 installations of postgres are below "), "{error}");
        assert!(error.contains("/pg/15, ") && error.ends_with("/pg/16"), "{error}");
        assert!(find(&dir.path().join("none"), &POSTGRES).is_err());
    }
}
