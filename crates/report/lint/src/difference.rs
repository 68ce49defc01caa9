//! Differences between configurations: named values of variants, runs, builds or hosts.

use std::collections::{BTreeMap, BTreeSet};

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

/// Returns the values that differ, of these names in their order.
///
/// Without names, of all; there an unset value differs from a set one.
pub(crate) fn differences<'a>(names: &[&'a str], configs: &[Config<'a>]) -> Vec<Difference<'a>> {
    let mut known = BTreeSet::new();
    let all = configs.iter().flat_map(|config| config.values.keys().copied());
    let counts_unset = names.is_empty();
    let names: Vec<&'a str> = match names {
        [] => all.filter(|name| known.insert(*name)).collect(),
        names => names.to_vec(),
    };
    let difference = |name: &'a str| {
        let mut values: Vec<(Option<&str>, &str)> = Vec::new();
        for config in configs {
            let value = config.values.get(name).copied();
            let is_known = values.iter().any(|(known, _)| *known == value);
            if !is_known && (value.is_some() || counts_unset) {
                values.push((value, config.owner));
            }
        }
        (values.len() > 1).then_some(Difference { name, values })
    };
    names.into_iter().filter_map(difference).collect()
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
        let names = |of| differences(of, &configs).iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(&["x", "y"]), ["x"]);
        assert_eq!(names(&[]), ["x", "y"]);
    }

    #[test]
    fn values_are_listed_with_their_first_owners() {
        let configs = [("c", "2"), ("a", "1"), ("b", "2")];
        let configs = configs.map(|(owner, value)| config(owner, &[("x", value)]));
        let found = differences(&[], &configs);
        assert_eq!(found[0].owned(), "2 (c), 1 (a)");
        assert_eq!(found[0].sorted(), "1, 2");
        assert_eq!(found[0].pair(), ("2", "1"));
    }
}
