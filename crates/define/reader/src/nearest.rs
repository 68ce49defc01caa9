//! Suggestions for mistyped words.

/// Returns the known word nearest to a possible typo.
///
/// Near is a Damerau-Levenshtein distance of at most a third of the word, and at least 1; capital
/// letters make none.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.len() / 3).max(1);
    let lower = word.to_lowercase();
    let distance = |candidate: &str| {
        [word, &lower].map(|word| strsim::damerau_levenshtein(word, candidate)).into_iter().min()
    };
    known
        .into_iter()
        .filter_map(|candidate| Some((distance(candidate)?, candidate)))
        .filter(|(distance, _)| *distance <= limit)
        // Of two at the same distance, the one that continues the word.
        .min_by_key(|(distance, name)| (*distance, !name.starts_with(&lower), *name))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_gets_a_suggestion_and_an_unrelated_word_none() {
        let known = ["readrandom", "fillseq", "settle"];
        assert_eq!(nearest("raedrandom", known), Some("readrandom"));
        assert_eq!(nearest("filseq", known), Some("fillseq"));
        assert_eq!(nearest("vacuum", known), None);
        assert_eq!(nearest("FillSeq", known), Some("fillseq"));
        assert_eq!(nearest("row", ["raw", "rows"]), Some("rows"));
    }
}
