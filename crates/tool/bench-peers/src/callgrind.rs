//! Parses callgrind output: instructions by object file and function.
//!
//! Source: Valgrind user manual, "Callgrind Format Specification", sections "Extended Example"
//! and "Name Compression".

use std::collections::BTreeMap;

/// Instructions of one or more threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Self cost by object file and function.
    functions: BTreeMap<(String, String), u64>,
}

impl Counts {
    /// Parses an output file.
    ///
    /// # Errors
    /// When the parts do not add up to the file's own sum.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut counts = Self::default();
        let (mut objects, mut functions) = (BTreeMap::new(), BTreeMap::new());
        let (mut place, mut is_call, mut sum) = (<(String, String)>::default(), false, None);
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("ob=") {
                place.0 = expand(name, &mut objects);
            } else if let Some(name) = line.strip_prefix("cob=") {
                expand(name, &mut objects);
            } else if let Some(name) = line.strip_prefix("fn=") {
                place.1 = expand(name, &mut functions);
            } else if let Some(name) = line.strip_prefix("cfn=") {
                expand(name, &mut functions);
            } else if line.starts_with("calls=") {
                // The next line is the inclusive cost of the callee, counted at the callee.
                is_call = true;
            } else if let Some(total) = line.strip_prefix("totals: ") {
                sum = total.trim().parse::<u64>().ok();
            } else if let Some(cost) = cost(line)
                && !std::mem::take(&mut is_call)
            {
                *counts.functions.entry(place.clone()).or_default() += cost;
            }
        }
        match sum {
            Some(sum) if sum == counts.total() => Ok(counts),
            _ => Err(format!("callgrind's parts make {}, its sum {sum:?}", counts.total())),
        }
    }

    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        for (place, count) in &other.functions {
            *self.functions.entry(place.clone()).or_default() += count;
        }
    }

    /// Returns all instructions.
    pub(crate) fn total(&self) -> u64 {
        self.functions.values().sum()
    }

    /// Returns the instructions where `is_in` accepts object file and function.
    pub(crate) fn within(&self, is_in: impl Fn(&str, &str) -> bool) -> u64 {
        let places = self.functions.iter();
        places.filter(|((object, name), _)| is_in(object, name)).map(|(_, count)| count).sum()
    }
}

/// Returns the full name of `(3) name` or `(3)`, storing the former.
fn expand(name: &str, names: &mut BTreeMap<String, String>) -> String {
    match name.split_once(' ') {
        Some((id, name)) => {
            names.insert(id.to_owned(), name.to_owned());
            name.to_owned()
        }
        None => names.get(name).cloned().unwrap_or_else(|| name.to_owned()),
    }
}

/// Returns the cost of a line that begins with a position: `12 5`, `+3 5`, `* 5`.
fn cost(line: &str) -> Option<u64> {
    line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
        .then(|| line.split_once(' ')?.1.trim().parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
version: 1
positions: line
events: Ir

ob=(1) /bin/client
fl=(1) a.c
fn=(1) main
16 20
cob=(2) /lib/engine.so
cfn=(2) get
calls=3 8
* 400
+1 5

ob=(2)
fn=(2)
8 395
ob=(1)
fn=(3) hash
-2 5

totals: 425
";

    #[test]
    fn self_cost_is_counted_and_callees_once() {
        let counts = Counts::parse(FILE).unwrap();
        let own = ["/bin/client", "/lib/engine.so"].map(|name| counts.within(|at, _| at == name));
        assert_eq!((own, counts.total()), ([30, 395], 425));
        assert_eq!(counts.within(|_, name| name == "hash"), 5);
    }

    #[test]
    fn inconsistent_totals_are_rejected() {
        let error = Counts::parse(&FILE.replace("totals: 425", "totals: 825")).unwrap_err();
        assert_eq!(error, "callgrind's parts make 425, its sum Some(825)");
    }
}
