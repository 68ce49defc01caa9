//! Translates settings and options into the engine's options.

use engine::settings_check::{check_names, check_settings, number, refused, size};
use engine::{EngineError, OpenSpec, Result, Setting};
use indexlog::{Compression, Durability};
use model::{Capabilities, Options};

use crate::session::failed;

/// Reads an option's value into a field.
type Read = fn(&mut indexlog::Options, &str, &str) -> Result<()>;
/// Writes a field as text.
type Show = fn(&indexlog::Options) -> String;

/// Declares a size in bytes, under the name of its field.
macro_rules! size {
    ($field:ident) => {
        (
            stringify!($field),
            |options, name, value| {
                options.$field = fits(name, size(name, value)?)?;
                Ok(())
            },
            |options| options.$field.to_string(),
        )
    };
}

/// Declares a number under the name of its field.
macro_rules! number {
    ($field:ident) => {
        (
            stringify!($field),
            |options, name, value| {
                options.$field = number(name, value)?;
                Ok(())
            },
            |options| options.$field.to_string(),
        )
    };
}

/// Every option, under the name of its field.
const OPTIONS: [(&str, Read, Show); 10] = [
    size!(write_cache_bytes),
    size!(segment_bytes),
    size!(document_cache_bytes),
    size!(block_cache_bytes),
    size!(table_bytes),
    size!(level1_bytes),
    ("compression", read_compression, |options| show_compression(options.compression).to_owned()),
    number!(garbage_ratio),
    number!(level0_tables),
    number!(bloom_bits),
];

/// Returns the engine's options of `spec`: the cache goes half to documents, half to blocks.
pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<indexlog::Options> {
    check_settings("indexlog", can, &spec.settings)?;
    check_names("indexlog", &OPTIONS.map(|(name, ..)| name), &spec.options)?;
    let durability = match spec.settings.durability {
        model::Durability::None => Durability::None,
        model::Durability::Os => Durability::Os,
        model::Durability::Sync => Durability::Sync,
    };
    let compression = match spec.settings.compression.as_deref() {
        None => Compression::None,
        Some(name) => compression(name)
            .map_err(|reason| EngineError::setting(Setting::Compression, reason))?,
    };
    let mut options = indexlog::Options { durability, compression, ..indexlog::Options::default() };
    if let Some(bytes) = spec.settings.cache_bytes {
        options.document_cache_bytes = bytes.0 / 2;
        options.block_cache_bytes = bytes.0 - bytes.0 / 2;
    }
    for (name, read, _) in OPTIONS {
        if let Some(value) = spec.options.get(name) {
            read(&mut options, name, value)?;
        }
    }
    options.check().map_err(failed)?;
    Ok(options)
}

/// Returns the options in force.
pub(crate) fn describe(options: &indexlog::Options) -> Options {
    let mut all: Options = OPTIONS.iter().map(|(name, _, show)| (*name, show(options))).collect();
    all.set("durability", format!("{:?}", options.durability).to_lowercase());
    all
}

fn fits<T: TryFrom<u64>>(name: &str, bytes: u64) -> Result<T> {
    T::try_from(bytes).map_err(|_too_large| refused(name, "larger than the address space"))
}

fn compression(name: &str) -> Result<Compression, String> {
    match name {
        "none" => Ok(Compression::None),
        "lz4" => Ok(Compression::Lz4),
        _ => Err(format!("compression `{name}`: indexlog has none and lz4")),
    }
}

const fn show_compression(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Lz4 => "lz4",
    }
}

fn read_compression(options: &mut indexlog::Options, name: &str, value: &str) -> Result<()> {
    options.compression = compression(value).map_err(|reason| refused(name, reason))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    fn resolved(settings: Settings, options: &[(&str, &str)]) -> Result<indexlog::Options> {
        let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
        let mut spec = OpenSpec::embedded(PathBuf::new(), settings, data);
        spec.options = options.iter().copied().collect();
        resolve(&spec, &crate::driver().capabilities())
    }

    #[test]
    fn every_option_is_read_back_as_it_was_written() {
        let values = [
            ("write_cache_bytes", "1048576"),
            ("segment_bytes", "2097152"),
            ("document_cache_bytes", "3145728"),
            ("block_cache_bytes", "4194304"),
            ("table_bytes", "65536"),
            ("level1_bytes", "131072"),
            ("compression", "lz4"),
            ("garbage_ratio", "0.5"),
            ("level0_tables", "2"),
            ("bloom_bits", "16"),
        ];
        assert_eq!(values.len(), OPTIONS.len());
        let described = describe(&resolved(Settings::default(), &values).unwrap());
        for (name, value) in values {
            assert_eq!(described.get(name), Some(value), "{name}");
        }
    }

    #[test]
    fn the_cache_is_shared_and_wrong_options_are_refused_by_name() {
        let settings = Settings { cache_bytes: Some(Bytes(9)), ..Settings::default() };
        let options = resolved(settings.clone(), &[]).unwrap();
        assert_eq!((options.document_cache_bytes, options.block_cache_bytes), (4, 5));
        for (name, value) in [
            ("garbage_ratio", "1"),
            ("compression", "zstd"),
            ("level0_tables", "0"),
            ("level1_bytes", "0"),
            ("cache", "1"),
        ] {
            let error = resolved(settings.clone(), &[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        let zstd = Settings { compression: Some("zstd".to_owned()), ..settings };
        assert!(resolved(zstd, &[]).unwrap_err().to_string().contains("indexlog has none and lz4"));
    }
}
