//! The headline of each step by its verdicts, and notes that stand once per text.
//!
//! Verdicts come with the comparison. Where none may be drawn, the headline names the rule.
//!
//! To add a metric, add its wording to [`claim`].

mod claim;
mod note;
mod step;

pub(crate) use claim::Claim;
pub(crate) use note::{control, detectable, hidden, warmup_trims};
pub(crate) use step::{clause, levels, step_sentence, step_sentences};

/// Returns `a`, `a and b`, or `a, b and c`.
pub(crate) fn list<N: std::borrow::Borrow<str>>(names: &[N]) -> String {
    match names {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [first @ .., last] => format!("{} and {}", first.join(", "), last.borrow()),
    }
}

/// Returns names by what holds for them, in the order given: `more with a and b; fewer with c`.
pub(crate) fn grouped(named: impl Iterator<Item = (String, String)>) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (what, name) in named {
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => groups.push((what, vec![name])),
        }
    }
    let texts = groups.iter().map(|(what, names)| format!("{what} with {}", list(names)));
    texts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
pub(crate) mod testing;
