//! Which program of an installation is the server.

use std::path::{Path, PathBuf};

/// The directories of an installation in which server programs lie.
const BIN_DIRS: [&str; 4] = ["bin", "sbin", "usr/sbin", "libexec"];

/// What the store is told of an engine whose builds are servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerProgram {
    /// The engine: `postgres`.
    pub engine: &'static str,
    /// Names of its program, the likeliest first: `mariadbd`, `mysqld`.
    pub names: &'static [&'static str],
    /// What its `--version` contains.
    pub says: &'static str,
    /// What its `--version` never contains: the mark of an engine whose program has the same name.
    pub never_says: Option<&'static str>,
}

impl ServerProgram {
    /// Returns whether this is what the program of the engine says of itself.
    pub(crate) fn is_said_by(&self, version: &str) -> bool {
        version.contains(self.says) && !self.never_says.is_some_and(|other| version.contains(other))
    }

    /// Returns the program's place in an installation, from its root; `None` when it has none.
    pub(crate) fn find(&self, root: &Path) -> Option<PathBuf> {
        self.candidates().find(|place| root.join(place).is_file())
    }

    /// Returns every place at which the program may lie.
    fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let of_name = |name: &'static str| BIN_DIRS.map(|dir| Path::new(dir).join(name));
        self.names.iter().flat_map(move |name| of_name(name))
    }
}

/// Returns where a server's program is searched, in words: `bin/postgres, sbin/postgres`.
pub(crate) fn places(server: &ServerProgram) -> String {
    let places: Vec<_> = server.candidates().map(|place| place.display().to_string()).collect();
    places.join(", ")
}

/// Returns whether there is a program of the server below `root`.
pub(crate) fn has_program(server: &ServerProgram, root: &Path) -> bool {
    server.find(root).is_some()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MARIADB: ServerProgram = ServerProgram {
        engine: "mariadb",
        names: &["mariadbd", "mysqld"],
        says: "MariaDB",
        never_says: None,
    };

    #[test]
    fn the_likeliest_name_is_taken_wherever_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(MARIADB.find(dir.path()), None);
        for place in ["bin", "usr/sbin"] {
            fs::create_dir_all(dir.path().join(place)).unwrap();
        }
        fs::write(dir.path().join("bin/mysqld"), "").unwrap();
        assert_eq!(MARIADB.find(dir.path()), Some("bin/mysqld".into()));
        fs::write(dir.path().join("usr/sbin/mariadbd"), "").unwrap();
        assert_eq!(MARIADB.find(dir.path()), Some("usr/sbin/mariadbd".into()));
    }

    #[test]
    fn two_engines_with_one_program_name_are_told_apart_by_what_it_says() {
        let mysql = ServerProgram {
            engine: "mysql",
            names: &["mysqld"],
            says: "Ver ",
            never_says: Some("MariaDB"),
        };
        let theirs = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        let ours =
            "mysqld  Ver 5.7.22 for linux-glibc2.12 on x86_64 (MySQL Community Server (GPL))";
        assert!(MARIADB.is_said_by(theirs) && !MARIADB.is_said_by(ours));
        assert!(mysql.is_said_by(ours) && !mysql.is_said_by(theirs));
    }
}
