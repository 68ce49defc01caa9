//! Settings: one declaration each, for files, flags, help and records.

use serde::{Deserialize, Serialize};

use crate::allocator::Allocator;
use crate::capability::Durability;
use crate::units::{Bytes, parse_size};

/// A table of experiment files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `[experiment]`.
    Experiment,
    /// `[benchmark]`.
    Benchmark,
    /// `[factors]`.
    Factors,
    /// `[[variant]]`.
    Variant,
    /// A step's table.
    Step,
    /// A load's table.
    Load,
    /// `[[waive]]`.
    Waiver,
    /// `[[published]]`.
    Published,
    /// `[[published.finding]]`.
    Finding,
}

impl Table {
    /// Returns the table's name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Experiment => "[experiment]",
            Self::Benchmark => "[benchmark]",
            Self::Factors => "[factors]",
            Self::Variant => "[[variant]]",
            Self::Step => "a step's table",
            Self::Load => "a load's table",
            Self::Waiver => "[[waive]]",
            Self::Published => "[[published]]",
            Self::Finding => "[[published.finding]]",
        }
    }
}

/// The form of a setting's value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
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
    /// Levels of a factor: a list, or a keyword.
    Levels,
    /// A table of names and values.
    Pairs,
    /// A list of texts, one a line.
    Lines,
    /// A list of tables.
    Tables(Table),
    /// A load: a keyword, or a table.
    Load,
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

/// Declaration of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Key in experiment files; with hyphens, the command-line flag.
    pub key: &'static str,
    /// The tables that may have it.
    pub tables: &'static [Table],
    /// The form of its value.
    pub kind: Kind,
    /// The experiments that take it.
    pub scope: Scope,
    /// Name of the value in the flag's help; `None` without a flag.
    pub value_name: Option<&'static str>,
    /// Help text of the flag.
    pub help: &'static str,
}

impl Setting {
    /// Returns the name of its flag, without the hyphens before it.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }
}

/// A type of setting values.
trait Value: Sized {
    /// Parses the text of a file or of the command line.
    fn parse(text: &str) -> Result<Self, String>;
    /// Returns the value for a table; `None` leaves the engine's default.
    fn label(&self) -> Option<String>;
}

impl<T: Value> Value for Option<T> {
    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }
    fn label(&self) -> Option<String> {
        self.as_ref().and_then(T::label)
    }
}

macro_rules! value {
    ($type:ty, $parse:expr) => {
        impl Value for $type {
            fn parse(text: &str) -> Result<Self, String> {
                $parse(text)
            }
            fn label(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    };
}

value!(Bytes, parse_size);
value!(String, |text: &str| Ok(text.to_owned()));
value!(bool, |text: &str| {
    text.parse().map_err(|_invalid| format!("`{text}` is neither true nor false"))
});
value!(u32, parse_whole);
value!(Durability, str::parse);
value!(Allocator, str::parse);

/// Parses a whole number.
///
/// # Errors
/// When the text is none, or it is too large.
pub fn parse_whole(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_invalid| format!("`{text}` is not a whole number below 2^32"))
}

/// Declares the settings common to all engines: fields of the record, keys, flags and help.
macro_rules! engine_settings {
    ($($(#[doc = $help:literal])+ $(#[serde($($serde:tt)*)])? $constant:ident $key:ident $field:ident: $type:ty,
       $kind:expr, $scope:ident, $value:literal;)*) => {
        /// Settings with the same meaning for every engine.
        ///
        /// A driver translates those its engine has; the runner applies the allocator.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Settings {
            $($(#[doc = $help])+ $(#[serde($($serde)*)])? pub $field: $type,)*
        }

        impl Settings {
            $($(#[doc = $help])+ pub const $constant: &Setting = &Setting {
                key: stringify!($key),
                tables: &[Table::Benchmark, Table::Variant],
                kind: $kind,
                scope: Scope::$scope,
                value_name: Some($value),
                help: concat!($($help),+),
            };)*

            /// The declarations of these settings.
            pub const DECLARED: &[&Setting] = &[$(Self::$constant),*];

            /// Returns each setting's key and text; `None` leaves the engine's default.
            pub fn labels(&self) -> Vec<(&'static str, Option<String>)> {
                vec![$((stringify!($key), self.$field.label())),*]
            }

            /// Sets the setting of that key from its text.
            ///
            /// # Errors
            /// When the text is no value of the setting, or no setting has the key.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
                match key {
                    $(stringify!($key) => self.$field = Value::parse(text)?,)*
                    _ => return Err(format!("no setting is named `{key}`")),
                }
                Ok(())
            }
        }
    };
}

engine_settings! {
    /// Durability class of every write: none, os (survives a process crash) or sync
    DURABILITY durability durability: Durability, Kind::Name(|| Durability::ALL.map(Durability::name).into()), Any, "CLASS";
    /// Size of the engine's own cache, such as 1GiB
    CACHE cache cache_bytes: Option<Bytes>, Kind::Amount, OwnServer, "SIZE";
    /// Bypass the page cache in reads and background writes
    DIRECT_IO direct_io direct_io: bool, Kind::Switch, OwnServer, "";
    /// Block compression: none, lz4 or zstd
    COMPRESSION compression compression: Option<String>, Kind::Text, OwnServer, "NAME";
    /// Background threads that the engine may use
    BACKGROUND_JOBS background_jobs background_jobs: Option<u32>, Kind::Whole, OwnServer, "N";
    /// Allocator that serves malloc: system, jemalloc, tcmalloc or mimalloc
    #[serde(default, skip_serializing_if = "Allocator::is_system")]
    ALLOCATOR allocator allocator: Allocator, Kind::Name(|| Allocator::ALL.map(Allocator::name).into()), OwnServer, "NAME";
}

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
        let keys: Vec<_> = settings.labels().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, Settings::DECLARED.iter().map(|one| one.key).collect::<Vec<_>>());
        assert!(settings.set("durability", "paper").is_err());
        assert!(settings.set("background_jobs", "-1").is_err());
        assert!(settings.set("colour", "red").is_err());
    }
}
