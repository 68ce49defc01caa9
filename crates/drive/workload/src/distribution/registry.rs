//! The key distributions by name.

use super::picker::{Permuted, Picker};
use super::plain::{Access, Sequential, Space, Uniform};
use super::scrambled::Scrambled;
use super::zipf::{self, Latest, Zipf};

/// Reads what stands behind the colon, for one client's rows; the error names the range.
type Parse = fn(Option<&str>, Space) -> Result<Picker, String>;

/// Every key distribution: its name, how it is written, and how its parameter is read.
const DISTRIBUTIONS: &[(&str, &str, Parse)] = &[
    ("uniform", "uniform", |text, space| {
        no_parameter(text).map(|()| Picker::Uniform(Uniform::new(space)))
    }),
    ("sequential", "sequential", |text, space| {
        no_parameter(text).map(|()| Picker::Sequential(Sequential::new(space)))
    }),
    ("zipf", "zipf[:THETA]", |text, space| {
        let zipf = |theta| Picker::Permuted(Permuted::Zipf(Zipf::new(space, theta)));
        zipf::parse_theta(text, space).map(zipf)
    }),
    ("latest", "latest[:THETA]", |text, space| {
        let latest = |theta| Picker::Permuted(Permuted::Latest(Latest::new(space, theta)));
        zipf::parse_theta(text, space).map(latest)
    }),
    ("scrambled", "scrambled[:THETA]", |text, space| {
        let scrambled = |theta| Picker::Permuted(Permuted::Scrambled(Scrambled::new(space, theta)));
        zipf::parse_theta(text, space).map(scrambled)
    }),
    ("hotspot", "hotspot:POINTS.RANGE", |text, space| {
        Uniform::parse_hotspot(text, space).map(Picker::Uniform)
    }),
];

fn no_parameter(text: Option<&str>) -> Result<(), String> {
    match text {
        None => Ok(()),
        Some(text) => Err(format!("takes no parameter, but `{text}` was given")),
    }
}

/// Checks a key distribution as written, for a key space of `rows`.
///
/// # Errors
/// Names the known distributions when the name is unknown, else the range of its parameter.
pub fn check_distribution(text: &str, rows: u64) -> Result<(), String> {
    for access in [Access::Point, Access::Range] {
        parse(text, Space { rows, access, first: 0 })?;
    }
    Ok(())
}

/// Returns the keys of one client by the distribution's name.
///
/// # Errors
/// As [`check_distribution`].
pub(crate) fn parse(text: &str, space: Space) -> Result<Picker, String> {
    let (name, parameter) =
        text.split_once(':').map_or((text, None), |(name, parameter)| (name, Some(parameter)));
    let Some((_, form, parse)) = DISTRIBUTIONS.iter().find(|(known, ..)| *known == name) else {
        let forms: Vec<_> = DISTRIBUTIONS.iter().map(|(_, form, _)| *form).collect();
        return Err(format!("unknown key distribution `{name}`; write {}", forms.join(", ")));
    };
    parse(parameter, space)
        .map_err(|reason| format!("key distribution `{text}`: {reason}; write {form}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::Stream;

    pub(in crate::distribution) fn space(rows: u64) -> Space {
        Space { rows, access: Access::Point, first: 0 }
    }

    pub(in crate::distribution) fn stream() -> Stream {
        Stream::fixed(0x0a55_a1ed)
    }

    /// Returns the chi-square statistic of `picks` over `cells` cells.
    pub(in crate::distribution) fn chi_square(
        picks: impl Iterator<Item = u64>,
        cells: usize,
        probability: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut counts = vec![0u64; cells];
        for pick in picks {
            counts[usize::try_from(pick).unwrap()] += 1;
        }
        let draws: u64 = counts.iter().sum();
        let square = |(cell, count): (usize, &u64)| {
            let expected = probability(cell) * draws as f64;
            (*count as f64 - expected).powi(2) / expected
        };
        counts.iter().enumerate().map(square).sum()
    }

    #[test]
    fn every_documented_form_is_parsed() {
        for text in [
            "uniform",
            "sequential",
            "zipf:0.5",
            "zipf:1",
            "zipf:1.2",
            "latest",
            "latest:0.7",
            "scrambled",
            "scrambled:0.9",
            "hotspot:64.512",
            "hotspot:8.64",
            "hotspot:1000.1000",
        ] {
            assert_eq!(check_distribution(text, 1000), Ok(()), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = check_distribution("zipfian:1", 10).unwrap_err();
        assert!(error.contains("`zipfian`") && error.contains("zipf[:THETA]"), "{error}");
    }

    #[test]
    fn a_wrong_parameter_is_rejected_with_its_range() {
        for (text, range) in [
            ("zipf:0", "above 0"),
            ("zipf:-1", "above 0"),
            ("zipf:nan", "above 0"),
            ("zipf:11", "at most 10"),
            ("zipf:x", "above 0"),
            ("latest:inf", "at most 10"),
            ("scrambled:0", "above 0"),
            ("hotspot", "from 1 to 100"),
            ("hotspot:64", "from 1 to 100"),
            ("hotspot:64.512", "from 1 to 100"),
            ("hotspot:0.8", "from 1 to 100"),
            ("uniform:1", "no parameter"),
            ("sequential:", "no parameter"),
        ] {
            let error = check_distribution(text, 100).unwrap_err();
            assert!(error.contains(range), "{text}: {error}");
        }
    }
}
