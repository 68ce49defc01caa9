//! Places of labels in their order: of numbers, times and versions.

/// Place of a label among the labels of one column.
///
/// Parts are compared one by one. A version is its numbers, then what follows them.
pub(super) type Rank = Vec<Part>;

/// One part of a rank, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A pre-release by its name: before the release.
    Before(String),
    /// The end of a version.
    End,
    /// A patch, a revision or commits after the release.
    After,
    /// A number, or nanoseconds since 1970.
    Number(i128),
}

/// Integer digits from which on a number with a fraction is a time since 1970, and no version.
const EPOCH_DIGITS: usize = 9;
/// Decimals of a number that count.
const DECIMALS: usize = 9;
/// Names of pre-releases that follow a number at once, with the names that sort them.
const BEFORE: [(&str, &str); 9] = [
    ("a", "alpha"),
    ("alpha", "alpha"),
    ("b", "beta"),
    ("beta", "beta"),
    ("c", "rc"),
    ("dev", ""),
    ("m", "milestone"),
    ("pre", "pre"),
    ("rc", "rc"),
];
/// Names of what follows a release.
const AFTER: [&str; 7] = ["p", "patch", "pl", "post", "r", "sp", "u"];

/// Returns the rank of an index, or of a time since 1970 in any unit.
pub(super) fn number(label: &str) -> Option<Rank> {
    let (sign, size) = label.strip_prefix('-').map_or((1, label), |size| (-1, size));
    let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
    let has_fraction = size.len() > whole.len();
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !are_digits(whole) || has_fraction && !(are_digits(fraction) && whole.len() >= EPOCH_DIGITS)
    {
        return None;
    }
    let scaled = format!("{whole}{fraction:0<places$.places$}", places = DECIMALS);
    let scaled: i128 = scaled.parse().ok()?;
    Some(vec![Part::Number(sign * scaled)])
}

/// Returns the text before a version, and the rank of the version.
///
/// A version is numbers with points, after any text without digits; then pre-releases, patches,
/// revisions, or the commits that `git describe` counts. Its hash does not count.
///
/// Source: [Preston-Werner 2013] for pre-releases; revisions after the release, as in packages of
/// Debian.
pub(super) fn version(label: &str) -> Option<(&str, Rank)> {
    let (prefix, rest) = label.split_at(label.find(|c: char| c.is_ascii_digit())?);
    let mut rest = without_hash(rest);
    let mut rank = Rank::new();
    loop {
        let digits = leading(rest, |c| c.is_ascii_digit());
        rank.push(Part::Number(digits.parse().ok()?));
        rest = &rest[digits.len()..];
        match rest.strip_prefix(['.', '_']) {
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
            Some(_) | None => break,
        }
    }
    while rank.len() > 1 && rank.last() == Some(&Part::Number(0)) {
        rank.pop();
    }
    suffixes(rest, &mut rank)?;
    Some((prefix.strip_suffix(['v', 'V']).unwrap_or(prefix), rank))
}

/// Adds what follows the numbers of a version; `None` where it is of no known kind.
fn suffixes(mut rest: &str, rank: &mut Rank) -> Option<()> {
    let mut is_after_name = false;
    while !rest.is_empty() {
        let bare = rest.strip_prefix(['.', '_', '-', '~', '+', ' ']).unwrap_or(rest);
        let separator = rest[..rest.len() - bare.len()].chars().next();
        let digits = leading(bare, |c| c.is_ascii_digit());
        let name = leading(bare, char::is_alphabetic);
        match (digits.is_empty(), name.is_empty()) {
            (false, _) => {
                if !is_after_name {
                    let is_before = separator == Some('~');
                    rank.push(if is_before { Part::Before(String::new()) } else { Part::After });
                }
                rank.push(Part::Number(digits.parse().ok()?));
            }
            (true, false) => {
                let is_last = bare.len() == name.len();
                let part = named(name, separator, is_last, rank)?;
                rank.push(part);
            }
            (true, true) => return None,
        }
        is_after_name = digits.is_empty();
        rest = &bare[digits.len() + name.len()..];
    }
    rank.push(Part::End);
    Some(())
}

/// Returns the part that a name stands for.
///
/// Without a separator only known names directly after the release count, or a last letter, as of
/// OpenSSL 1.1.1w: hashes are no versions.
fn named(name: &str, separator: Option<char>, is_last: bool, rank: &mut Rank) -> Option<Part> {
    let lower = name.to_lowercase();
    let is_release = rank.iter().all(|part| matches!(part, Part::Number(_)));
    if separator.is_none() && !is_release {
        return None;
    }
    if separator == Some('+') || AFTER.contains(&&*lower) {
        return Some(Part::After);
    }
    let letter = lower.chars().next().filter(|_| is_last && lower.chars().count() == 1);
    if let (None, Some(letter)) = (separator, letter) {
        rank.push(Part::After);
        return Some(Part::Number(i128::from(u32::from(letter))));
    }
    let known = BEFORE.iter().find(|(before, _)| *before == lower);
    match (known, separator) {
        (Some((_, sorted)), _) => Some(Part::Before((*sorted).to_owned())),
        (None, Some(_)) => Some(Part::Before(lower)),
        (None, None) => None,
    }
}

/// Returns a description of git without its hash and its mark of changed files.
fn without_hash(text: &str) -> &str {
    let text =
        ["-dirty", "-broken"].iter().find_map(|mark| text.strip_suffix(mark)).unwrap_or(text);
    let is_hash = |hash: &str| hash.len() >= 4 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    text.rsplit_once("-g")
        .filter(|(_, hash)| is_hash(hash))
        .map_or(text, |(described, _)| described)
}

/// Returns the characters at the start of a text that are of a kind.
fn leading(text: &str, is_of_kind: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !is_of_kind(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(labels: &[&str]) {
        let ranks: Vec<_> = labels.iter().map(|label| version(label).expect("a version")).collect();
        for (pair, labels) in ranks.windows(2).zip(labels.windows(2)) {
            assert!(pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1, "{labels:?}: {pair:?}");
        }
    }

    #[test]
    fn versions_compare_by_their_numbers_and_pre_releases_come_first() {
        rising(&["8.9", "8.10", "8.11", "10.0"]);
        rising(&["v8.9.0-rc1", "8.9", "8.9.0-1", "8.9.1", "8.9.1.1"]);
        rising(&["17dev", "17beta1", "17beta2", "17rc1", "17.0", "17.1"]);
        rising(&["1.0~rc1", "1.0", "1.0.post1", "1.0.1-SNAPSHOT", "1.0.1"]);
        rising(&["1.1.1", "1.1.1a", "1.1.1w", "1.1.2"]);
        rising(&["REL_16_BETA1", "REL_16_RC1", "REL_16_0", "REL_16_2"]);
        rising(&["build-2", "build-10", "build-11"]);
        rising(&["rocksdb@9.10.0", "rocksdb@10.2.1"]);
        assert_eq!(version("8.9"), version("8.9.0"));
    }

    #[test]
    fn descriptions_of_git_count_the_commits_after_a_tag() {
        rising(&[
            "v8.9-rc1",
            "v8.9-rc1-3-gabcd",
            "v8.9",
            "v8.9-9-gf00d1e5",
            "v8.9-10-g0123abc",
            "v8.10",
        ]);
        assert_eq!(version("v8.9-9-gf00d1e5-dirty"), version("v8.9-9-gf00d1e5"));
    }

    #[test]
    fn hashes_and_names_are_no_versions() {
        for label in ["beef", "4a5b6c7", "12e4567", "8.9/2", "8..9", "1e5", "1,5", "main", ""] {
            assert_eq!(version(label), None, "{label}");
        }
    }

    #[test]
    fn times_since_1970_have_any_unit_and_fractions() {
        let rising =
            ["-5", "7", "1700000000", "1700000000.25", "1700000000.3", "1700000000123456789"];
        let ranks: Vec<_> = rising.map(|label| number(label).expect("a number")).into();
        assert!(ranks.is_sorted_by(|one, other| one < other), "{ranks:?}");
        for label in ["8.9", "1e9", "", "-", "1700000000.", "7th", "+5"] {
            assert_eq!(number(label), None, "{label}");
        }
    }
}
