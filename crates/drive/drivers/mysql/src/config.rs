//! The check of a foreign server's variables.

use std::collections::BTreeMap;

use driver_sql::server_options;
use engine::settings_check::refused;
use engine::{EngineError, OpenSpec, Setting};
use model::Durability;
use model::units::parse_size;

use crate::kind::canonical;

/// Checks that a foreign server runs with the requested options.
///
/// # Errors
/// [`EngineError::Refused`] for an option it lacks or has set otherwise, and when it is weaker than
/// the durability class.
pub(crate) fn check_foreign(
    spec: &OpenSpec,
    variables: &BTreeMap<String, String>,
) -> Result<(), EngineError> {
    for (name, requested) in server_options(&spec.options) {
        let Some(found) = variables.get(&canonical(name)) else {
            return Err(refused(name, "the server of the dsn has no such variable"));
        };
        if !is_same(found, requested) {
            let reason = format!(
                "`{requested}` is requested, the server of the dsn runs with `{found}`: set it \
                 there"
            );
            return Err(refused(name, reason));
        }
    }
    let class = spec.settings.durability;
    let is_rocksdb = variables
        .get("default_storage_engine")
        .is_some_and(|engine| engine.eq_ignore_ascii_case("rocksdb"));
    let engine = if is_rocksdb { "rocksdb" } else { "innodb" };
    let mut wanted = vec![(format!("{engine}_flush_log_at_trx_commit"), class)];
    if variables.get("log_bin").is_some_and(|value| value == "ON") && class == Durability::Sync {
        wanted.push(("sync_binlog".to_owned(), class));
    }
    if is_rocksdb && class == Durability::Os {
        wanted.push(("rocksdb_manual_wal_flush".to_owned(), class));
    }
    for (name, class) in wanted {
        let Some(found) = variables.get(&name) else { continue };
        let is_satisfied = match class {
            Durability::None => true,
            // `rocksdb_manual_wal_flush=ON` leaves the log in the process.
            Durability::Os => found != "0" && found != "ON",
            Durability::Sync => found == "1",
        };
        if !is_satisfied {
            let reason = format!(
                "durability `{class}`: the server of the dsn runs with {name}={found}: set it \
                 there, or use a weaker class"
            );
            return Err(EngineError::setting(Setting::Durability, reason));
        }
    }
    Ok(())
}

/// Compares two values of a variable: `1G` equals its bytes, `ON` equals `1`.
fn is_same(found: &str, requested: &str) -> bool {
    let plain = |value: &str| {
        let value = value.to_ascii_lowercase();
        match value.as_str() {
            "on" | "true" | "yes" => "1".to_owned(),
            "off" | "false" | "no" => "0".to_owned(),
            _ => match value.strip_suffix(['k', 'm', 'g']) {
                Some(number) if number.parse::<u64>().is_ok() => {
                    let size = parse_size(&format!("{value}ib").to_uppercase().replace("IB", "iB"));
                    size.map_or(value, |bytes| bytes.0.to_string())
                }
                _ => value,
            },
        }
    };
    plain(found) == plain(requested) || (requested.is_empty() && plain(found) == "1")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use driver_sql::Config;
    use model::sql::Protocol;
    use model::{Address, DataShape, Endpoint, Options, Settings};

    use super::*;

    fn spec(options: &[(&str, &str)], durability: Durability) -> OpenSpec {
        let data = DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 };
        let settings = Settings { durability, ..Settings::default() };
        OpenSpec {
            options: options.iter().copied().collect::<Options>(),
            endpoint: Some(Endpoint {
                address: Address::Socket(PathBuf::from("/s")),
                user: "root".to_owned(),
                password: None,
                database: "assay".to_owned(),
                is_foreign: true,
            }),
            ..OpenSpec::embedded(PathBuf::from("/d"), settings, data)
        }
    }

    #[test]
    fn own_options_are_parsed_and_server_options_ignored() {
        let resolve = |options: &[(&str, &str)]| {
            let config = Config::resolve("mysql", &spec(options, Durability::Os), ())?;
            Ok::<_, EngineError>(config.own.protocol)
        };
        let text = [("assay.protocol", "text"), ("sql_mode", "")];
        assert_eq!(resolve(&text), Ok(Some(Protocol::Text)));
        assert_eq!(resolve(&[]), Ok(None));
        assert_eq!(resolve(&[("assay.protocol", "prepared")]), Ok(Some(Protocol::Prepared)));
        for (name, value) in [
            ("assay.protocol", "binary"),
            ("assay.protocl", "text"),
            ("assay.transport", "udp"),
            // The dsn states it.
            ("assay.transport", "tcp"),
        ] {
            let error = resolve(&[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        let without = OpenSpec { endpoint: None, ..spec(&[], Durability::Os) };
        let error = Config::resolve("mariadb", &without, ()).unwrap_err().to_string();
        assert_eq!(error, "mariadb is a server: it needs a build or a dsn");
    }

    #[test]
    fn foreign_server_must_match_the_requested_options() {
        let mut variables: BTreeMap<String, String> = [
            ("innodb_buffer_pool_size", "134217728"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("log_bin", "OFF"),
            ("autocommit", "ON"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let check = |options: &[(&str, &str)], class, variables: &BTreeMap<_, _>| {
            check_foreign(&spec(options, class), variables).map_err(|error| error.to_string())
        };
        let same = [("innodb-buffer-pool-size", "128M"), ("autocommit", "1")];
        assert_eq!(check(&same, Durability::Os, &variables), Ok(()));
        let other = check(&[("autocommit", "0")], Durability::Os, &variables).unwrap_err();
        assert!(other.contains("runs with `ON`: set it there"), "{other}");
        let none = check(&[("autocomit", "0")], Durability::Os, &variables).unwrap_err();
        assert!(none.contains("no such variable"), "{none}");
        let sync = check(&[], Durability::Sync, &variables).unwrap_err();
        assert!(sync.contains("innodb_flush_log_at_trx_commit=2"), "{sync}");
        variables.insert("innodb_flush_log_at_trx_commit".to_owned(), "1".to_owned());
        assert_eq!(check(&[], Durability::Sync, &variables), Ok(()));
        variables.insert("log_bin".to_owned(), "ON".to_owned());
        variables.insert("sync_binlog".to_owned(), "0".to_owned());
        assert!(check(&[], Durability::Sync, &variables).unwrap_err().contains("sync_binlog=0"));
        for (name, value) in [
            ("default_storage_engine", "ROCKSDB"),
            ("rocksdb_flush_log_at_trx_commit", "2"),
            ("rocksdb_manual_wal_flush", "ON"),
        ] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        let os = check(&[], Durability::Os, &variables).unwrap_err();
        assert!(os.contains("rocksdb_manual_wal_flush=ON"), "{os}");
    }
}
