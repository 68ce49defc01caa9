//! The servers that sources of this crate have.

use super::ServerProgram;

/// Postgres.
///
/// Source: PostgreSQL documentation, `postgres`, option `--version`.
pub const POSTGRES: ServerProgram = ServerProgram {
    engine: "postgres",
    names: &["postgres"],
    says: "postgres (",
    never_says: None,
};

/// MySQL, and what is made of its source; until 10.5 MariaDB's program had the same name.
pub const MYSQL: ServerProgram = ServerProgram {
    engine: "mysql",
    names: &["mysqld"],
    says: "Ver ",
    never_says: Some("MariaDB"),
};

/// MariaDB.
pub const MARIADB: ServerProgram = ServerProgram {
    engine: "mariadb",
    names: &["mariadbd", "mysqld"],
    says: "MariaDB",
    never_says: None,
};
