//! Dialects of SQL, and values per dialect.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// The SQL a server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Postgres and compatible servers.
    Postgres,
    /// MySQL, MariaDB and compatible servers.
    Mysql,
}

names!(Dialect, "a dialect": Postgres "postgres", Mysql "mysql");

impl Dialect {
    /// Returns the dialect of a server; `None` for other engines.
    pub fn of_engine(engine: &str) -> Option<Self> {
        match engine {
            "postgres" => Some(Self::Postgres),
            "mysql" | "mariadb" => Some(Self::Mysql),
            _ => None,
        }
    }
}

/// A value per dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerDialect<T> {
    /// For Postgres.
    pub postgres: T,
    /// For MySQL and MariaDB.
    pub mysql: T,
}

impl<T> PerDialect<Vec<T>> {
    /// Iterates over the values of both dialects.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.postgres.iter().chain(&self.mysql)
    }
}

impl<T> PerDialect<T> {
    /// Returns the value for `dialect`.
    pub const fn by(&self, dialect: Dialect) -> &T {
        match dialect {
            Dialect::Postgres => &self.postgres,
            Dialect::Mysql => &self.mysql,
        }
    }
}
