//! Parses and formats option values of fjall's types.
//!
//! fjall's policies are lists with one entry per level, the last one for all deeper levels; here
//! they are written with commas: `none,none,lz4`.

use std::ops::RangeInclusive;

use engine::Result;
use engine::settings_check::{number, refused};
use fjall::CompressionType;
use fjall::config::{BloomConstructionPolicy, FilterPolicyEntry};

/// Maximum entries of a policy.
///
/// Source: [lsm-tree docs] 3.1, constructors of the policies.
const POLICY_ENTRIES_MAX: usize = 255;

/// Parses a size within `limits`, in bytes.
pub(crate) fn size<T: TryFrom<u64>>(
    name: &str,
    value: &str,
    limits: RangeInclusive<u64>,
) -> Result<T> {
    let bytes = engine::settings_check::size(name, value)?;
    if !limits.contains(&bytes) {
        let (least, most) = limits.into_inner();
        return Err(refused(name, format!("`{value}` is not between {least} and {most} bytes")));
    }
    T::try_from(bytes).map_err(|_too_large| refused(name, format!("`{value}` is too large")))
}

/// Parses `none` or `lz4`.
pub(crate) fn compression(name: &str, value: &str) -> Result<CompressionType> {
    match value {
        "none" => Ok(CompressionType::None),
        "lz4" => Ok(CompressionType::Lz4),
        _ => Err(refused(name, format!("`{value}` is neither none nor lz4"))),
    }
}

/// Parses `none`, `bits_per_key:10` or `false_positive_rate:0.01`.
pub(crate) fn filter(name: &str, value: &str) -> Result<FilterPolicyEntry> {
    match value.split_once(':') {
        None if value == "none" => Ok(FilterPolicyEntry::None),
        Some(("bits_per_key", bits)) => {
            let policy = BloomConstructionPolicy::BitsPerKey(number(name, bits)?);
            Ok(FilterPolicyEntry::Bloom(policy))
        }
        Some(("false_positive_rate", rate)) => {
            let policy = BloomConstructionPolicy::FalsePositiveRate(number(name, rate)?);
            Ok(FilterPolicyEntry::Bloom(policy))
        }
        _ => {
            let known = "none, bits_per_key:N or false_positive_rate:N";
            Err(refused(name, format!("`{value}` is not {known}")))
        }
    }
}

/// Formats a filter as [`filter`] parses it.
pub(crate) fn filter_text(entry: &FilterPolicyEntry) -> String {
    match entry {
        FilterPolicyEntry::None => "none".to_owned(),
        FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits)) => {
            format!("bits_per_key:{bits}")
        }
        FilterPolicyEntry::Bloom(BloomConstructionPolicy::FalsePositiveRate(rate)) => {
            format!("false_positive_rate:{rate}")
        }
    }
}

/// Parses a list with one entry per level.
pub(crate) fn list<T>(
    name: &str,
    value: &str,
    parse: impl Fn(&str, &str) -> Result<T>,
) -> Result<Vec<T>> {
    let entries = value.split(',').map(|entry| parse(name, entry.trim()));
    let entries = entries.collect::<Result<Vec<T>>>()?;
    if entries.len() > POLICY_ENTRIES_MAX {
        return Err(refused(name, format!("more than {POLICY_ENTRIES_MAX} entries")));
    }
    Ok(entries)
}

/// Formats a list as [`list`] parses it.
pub(crate) fn list_text<T: ToString>(entries: &[T]) -> String {
    entries.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}
