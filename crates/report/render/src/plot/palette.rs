//! Colours that are safe for colour-blind readers.

use std::collections::BTreeMap;

use model::Experiment;

/// Text and whiskers.
pub(crate) const INK: &str = "#222";
/// What went wrong.
pub(crate) const ALARM: &str = "#D55E00";
/// CPU of a server, of client threads, of the engine's own threads, of the rest.
pub(crate) const CPU: [&str; 4] = ["#0072B2", "#56B4E9", "#E69F00", "#bbb"];

/// Client, engine, allocator, kernel and C library in a flame graph.
///
/// Source: [Okabe 2008]; client and engine as in [`CPU`].
pub(crate) const FLAME_GROUPS: [&str; 5] = ["#56B4E9", "#E69F00", "#CC79A7", "#bbb", "#009E73"];
/// What is unchanged, or no function.
pub(crate) const UNCHANGED: &str = "#dcdcdc";
/// Less than before, the least difference first.
///
/// Our choice: grey mixed with a blue on which dark text can be read.
pub(crate) const LESS: [&str; 4] = ["#c4d7e5", "#9fc7e2", "#7ab6de", "#56a5db"];
/// More than before, in the same way with vermilion.
pub(crate) const MORE: [&str; 4] = ["#ead1c2", "#ebb99b", "#eda275", "#ee8a4e"];

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
