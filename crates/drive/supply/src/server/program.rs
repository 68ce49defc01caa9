//! The server program of an installation.

use std::path::{Path, PathBuf};

/// Directories of an installation that may have the server program.
///
/// The last is the installation itself, where MySQL's npm package has it.
pub(crate) const BIN_DIRS: [&str; 5] = ["bin", "sbin", "usr/sbin", "libexec", ""];

/// How the server program of an engine is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerProgram {
    /// The engine: `postgres`.
    pub engine: &'static str,
    /// Names of its program, the most likely first: `mariadbd`, `mysqld`.
    pub names: &'static [&'static str],
    /// Text its `--version` contains.
    pub version_contains: &'static str,
    /// Text its `--version` never contains.
    ///
    /// Excludes an engine whose program has the same name.
    pub version_excludes: Option<&'static str>,
}

/// Postgres.
///
/// Source: PostgreSQL documentation, `postgres`, option `--version`.
pub const POSTGRES: ServerProgram = ServerProgram {
    engine: "postgres",
    names: &["postgres"],
    version_contains: "postgres (",
    version_excludes: None,
};

/// MySQL and its forks, except MariaDB.
///
/// MariaDB's program had the same name until 10.5.
pub const MYSQL: ServerProgram = ServerProgram {
    engine: "mysql",
    names: &["mysqld"],
    version_contains: "Ver ",
    version_excludes: Some("MariaDB"),
};

/// MariaDB.
pub const MARIADB: ServerProgram = ServerProgram {
    engine: "mariadb",
    names: &["mariadbd", "mysqld"],
    version_contains: "MariaDB",
    version_excludes: None,
};

impl ServerProgram {
    /// Returns whether this is the version output of the engine's program.
    pub(crate) fn matches(&self, version: &str) -> bool {
        version.contains(self.version_contains)
            && !self.version_excludes.is_some_and(|other| version.contains(other))
    }

    /// Returns the program's path from the root of an installation, if present.
    pub(crate) fn find(&self, root: &Path) -> Option<PathBuf> {
        self.candidates().find(|place| root.join(place).is_file())
    }

    /// Returns every path the program may have.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let of_name = |name: &'static str| BIN_DIRS.map(|dir| Path::new(dir).join(name));
        self.names.iter().flat_map(move |name| of_name(name))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn first_program_name_wins_in_any_directory() {
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
    fn engines_sharing_a_program_name_differ_by_version_output() {
        let mariadb_version = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on \
                               x86_64";
        let mysql_version =
            "mysqld  Ver 5.7.22 for linux-glibc2.12 on x86_64 (MySQL Community Server (GPL))";
        assert!(MARIADB.matches(mariadb_version) && !MARIADB.matches(mysql_version));
        assert!(MYSQL.matches(mysql_version) && !MYSQL.matches(mariadb_version));
    }
}
