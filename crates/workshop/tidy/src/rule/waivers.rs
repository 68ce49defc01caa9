//! Shipped experiments waive a rule of lint only for a reason of the post or of the question.

use crate::repo::Repo;
use crate::rule::violation::Violation;

/// The folder of shipped experiments.
const EXPERIMENTS: &str = "experiments/";
/// What a reason names: the publication, its author, or the question.
const NAMED: [&str; 3] = ["post", "author", "question"];

/// Returns a violation for every waiver without such a reason.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let files = repo.files().filter(|file| file.path.starts_with(EXPERIMENTS) && file.is("toml"));
    let mut found = Vec::new();
    for file in files {
        let Ok(table) = file.text.parse::<toml::Table>() else { continue };
        let waived = table.get("waive").and_then(toml::Value::as_array);
        for waiver in waived.into_iter().flatten() {
            let text = |key| waiver.get(key).and_then(toml::Value::as_str).unwrap_or_default();
            let (code, reason) = (text("code"), text("reason"));
            let mut parts = reason.split(|letter: char| !letter.is_alphanumeric());
            if !parts.any(|part| NAMED.contains(&part)) {
                let message = format!(
                    "{code} is waived as `{reason}`: state what the post or the question has to do \
                     with it"
                );
                found.push(Violation::of(&file.path, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_post_or_the_question() {
        let waiver = |reason: &str| {
            format!(
                "[experiment]\nname = \"a\"\n\n[[waive]]\ncode = \"A001\"\nreason = \"{reason}\"\n"
            )
        };
        let right = waiver("the post measured commit without sync");
        let wrong = waiver("postgres is faster");
        let repo = Repo::of(&[
            ("experiments/right.toml", right.as_str()),
            ("experiments/wrong.toml", wrong.as_str()),
            ("examples/other.toml", wrong.as_str()),
        ]);
        let found = check(&repo);
        let paths: Vec<_> = found.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(paths, ["experiments/wrong.toml"]);
    }
}
