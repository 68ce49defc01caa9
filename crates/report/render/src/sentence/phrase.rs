//! Lists of names, alone and by what holds for them.

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
