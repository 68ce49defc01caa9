//! Translates settings and options into SQLite pragmas.

use engine::settings_check::{check_names, check_settings, refused};
use engine::{OpenSpec, Result};
use model::{Capabilities, Durability, Options};

/// Pragmas that may be set by name, in order of application.
pub(crate) const PRAGMAS: [&str; 11] = [
    "busy_timeout",
    "page_size",
    "auto_vacuum",
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "temp_store",
    "wal_autocheckpoint",
    "journal_size_limit",
    "secure_delete",
];
/// The driver's option: the form of the table.
pub(crate) const TABLE: &str = "assay.table";
/// Wait of SQLite's busy handler before an operation fails, ms.
///
/// Our choice: longer than any checkpoint a client waits for, shorter than the watchdog.
const BUSY_TIMEOUT_MS: u32 = 10_000;

/// Forms of the table: an option's value, and the statement that creates it.
///
/// The first is one B-tree that holds the rows, best for rows below a quarter of a page; the other
/// a table by row id with an index on the key, best for large values.
pub(crate) const TABLES: [(&str, &str); 2] = [
    ("without_rowid", "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"),
    ("rowid", "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB)"),
];

/// Everything SQLite is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Pragmas and values, in order of application to each connection.
    pub(crate) pragmas: Options,
    /// Requested form of the table, if any, as in [`TABLES`].
    pub(crate) table: Option<String>,
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self> {
        check_settings("SQLite", can, &spec.settings)?;
        let known: Vec<_> = PRAGMAS.into_iter().chain([TABLE]).collect();
        check_names("SQLite", &known, &spec.options)?;
        let (journal_mode, synchronous) = match spec.settings.durability {
            Durability::None => ("off", "off"),
            Durability::Os => ("wal", "off"),
            Durability::Sync => ("wal", "full"),
        };
        let mut requested = Options::new();
        requested.set("busy_timeout", BUSY_TIMEOUT_MS.to_string());
        requested.set("journal_mode", journal_mode);
        requested.set("synchronous", synchronous);
        if let Some(bytes) = spec.settings.cache_bytes {
            // A negative `cache_size` is in KiB.
            requested.set("cache_size", format!("-{}", (bytes.0 / 1024).max(1)));
        }
        let table = spec.options.get(TABLE);
        if let Some(form) = table.filter(|form| TABLES.iter().all(|(known, _)| known != form)) {
            let reason = format!("`{form}` is neither without_rowid nor rowid");
            return Err(refused(TABLE, reason));
        }
        for (name, value) in spec.options.iter().filter(|(name, _)| *name != TABLE) {
            requested.set(name, pragma_value(name, value)?);
        }
        check_guarantee(spec.settings.durability, &requested)?;
        let pragmas =
            PRAGMAS.iter().filter_map(|&name| Some((name, requested.get(name)?))).collect();
        Ok(Self { pragmas, table: table.map(str::to_owned) })
    }

    /// Returns whether writes go to a WAL.
    pub(crate) fn has_wal(&self) -> bool {
        self.pragmas.get("journal_mode") == Some("wal")
    }
}

/// Parses a pragma's value, one word or number, in lower case.
fn pragma_value(name: &str, value: &str) -> Result<String> {
    let is_word = !value.is_empty()
        && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_word {
        Ok(value.to_ascii_lowercase())
    } else {
        Err(refused(name, format!("`{value}` is neither a word nor a number")))
    }
}

/// Refuses a pragma that breaks the guarantee of the durability class.
fn check_guarantee(class: Durability, requested: &Options) -> Result<()> {
    let value = |name: &str| requested.get(name).unwrap_or_default();
    // A deleted rollback journal that is back after a crash undoes a commit.
    let is_deleted = value("journal_mode").eq_ignore_ascii_case("delete");
    let levels: &[&str] = if is_deleted { &["3"] } else { &["2", "3"] };
    let broken = if class != Durability::None && ["off", "memory"].contains(&value("journal_mode"))
    {
        "journal_mode"
    } else if class == Durability::Sync
        && !levels.contains(&canonical("synchronous", value("synchronous")).as_str())
    {
        "synchronous"
    } else {
        return Ok(());
    };
    let reason = format!("`{}` breaks the guarantee of durability class `{class}`", value(broken));
    Err(refused(broken, reason))
}

/// Returns a pragma's value as SQLite reads it back.
pub(crate) fn canonical(name: &str, value: &str) -> String {
    let names: &[&[&str]] = match name {
        "synchronous" => &[&["off"], &["normal"], &["full"], &["extra"]],
        "auto_vacuum" => &[&["none"], &["full"], &["incremental"]],
        "temp_store" => &[&["default"], &["file"], &["memory"]],
        "secure_delete" => &[&["off", "false", "no"], &["on", "true", "yes"], &["fast"]],
        _ => &[],
    };
    let number = names.iter().position(|same| same.contains(&value));
    number.map_or_else(|| value.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    fn resolve(spec: &OpenSpec) -> Result<Config> {
        Config::resolve(spec, &crate::driver().capabilities())
    }

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::new(),
                Settings { durability, cache_bytes: Some(Bytes(64 << 20)), ..Settings::default() },
                DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
            )
        }
    }

    #[test]
    fn settings_become_pragmas_and_options_win() {
        let config = resolve(&spec(
            Durability::Os,
            &[("synchronous", "NORMAL"), ("page_size", "8192"), ("assay.table", "rowid")],
        ))
        .unwrap();
        let pragmas: Vec<_> = config.pragmas.iter().collect();
        assert_eq!(
            pragmas,
            [
                ("busy_timeout", "10000"),
                ("page_size", "8192"),
                ("journal_mode", "wal"),
                ("synchronous", "normal"),
                ("cache_size", "-65536"),
            ]
        );
        assert_eq!(config.table.as_deref(), Some("rowid"));
    }

    #[test]
    fn option_that_breaks_the_guarantee_of_the_class_is_refused() {
        for (class, name, value) in [
            (Durability::Sync, "synchronous", "normal"),
            (Durability::Sync, "journal_mode", "off"),
            (Durability::Os, "journal_mode", "memory"),
        ] {
            let error = resolve(&spec(class, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        assert!(resolve(&spec(Durability::None, &[("journal_mode", "delete")])).is_ok());
        let deleted = ("journal_mode", "delete");
        assert!(resolve(&spec(Durability::Sync, &[deleted])).is_err());
        assert!(resolve(&spec(Durability::Sync, &[deleted, ("synchronous", "extra")])).is_ok());
    }

    #[test]
    fn wrong_option_is_refused_by_name() {
        for (name, value) in [("cache_sise", "1"), ("page_size", "1; DROP"), (TABLE, "heap")] {
            let error = resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
