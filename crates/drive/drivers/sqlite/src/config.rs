//! What SQLite is opened with: settings translated, then the pragmas the user names.

use engine::settings_check::{check_names, check_settings, refused};
use engine::{EngineError, OpenSpec};
use model::{Capabilities, Durability, Options};

/// Pragmas that may be set by name, in the order in which they must be applied.
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
/// Our own option: the form of the table.
pub(crate) const TABLE: &str = "assay.table";
/// How long SQLite's busy handler waits before an operation fails, ms: longer than any checkpoint
/// a client may have to wait for, shorter than the watchdog.
const BUSY_TIMEOUT_MS: u32 = 10_000;

/// The form of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// One B-tree with the rows in it: best while a row is below a quarter of a page.
    WithoutRowid,
    /// A table by row number and an index from key to row number: best for large values.
    Rowid,
}

impl Table {
    /// Returns the form's name as an option's value.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::WithoutRowid => "without_rowid",
            Self::Rowid => "rowid",
        }
    }

    /// Returns the statement that creates the table.
    pub(crate) const fn statement(self) -> &'static str {
        match self {
            Self::WithoutRowid => "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
            Self::Rowid => "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB)",
        }
    }
}

/// Everything SQLite is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Pragmas and their values, in the order in which they are applied to each connection.
    pub(crate) pragmas: Options,
    /// Form of the table, when the user asked for one.
    pub(crate) table: Option<Table>,
}

impl Config {
    /// Returns the configuration that `spec` asks for.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self, EngineError> {
        check_settings("SQLite", can, &spec.settings)?;
        let known: Vec<_> = PRAGMAS.into_iter().chain([TABLE]).collect();
        check_names("SQLite", &known, &spec.options)?;
        let (journal_mode, synchronous) = match spec.settings.durability {
            Durability::None => ("off", "off"),
            Durability::Os => ("wal", "off"),
            Durability::Sync => ("wal", "full"),
        };
        let mut asked = Options::new();
        asked.set("busy_timeout", BUSY_TIMEOUT_MS.to_string());
        asked.set("journal_mode", journal_mode);
        asked.set("synchronous", synchronous);
        if let Some(bytes) = spec.settings.cache_bytes {
            // A negative `cache_size` is in KiB.
            asked.set("cache_size", format!("-{}", (bytes.0 / 1024).max(1)));
        }
        let mut table = None;
        for (name, value) in spec.options.iter() {
            if name == TABLE {
                table = Some(parse_table(value)?);
            } else {
                asked.set(name, word(name, value)?);
            }
        }
        refuse_broken_promise(spec.settings.durability, &asked)?;
        let pragmas = PRAGMAS.iter().filter_map(|&name| Some((name, asked.get(name)?))).collect();
        Ok(Self { pragmas, table })
    }

    /// Returns whether writes go to a WAL.
    pub(crate) fn has_wal(&self) -> bool {
        self.pragmas.get("journal_mode") == Some("wal")
    }
}

/// Returns a pragma's value in lower case when it is one word or number.
fn word(name: &str, value: &str) -> Result<String, EngineError> {
    let is_word = !value.is_empty()
        && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_word {
        Ok(value.to_ascii_lowercase())
    } else {
        Err(refused(name, format!("`{value}` is neither a word nor a number")))
    }
}

fn parse_table(value: &str) -> Result<Table, EngineError> {
    [Table::WithoutRowid, Table::Rowid]
        .into_iter()
        .find(|table| table.name() == value)
        .ok_or_else(|| refused(TABLE, format!("`{value}` is neither without_rowid nor rowid")))
}

/// Refuses a pragma that would make the durability class a false promise.
fn refuse_broken_promise(class: Durability, asked: &Options) -> Result<(), EngineError> {
    let is_one_of = |name: &str, values: &[&str]| {
        asked.get(name).is_some_and(|value| values.contains(&canonical(name, value).as_str()))
    };
    let broken = match class {
        Durability::None => None,
        Durability::Os | Durability::Sync if is_one_of("journal_mode", &["off", "memory"]) => {
            Some("journal_mode")
        }
        Durability::Sync if !is_one_of("synchronous", &["2", "3"]) => Some("synchronous"),
        Durability::Os | Durability::Sync => None,
    };
    broken.map_or(Ok(()), |name| {
        let value = asked.get(name).unwrap_or_default();
        Err(refused(name, format!("`{value}` breaks the promise of durability class `{class}`")))
    })
}

/// Returns a pragma's value as SQLite gives it back.
pub(crate) fn canonical(name: &str, value: &str) -> String {
    let words: &[&[&str]] = match name {
        "synchronous" => &[&["off"], &["normal"], &["full"], &["extra"]],
        "auto_vacuum" => &[&["none"], &["full"], &["incremental"]],
        "temp_store" => &[&["default"], &["file"], &["memory"]],
        "secure_delete" => &[&["off", "false", "no"], &["on", "true", "yes"], &["fast"]],
        _ => &[],
    };
    let number = words.iter().position(|same| same.contains(&value));
    number.map_or_else(|| value.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    fn resolve(spec: &OpenSpec) -> Result<Config, EngineError> {
        Config::resolve(spec, &crate::driver().capabilities())
    }

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            endpoint: None,
            application: None,
            dir: PathBuf::new(),
            settings: Settings {
                durability,
                cache_bytes: Some(Bytes(64 << 20)),
                ..Settings::default()
            },
            options: options.iter().copied().collect(),
            data: DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
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
        assert_eq!(config.table, Some(Table::Rowid));
    }

    #[test]
    fn an_option_that_breaks_the_promise_of_the_class_is_refused() {
        for (class, name, value) in [
            (Durability::Sync, "synchronous", "normal"),
            (Durability::Sync, "journal_mode", "off"),
            (Durability::Os, "journal_mode", "memory"),
        ] {
            let error = resolve(&spec(class, &[(name, value)])).unwrap_err();
            assert!(matches!(&error, EngineError::Option { option, .. } if option == name));
        }
        assert!(resolve(&spec(Durability::None, &[("journal_mode", "delete")])).is_ok());
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        for (name, value) in [("cache_sise", "1"), ("page_size", "1; DROP"), (TABLE, "heap")] {
            let error = resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert!(matches!(&error, EngineError::Option { option, .. } if option == name));
        }
    }
}
