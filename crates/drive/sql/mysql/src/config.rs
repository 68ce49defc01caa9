//! The check of a foreign server's variables.

use std::collections::BTreeMap;

use driver_sql::server_options;
use engine::EngineError;
use engine::settings_check::refused;
use model::Options;
use model::units::parse_size;

use crate::kind::canonical;

/// Checks that a foreign server runs with the requested options.
///
/// # Errors
/// [`EngineError::Refused`] for an option it lacks or has set otherwise.
pub(crate) fn check_foreign(
    options: &Options,
    variables: &BTreeMap<String, String>,
) -> Result<(), EngineError> {
    for (name, requested) in server_options(options) {
        let Some(found) = variables.get(&canonical(name)) else {
            return Err(refused(
                name,
                "the server of the dsn has no variable of this name: remove the option",
            ));
        };
        if !is_same(found, requested) {
            let reason = format!(
                "the variant requests `{requested}`, and the server of the dsn runs with \
                 `{found}`: set the variable on the server, or remove the option"
            );
            return Err(refused(name, reason));
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
    use engine::OpenSpec;
    use model::sql::Protocol;
    use model::{Address, DataShape, Durability, Endpoint, Settings};

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
                login: model::LoginOptions::default(),
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
        assert!(error.contains("neither a build nor a dsn"), "{error}");
    }

    #[test]
    fn foreign_server_must_match_the_requested_options() {
        let variables: BTreeMap<String, String> =
            [("innodb_buffer_pool_size", "134217728"), ("autocommit", "ON")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        let check = |options: &[(&str, &str)]| {
            check_foreign(&options.iter().copied().collect(), &variables)
                .map_err(|error| error.to_string())
        };
        let same = [("innodb-buffer-pool-size", "128M"), ("autocommit", "1")];
        assert_eq!(check(&same), Ok(()));
        let other = check(&[("autocommit", "0")]).unwrap_err();
        assert!(other.contains("runs with `ON`: set the variable"), "{other}");
        let none = check(&[("autocomit", "0")]).unwrap_err();
        assert!(none.contains("has no variable of this name"), "{none}");
    }
}
