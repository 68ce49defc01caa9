//! Settings common to all engines.

use serde::{Deserialize, Serialize};

use crate::allocator::Allocator;
use crate::capability::Durability;
use crate::names::names;
use crate::units::{Bytes, parse_count, parse_size};

/// Parses a whole number, in the units of counts.
///
/// # Errors
/// When the text is no whole number, or the number is too large.
pub fn parse_whole(text: &str) -> Result<u32, String> {
    let too_large = |_beyond| format!("`{text}` is too large: write a whole number below 2^32");
    u32::try_from(parse_count(text)?).map_err(too_large)
}

/// Parses a size of less than 4 GiB, in bytes.
///
/// # Errors
/// When the text is no size, or the size is too large.
pub fn parse_short_size(text: &str) -> Result<u32, String> {
    let too_large = |_beyond| format!("`{text}` is too large: write a size below 4GiB");
    u32::try_from(parse_size(text)?.0).map_err(too_large)
}

/// The form of a value's text.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A quantity: text or a bare number.
    Amount,
    /// Text.
    Text,
    /// One of these names.
    Name(fn() -> Vec<&'static str>),
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false; a flag without a value.
    Switch,
}

/// The experiments that take a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Any,
    /// Key-value workloads; applications define their own rows.
    KeyValue,
    /// Engines and servers that Assay starts.
    OwnServer,
}

/// Declaration of a setting that all engines have in common.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// Key in experiment files; with hyphens, the command-line flag.
    pub key: &'static str,
    /// The form of its value.
    pub form: Form,
    /// The experiments that take it.
    pub scope: Scope,
    /// Name of the value in the flag's help; empty for a switch.
    pub value_name: &'static str,
    /// Help text of the flag.
    pub help: &'static str,
}

/// Declares each setting once: key, field, type of the field and of a value, parser, form, scope,
/// name of the value, and help. The others are settings of the data.
macro_rules! settings {
    (
        [$($(#[$attribute:meta])* $setting:ident $key:literal $field:ident: $type:ty, $value:ty = $parse:expr, $form:expr, $scope:ident, $value_name:literal, $help:literal;)+]
        others [$($other:ident $other_key:literal $about:literal;)+]
    ) => {
        /// Settings with the same meaning for every engine.
        ///
        /// A driver translates those its engine has; the runner applies the allocator.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Settings {
            $(#[doc = $help] $(#[$attribute])* pub $field: $type,)+
        }

        impl Settings {
            /// The declarations of all, in the order of the help.
            pub const DECLARED: &[Declared] = &[$(Declared {
                key: $key,
                form: $form,
                scope: Scope::$scope,
                value_name: $value_name,
                help: $help,
            }),+];

            /// Returns each setting's key and text; `None` leaves the engine's default.
            pub fn labels(&self) -> Vec<(&'static str, Option<String>)> {
                let Self { $($field),+ } = self.clone();
                vec![$(($key, Option::<$value>::from($field).map(|value| value.to_string()))),+]
            }

            /// Sets the setting of that key from its text.
            ///
            /// # Errors
            /// When the text is no value of the setting, or no setting has the key.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
                match key {
                    $($key => {
                        let parse: fn(&str) -> Result<$value, String> = $parse;
                        self.$field = parse(text)?.into();
                    })+
                    _ => return Err(format!("no setting is named `{key}`")),
                }
                Ok(())
            }
        }

        /// A setting of an experiment that an engine may refuse.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Setting {
            $(#[doc = $help] $setting,)+
            $(#[doc = $about] $other,)+
        }

        names!(Setting, "a setting of engines": $($setting $key,)+ $($other $other_key),+);
    };
}

/// Parses true or false.
///
/// # Errors
/// When the text is neither.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_invalid| format!("`{text}` is neither true nor false"))
}

/// Smallest cache: a page of memory. A smaller number was meant with a unit.
const CACHE_BYTES_MIN: Bytes = Bytes(4 << 10);

/// Parses the size of a cache, or 0.
fn parse_cache(text: &str) -> Result<Bytes, String> {
    let size = parse_size(text)?;
    if size > Bytes(0) && size < CACHE_BYTES_MIN {
        return Err(format!("`{text}` is less than {CACHE_BYTES_MIN}: write a unit, such as 1GiB"));
    }
    Ok(size)
}

#[rustfmt::skip]
settings! { [
    Durability "durability" durability: Durability, Durability = str::parse, Form::Name(|| Durability::ALL.map(Durability::name).into()), Any, "CLASS", "Durability class of every write: none, os (survives a process crash) or sync";
    Cache "cache" cache_bytes: Option<Bytes>, Bytes = parse_cache, Form::Amount, OwnServer, "SIZE", "Size of the engine's cache, such as 1GiB";
    DirectIo "direct_io" direct_io: bool, bool = parse_switch, Form::Switch, OwnServer, "", "Bypass the page cache in reads and background writes";
    Compression "compression" compression: Option<String>, String = |text| Ok(text.to_owned()), Form::Text, OwnServer, "NAME", "Block compression: none, lz4 or zstd";
    BackgroundJobs "background_jobs" background_jobs: Option<u32>, u32 = parse_whole, Form::Whole, OwnServer, "N", "Background threads that the engine may use";
    #[serde(default, skip_serializing_if = "Allocator::is_system")]
    Allocator "allocator" allocator: Allocator, Allocator = str::parse, Form::Name(|| Allocator::ALL.map(Allocator::name).into()), OwnServer, "NAME", "Allocator that serves malloc: system, jemalloc, tcmalloc or mimalloc";
] others [
    KeyBytes "key_bytes" "The length of keys.";
    ValueBytes "value_bytes" "The length of values.";
] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_set_by_key_and_labelled() {
        let mut settings = Settings::default();
        for (key, text) in [("cache", "1GiB"), ("direct_io", "true"), ("allocator", "jemalloc")] {
            settings.set(key, text).expect("a value");
        }
        assert_eq!((settings.cache_bytes, settings.direct_io), (Some(Bytes::GIB), true));
        assert!(settings.set("durability", "paper").is_err());
        assert!(settings.set("background_jobs", "-1").is_err());
        let error = settings.set("cache", "1").unwrap_err().to_string();
        assert!(error.contains("`1` is less than 4.00 KiB: write a unit, such as 1GiB"), "{error}");
        assert!(["0", "4096", "4KiB"].iter().all(|size| settings.set("cache", size).is_ok()));
        assert_eq!((parse_whole("2k"), parse_short_size("4KiB")), (Ok(2000), Ok(4096)));
        assert!(parse_whole("5B").is_err() && parse_short_size("4GiB").is_err());
        assert!(settings.set("colour", "red").is_err());
    }
}
