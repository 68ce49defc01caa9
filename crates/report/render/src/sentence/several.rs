//! Several variants against the base: the extremes, then the others by verdict.

use stats::{Verdict, Why};

use super::phrase::{capital, list};
use super::single::{Single, among, plain};
use crate::figure::declared;

/// Up to this many variants each has its figure.
const WITH_FIGURES: usize = 3;
/// Most variants that share an extreme.
const SHARED: usize = 3;

/// Returns the sentences about several variants of one step.
pub(super) fn several(heading: &str, singles: &[Single<'_>]) -> String {
    let Some(first) = singles.first() else { return String::new() };
    let (top, bottom) = extremes(singles);
    let claim = first.claim;
    let mut parts: Vec<String> = Vec::new();
    let extreme = |found: &Group<'_, '_>, word: &str| extreme_text(found, first.base, word);
    let most = top.as_ref().map(|group| extreme(group, &format!("{} {}", claim.verb, claim.most)));
    let least = bottom.as_ref().map(|group| {
        let verb = if most.is_some() { String::new() } else { format!("{} ", claim.verb) };
        extreme(group, &format!("{verb}{}", claim.least))
    });
    let ends: Vec<String> = [most, least].into_iter().flatten().collect();
    if !ends.is_empty() {
        parts.push(ends.join("; "));
    }
    let named: Vec<&str> =
        [&top, &bottom].into_iter().flatten().flat_map(|group| group.names()).collect();
    let rest: Vec<&Single<'_>> = singles.iter().filter(|one| !named.contains(&one.name)).collect();
    for (phrase, names, count) in groups(&rest, singles.len() <= WITH_FIGURES) {
        let names = match count == singles.len() && count > WITH_FIGURES {
            true if phrase.starts_with('{') => format!("all {count}"),
            true => format!("any of the {count}"),
            false => names,
        };
        let is_after_stop = !parts.is_empty() && !phrase.starts_with('{');
        let phrase = if is_after_stop { capital(&phrase) } else { phrase };
        parts.push(phrase.replace("{}", &names));
    }
    format!("{heading}, {} against {}: {}.", claim.noun, first.base, parts.join(". "))
}

/// Variants whose intervals hang together; no variant is the base.
struct Group<'a, 'b> {
    members: Vec<Option<&'b Single<'a>>>,
    low: f64,
    high: f64,
}

impl<'a> Group<'a, '_> {
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.members.iter().flatten().map(|one| one.name)
    }
}

/// Returns the variants that lie above all others, and those below, as far as intervals show it.
///
/// Both are sets whose intervals overlap from one to the next, and which no other interval
/// touches. Intervals against one base that do not touch differ: each is wider than the interval
/// of the two variants' own ratio would need. The base itself stands at 1; what is inconclusive
/// reaches to it. A variant without an interval could be anything: then there are no extremes.
fn extremes<'a, 'b>(singles: &'b [Single<'a>]) -> (Option<Group<'a, 'b>>, Option<Group<'a, 'b>>) {
    let mut groups = vec![Group { members: vec![None], low: 1.0, high: 1.0 }];
    for single in singles {
        let Some(interval) = single.effect.interval else { return (None, None) };
        let (mut low, mut high) = (interval.low, interval.high);
        if single.effect.verdict == Verdict::Inconclusive {
            (low, high) = (low.min(1.0), high.max(1.0));
        }
        groups.push(Group { members: vec![Some(single)], low, high });
    }
    groups.sort_by(|one, other| one.low.total_cmp(&other.low));
    let mut apart: Vec<Group<'a, 'b>> = Vec::new();
    for group in groups {
        match apart.last_mut() {
            Some(last) if group.low <= last.high => {
                last.high = last.high.max(group.high);
                last.members.extend(group.members);
            }
            _ => apart.push(group),
        }
    }
    if apart.len() < 2 {
        return (None, None);
    }
    let is_named = |group: &Group<'_, '_>| {
        let has_base = group.members.iter().any(Option::is_none);
        group.members.len() <= if has_base { 1 } else { SHARED }
    };
    for group in &mut apart {
        // The experiment's order: no ranking.
        group.members.sort_by_key(|one| {
            one.and_then(|one| singles.iter().position(|other| other.name == one.name))
        });
    }
    let top = apart.pop().filter(is_named);
    let bottom = apart.into_iter().next().filter(is_named);
    (top, bottom)
}

/// Returns the variants at one end; several are not ordered.
fn extreme_text(group: &Group<'_, '_>, base: &str, word: &str) -> String {
    let text = |one: &&Single<'_>| format!("{} ({})", one.name, plain(one.effect));
    let members: Vec<String> = group.members.iter().flatten().map(text).collect();
    let names: Vec<&str> = members.iter().map(String::as_str).collect();
    match names.len() {
        0 => format!("the base, {base}, {word}"),
        1 => format!("{} {word}", list(&names)),
        _ => format!("{} {word}, with intervals that overlap", list(&names)),
    }
}

/// Returns the others by verdict, in the experiment's order: no ranking.
///
/// Each group has its phrase, with `{}` in place of the names, the names and their number.
fn groups(rest: &[&Single<'_>], has_figures: bool) -> Vec<(String, String, usize)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for wanted in ORDER {
        for one in rest.iter().filter(|one| (one.effect.verdict, one.effect.why) == wanted) {
            let phrase = phrase(one);
            let name = if has_figures {
                format!("{} ({})", one.name, plain(one.effect))
            } else {
                one.name.to_owned()
            };
            match groups.last_mut() {
                Some((last, names)) if *last == phrase => names.push(name),
                _ => groups.push((phrase, vec![name])),
            }
        }
    }
    let joined = groups.into_iter().map(|(phrase, names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (phrase, list(&names), names.len())
    });
    joined.collect()
}

/// The order of the verdicts.
const ORDER: [(Verdict, Option<Why>); 10] = [
    (Verdict::Above, None),
    (Verdict::Below, None),
    (Verdict::SmallButReal, None),
    (Verdict::Equivalent, None),
    (Verdict::Inconclusive, Some(Why::Wide)),
    (Verdict::Inconclusive, Some(Why::ShapeDependent)),
    (Verdict::Inconclusive, Some(Why::Family)),
    (Verdict::Inconclusive, Some(Why::OneRun)),
    (Verdict::Inconclusive, Some(Why::NoSpread)),
    (Verdict::Inconclusive, None),
];

/// Returns the phrase for all variants of this verdict.
fn phrase(single: &Single<'_>) -> String {
    let Single { claim, effect, margin, family, .. } = single;
    let margin = declared(*margin);
    let word = |text: &str| text.split(' ').next().unwrap_or(text).to_owned();
    match effect.verdict {
        Verdict::Above => format!("{{}} {} {}", claim.verb, word(claim.more)),
        Verdict::Below => format!("{{}} {} {}", claim.verb, word(claim.less)),
        Verdict::SmallButReal => {
            format!("a real difference, by estimate within {margin}, for {{}}")
        }
        Verdict::Equivalent => format!("no difference beyond {margin} for {{}}"),
        Verdict::Inconclusive => match effect.why {
            None => "inconclusive for {}".to_owned(),
            Some(Why::Wide) => "no detectable difference for {}".to_owned(),
            Some(Why::ShapeDependent) => {
                "inconclusive for {}: it depends on the shape of the noise".to_owned()
            }
            Some(Why::Family) => {
                format!("inconclusive for {{}}: it does not stand out among {}", among(*family))
            }
            Some(Why::OneRun) => "too few runs for a verdict on {}".to_owned(),
            Some(Why::NoSpread) => {
                "no verdict on {}: the runs of each do not differ at all, so the noise is not known"
                    .to_owned()
            }
        },
    }
}
