//! The servers this crate can obtain.

use super::ServerProgram;

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
