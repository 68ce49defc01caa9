//! Checks settings against capabilities and parses option values.
//!
//! Shared, so that every driver reports a missing capability with the same message.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use model::units::parse_size;
use model::{Capabilities, Durability, DurabilityRecord, Options, Setting, Settings};

use crate::error::{EngineError, Result};
use crate::refusal::Refusal;

/// Checks that `engine` supports the `settings`.
///
/// # Errors
/// [`Refusal::Setting`] with the reason.
pub fn check_settings(
    engine: &str,
    capabilities: &Capabilities,
    settings: &Settings,
) -> Result<()> {
    let class = settings.durability;
    if !capabilities.durability.contains(&class) {
        let offered: Vec<_> = capabilities.durability.iter().map(|class| class.name()).collect();
        let guarantee = capabilities.durability.last().copied().unwrap_or(Durability::None);
        let (offered, guarantee) = (offered.join(", "), guarantee.guarantee());
        let reason =
            format!("not supported: durability `{class}`: {engine} offers {offered} ({guarantee})");
        let remedies = capabilities.durability.iter().map(|class| format!("--durability {class}"));
        let remedy = format!(
            "request {}, or set `durability` for this variant alone",
            remedies.collect::<Vec<_>>().join(" or ")
        );
        return Err(Refusal::Setting { setting: Setting::Durability, reason, remedy }.into());
    }
    let compression = settings.compression.as_deref().filter(|name| *name != "none");
    let requested = [
        (settings.direct_io, Setting::DirectIo, String::new()),
        (settings.cache_bytes.is_some(), Setting::Cache, String::new()),
        (compression.is_some(), Setting::Compression, format!(" `{}`", compression.unwrap_or(""))),
    ];
    for (_, setting, value) in requested.into_iter().filter(|(is_requested, ..)| *is_requested) {
        let name = setting.name();
        if let Some(reason) = capabilities.why_not(name) {
            return Err(EngineError::setting(
                setting,
                format!("{name}{value}: {engine}: {reason}"),
            ));
        }
    }
    Ok(())
}

/// Checks that what was read back allows the durability class claimed.
///
/// # Errors
/// [`Refusal::Setting`] that names the weakest thing.
pub fn check_durability(claimed: Durability, had: &DurabilityRecord) -> Result<()> {
    let Some(basis) = had.violation(claimed) else { return Ok(()) };
    let reason = format!("not supported: durability `{claimed}`: {basis}");
    let class = basis.class;
    let remedy = format!(
        "remove the cause, or claim the durability class that it allows: --durability {class}"
    );
    Err(Refusal::Setting { setting: Setting::Durability, reason, remedy }.into())
}

/// Checks that every option is one of `known`.
///
/// # Errors
/// [`Refusal::Option`] that names the first unknown one and those that are
/// known.
pub fn check_names(engine: &str, known: &[&str], options: &Options) -> Result<()> {
    match options.iter().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) if known.is_empty() => {
            Err(refused(name, format!("{engine} has no options: remove it")))
        }
        Some((name, _)) => {
            Err(EngineError::unknown(name, format!("not an option of {engine} here"), known))
        }
    }
}

/// Checks that the data directory exists, before an engine makes it.
///
/// # Errors
/// [`EngineError::Fatal`] with its name.
pub fn check_dir(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    Err(EngineError::Fatal(format!("`{}` is not a directory", dir.display())))
}

/// Parses a number.
///
/// # Errors
/// [`Refusal::Option`] when `value` is not a number of that type.
pub fn number<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|error| refused(name, format!("`{value}`: {error}")))
}

/// Parses a size in bytes, with or without a unit: `24MiB`, `4096`.
///
/// # Errors
/// [`Refusal::Option`] when `value` is not a size.
pub fn size(name: &str, value: &str) -> Result<u64> {
    parse_size(value).map(|bytes| bytes.0).map_err(|reason| refused(name, reason))
}

/// Parses a boolean: `true`, `on`, `1`, `false`, `off`, `0`.
///
/// # Errors
/// [`Refusal::Option`] for any other text.
pub fn flag(name: &str, value: &str) -> Result<bool> {
    match value {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(refused(name, format!("`{value}` is neither true nor false"))),
    }
}

/// Returns the error of a key-value engine for a SQL procedure.
///
/// # Errors
/// Always: [`EngineError::Unsupported`].
#[cold]
pub fn no_procedures<T>(engine: &str) -> Result<T> {
    Err(EngineError::Unsupported(format!(
        "{engine} has no SQL procedures: it is a key-value engine"
    )))
}

/// Returns the error for a refused option.
pub fn refused(option: &str, reason: impl Into<String>) -> EngineError {
    EngineError::unknown(option, reason, &[])
}

#[cfg(test)]
mod tests {
    use model::Bytes;
    use model::capability::{CACHE_SIZE, COMPRESSION, DIRECT_IO, Feature};

    use super::*;
    use crate::memory::MemoryDriver;
    use crate::traits::Driver;

    #[test]
    fn unsupported_setting_is_refused_with_its_reason() {
        let mut can = MemoryDriver.capabilities();
        can.durability = [Durability::None].into();
        let no = |reason: &str| Feature::No(reason.to_owned());
        can.features.insert(DIRECT_IO.to_owned(), no("reads through a map"));
        can.features.insert(COMPRESSION.to_owned(), no("rows are stored as given"));
        can.features.insert(CACHE_SIZE.to_owned(), Feature::Yes);
        let none = Settings { durability: Durability::None, ..Settings::default() };
        let error_text = |settings| check_settings("it", &can, &settings).unwrap_err().to_string();
        let good = Settings {
            cache_bytes: Some(Bytes(1)),
            compression: Some("none".to_owned()),
            ..none.clone()
        };
        assert!(check_settings("it", &can, &good).is_ok());
        assert_eq!(
            error_text(Settings { durability: Durability::Sync, ..none.clone() }),
            "not supported: durability `sync`: it offers none (nothing survives before a clean \
             close)"
        );
        let sync = Settings { durability: Durability::Sync, ..none.clone() };
        let refusal = Refusal::from(check_settings("it", &can, &sync).unwrap_err());
        assert!(refusal.remedy().starts_with("request --durability none, or"), "{refusal:?}");
        assert_eq!(
            error_text(Settings { direct_io: true, ..none.clone() }),
            "not supported: direct_io: it: reads through a map"
        );
        assert_eq!(
            error_text(Settings { compression: Some("lz4".to_owned()), ..none }),
            "not supported: compression `lz4`: it: rows are stored as given"
        );
    }

    #[test]
    fn wrong_option_is_refused_by_name() {
        let options: Options = [("fanout", "8"), ("fan_out", "8")].into_iter().collect();
        let error = check_names("it", &["fanout", "page"], &options).unwrap_err().to_string();
        assert_eq!(
            error,
            "option `fan_out` refused: not an option of it here; known: fanout, page"
        );
        assert_eq!(size("page", "4KiB"), Ok(4096));
        assert_eq!(number::<u64>("n", "7"), Ok(7));
        assert_eq!((flag("f", "on"), flag("f", "0")), (Ok(true), Ok(false)));
        for error in [
            size("it", "big").unwrap_err(),
            number::<u64>("it", "-1").unwrap_err(),
            flag("it", "2").unwrap_err(),
        ] {
            assert!(error.to_string().starts_with("option `it` refused: `"), "{error}");
        }
    }
}
