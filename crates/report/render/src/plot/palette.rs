//! Colours that are safe for colour-blind readers.

use std::collections::BTreeMap;

use model::Experiment;

/// Text and whiskers.
pub(crate) const INK: &str = "#222";
/// What went wrong.
pub(crate) const ALARM: &str = "#D55E00";
/// CPU of a server, of client threads, of the engine's own threads, of the rest.
pub(crate) const CPU: [&str; 4] = ["#0072B2", "#56B4E9", "#E69F00", "#bbb"];

/// One colour per engine. Yellow is left out (too faint on white), vermilion is the alarm.
///
/// Source: [Okabe 2008], palette of eight colours.
const ENGINES: [&str; 6] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#666666"];

/// Returns the colour of each variant, by name: variants of one engine share theirs.
pub(crate) fn colours(experiment: &Experiment) -> BTreeMap<&str, &'static str> {
    let mut engines: Vec<&str> = Vec::new();
    let mut of_variant = BTreeMap::new();
    for variant in &experiment.variants {
        let engine = variant.build.engine.as_str();
        let known = engines.iter().position(|known| *known == engine);
        let index = known.unwrap_or_else(|| {
            engines.push(engine);
            engines.len() - 1
        });
        of_variant.insert(variant.name.as_str(), ENGINES[index % ENGINES.len()]);
    }
    of_variant
}
