//! Differences between configurations, reported by a table.
//!
//! A rule gives configurations as named values, and a table of [`Check`]s: which values must be
//! equal, and what a difference is reported as.

use std::collections::{BTreeMap, BTreeSet};

use model::record::Severity;

use crate::rule::Observation;

/// The named values of one variant, run, build or host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config<'a> {
    /// The variant or run that has them.
    pub(crate) owner: &'a str,
    /// The values by name.
    pub(crate) values: BTreeMap<&'a str, &'a str>,
}

/// One name whose values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// The distinct values, each with its first owner; `None` where the name is unset.
    pub(crate) values: Vec<(Option<&'a str>, &'a str)>,
}

impl Difference<'_> {
    /// Returns the value of the first configuration, and the first that differs from it.
    pub(crate) fn pair(&self) -> (&str, &str) {
        let value = |at: usize| self.values.get(at).and_then(|(value, _)| *value);
        (value(0).unwrap_or("unset"), value(1).unwrap_or("unset"))
    }

    /// Returns `value (owner), value (owner)`.
    pub(crate) fn owned(&self) -> String {
        let one = |(value, owner): &(Option<&str>, &str)| {
            format!("{} ({owner})", value.unwrap_or("unset"))
        };
        self.values.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Returns `value, value`, sorted.
    pub(crate) fn sorted(&self) -> String {
        let values: BTreeSet<&str> = self.values.iter().filter_map(|(value, _)| *value).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// Which of the differences of a check are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// Each as one observation.
    Each,
    /// The first only.
    First,
    /// All as one observation.
    Together,
}

/// Values that must be equal, and the observation when they are not.
pub(crate) struct Check {
    /// Names of the values, in the order of the report; empty for all.
    pub(crate) names: &'static [&'static str],
    /// Whether an unset value differs from a set one.
    pub(crate) counts_unset: bool,
    /// Which differences are reported.
    pub(crate) report: Report,
    /// Kind of the observation.
    pub(crate) kind: &'static str,
    /// Severity in place of the rule's own.
    pub(crate) severity: Option<Severity>,
    /// Remedy in place of the rule's own.
    pub(crate) remedy: Option<&'static str>,
    /// The evidence, from the subject and the differences.
    pub(crate) evidence: fn(&str, &[Difference<'_>]) -> String,
}

impl Check {
    /// The defaults of a check's fields.
    pub(crate) const EMPTY: Self = Self {
        names: &[],
        counts_unset: false,
        report: Report::Each,
        kind: "",
        severity: None,
        remedy: None,
        evidence: |_, _| String::new(),
    };

    /// Returns the differences between configurations.
    pub(crate) fn differences<'a>(&self, configs: &[Config<'a>]) -> Vec<Difference<'a>> {
        let mut known = BTreeSet::new();
        let all = configs.iter().flat_map(|config| config.values.keys().copied());
        let names: Vec<&'a str> = match self.names {
            [] => all.filter(|name| known.insert(*name)).collect(),
            names => names.to_vec(),
        };
        names.into_iter().filter_map(|name| self.difference(name, configs)).collect()
    }

    fn difference<'a>(&self, name: &'a str, configs: &[Config<'a>]) -> Option<Difference<'a>> {
        let mut values: Vec<(Option<&str>, &str)> = Vec::new();
        for config in configs {
            let value = config.values.get(name).copied();
            let is_known = values.iter().any(|(known, _)| *known == value);
            if !is_known && (value.is_some() || self.counts_unset) {
                values.push((value, config.owner));
            }
        }
        (values.len() > 1).then_some(Difference { name, values })
    }

    /// Returns the observations of this check.
    fn observe(&self, subject: &str, configs: &[Config<'_>]) -> Vec<Observation> {
        let differences = self.differences(configs);
        let groups: Vec<&[Difference<'_>]> = match self.report {
            Report::Each => differences.chunks(1).collect(),
            Report::First => differences.chunks(1).take(1).collect(),
            Report::Together => {
                Some(&differences[..]).filter(|all| !all.is_empty()).into_iter().collect()
            }
        };
        let observation = |group: &[Difference<'_>]| {
            let evidence = (self.evidence)(subject, group);
            let mut observation = Observation::new(evidence).ranked(self.kind, 0.0);
            observation.severity = self.severity;
            observation.remedy = self.remedy.map(str::to_owned);
            observation
        };
        groups.into_iter().map(observation).collect()
    }
}

/// Returns the observations of every check of a table.
pub(crate) fn observe(table: &[Check], subject: &str, configs: &[Config<'_>]) -> Vec<Observation> {
    table.iter().flat_map(|check| check.observe(subject, configs)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config<'a>(owner: &'a str, values: &[(&'a str, &'a str)]) -> Config<'a> {
        Config { owner, values: values.iter().copied().collect() }
    }

    #[test]
    fn unset_values_differ_only_where_they_count() {
        let configs = [config("a", &[("x", "1"), ("y", "1")]), config("b", &[("x", "2")])];
        let names = |counts_unset| {
            let check = Check { counts_unset, ..Check::EMPTY };
            check.differences(&configs).iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["x"]);
        assert_eq!(names(true), ["x", "y"]);
    }

    #[test]
    fn values_are_listed_with_their_first_owners() {
        let configs = [("c", "2"), ("a", "1"), ("b", "2")];
        let configs = configs.map(|(owner, value)| config(owner, &[("x", value)]));
        let found = Check::EMPTY.differences(&configs);
        assert_eq!(found[0].owned(), "2 (c), 1 (a)");
        assert_eq!(found[0].sorted(), "1, 2");
        assert_eq!(found[0].pair(), ("2", "1"));
    }
}
