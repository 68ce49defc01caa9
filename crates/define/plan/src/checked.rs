//! An experiment that was checked, and where its words stand.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::Experiment;

use crate::error::{PlanError, Source};
use crate::nearest::nearest;
use crate::profile::KnownOptions;

/// Settings that every engine may be asked for, as written in files and named by drivers.
pub(crate) const SETTINGS: &[&str] =
    &["durability", "cache", "direct_io", "compression", "background_jobs", "allocator"];

/// A checked experiment that still knows where its words stand, for errors found later.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The experiment.
    pub experiment: Experiment,
    pub(crate) source: Source,
    /// Where each variant's options and settings stand, by variant and name.
    pub(crate) words: BTreeMap<(String, String), Range<usize>>,
    pub(crate) variants: BTreeMap<String, Range<usize>>,
    /// Where each step's load stands: its rate, its limit, or the step itself.
    pub(crate) loads: Vec<Range<usize>>,
    /// Where the client factor stands; empty when it is not in a file.
    pub(crate) clients: Range<usize>,
}

impl Checked {
    /// Returns the error of an engine that refused a variant, at the words it refused.
    ///
    /// `option` is the culprit when it is one option; `reason` is in the engine's own words. An
    /// option of another engine in `known` is told to be that.
    #[must_use]
    pub fn refusal(
        &self,
        variant: &str,
        option: Option<&str>,
        reason: &str,
        known: &KnownOptions,
    ) -> PlanError {
        let place_of = |word: &str| self.words.get(&(variant.to_owned(), word.to_owned())).cloned();
        let Some(option) = option else {
            let error = PlanError::new(format!("variant {variant}: {reason}"));
            // What is refused is named first; the words after it may hold other names.
            let named = |name: &&str| Some((reason.find(*name)?, place_of(name)?));
            let refused = SETTINGS.iter().filter_map(named).min_by_key(|(at, _)| *at);
            return match refused.map(|(_, place)| place) {
                Some(place) => error.at(&self.source, place, "asked for here").remedy(
                    "leave it out, or look with `assay engine show` for a build that has it",
                ),
                None => error.at(&self.source, self.place(variant), "this variant"),
            };
        };
        let place = place_of(option);
        // An option that is set, but nowhere in the file, was brought in by the profile.
        let found = self.experiment.variant(variant).filter(|_| place.is_none());
        let found = found.filter(|found| found.options.get(option).is_some());
        let profile = found.and_then(|found| found.profile.as_ref());
        let origin = profile.map_or(String::new(), |name| format!(" of profile `{name}`"));
        let error =
            PlanError::new(format!("variant {variant}: option `{option}`{origin} is refused"));
        let error = match place {
            Some(place) => error.at(&self.source, place, "refused by the engine"),
            None => error.at(&self.source, self.place(variant), "this variant"),
        };
        let engine = self.experiment.variant(variant).map_or("", |found| &found.build.engine);
        error.remedy(match meant(option, engine, reason, known) {
            Some(meant) => format!("the engine says: {reason}\n{meant}"),
            None => format!("the engine says: {reason}"),
        })
    }

    /// Returns the error of a machine that lacks what a setting asks for, at the setting's word.
    ///
    /// The setting is told with its variant's name before it.
    #[must_use]
    pub fn setting_refusal(
        &self,
        (variant, setting): (&str, &str),
        message: &str,
        remedy: &str,
    ) -> PlanError {
        let word = self.words.get(&(variant.to_owned(), setting.to_owned())).cloned();
        PlanError::new(format!("variant {variant}: {message}"))
            .at(&self.source, word.unwrap_or_else(|| self.place(variant)), "asked for here")
            .remedy(remedy)
    }

    /// Returns the error of a machine that cannot offer a step its load, at the word that asks.
    ///
    /// `step_index` counts the experiment's steps from 0.
    #[must_use]
    pub fn load_refusal(&self, step_index: usize, message: &str, remedy: &str) -> PlanError {
        let name = self.experiment.steps.get(step_index).map_or("", |step| step.name.as_str());
        let place = self.loads.get(step_index).cloned().unwrap_or(0..0);
        PlanError::new(format!("step {name}: {message}"))
            .at(&self.source, place, "asked for here")
            .remedy(remedy)
    }

    /// Returns the error of a machine that cannot have that many clients, at the client factor.
    #[must_use]
    pub fn clients_refusal(&self, message: &str, remedy: &str) -> PlanError {
        PlanError::new(message)
            .at(&self.source, self.clients.clone(), "asked for here")
            .remedy(remedy)
    }

    /// Returns where a variant is named; an empty place when it was not in a file.
    fn place(&self, variant: &str) -> Range<usize> {
        self.variants.get(variant).cloned().unwrap_or(0..0)
    }

    /// Returns an error about a variant as a whole, at its place in the file.
    #[must_use]
    pub fn variant_error(&self, variant: &str, message: &str) -> PlanError {
        PlanError::new(format!("variant {variant}: {message}")).at(
            &self.source,
            self.place(variant),
            "this variant",
        )
    }
}

/// Returns what an option that an engine refused was probably meant to be.
fn meant(option: &str, engine: &str, reason: &str, known: &KnownOptions) -> Option<String> {
    let told = reason.split_once("known: ").map_or("", |(_, known)| known).split(", ");
    let own = known.get(engine).into_iter().flatten().map(String::as_str);
    let own: Vec<&str> = told.chain(own).collect();
    if own.contains(&option) {
        return None;
    }
    let has_it = |(_, names): &(_, &BTreeSet<String>)| names.contains(option);
    let others: Vec<_> = known.iter().filter(has_it).map(|(engine, _)| engine.as_str()).collect();
    if !others.is_empty() {
        return Some(format!("it is an option of {}", others.join(" and ")));
    }
    nearest(option, own).map(|word| format!("did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::checked;

    #[test]
    fn a_refusal_points_at_the_words_that_were_refused() {
        use miette::Diagnostic as _;
        let settings = "\"tree\"\ncache = \"1MiB\"\ndirect_io = true";
        let checked = checked("\"tree\"", &format!("{settings}\n[variant.options]\nsize = 3"));
        let checked = checked.unwrap();
        let words = |error: &PlanError| {
            let label = error.labels().and_then(|mut labels| labels.next()).expect("a place");
            checked.source.text[label.offset()..label.offset() + label.len()].to_owned()
        };
        let nothing = KnownOptions::new();
        let reason = "no such option; known: sizes, color";
        let option = checked.refusal("a", Some("size"), reason, &nothing);
        assert_eq!(words(&option), "size");
        let help = option.help().expect("a remedy").to_string();
        assert_eq!(help, format!("the engine says: {reason}\ndid you mean `sizes`?"));
        assert_eq!(words(&checked.refusal("a", None, "no direct_io here", &nothing)), "true");
        let both = "direct_io: it always uses the page cache";
        assert_eq!(words(&checked.refusal("a", None, both, &nothing)), "true");
        assert_eq!(words(&checked.refusal("a", None, "no luck", &nothing)), "\"a\"");
    }

    #[test]
    fn an_option_of_another_engine_is_told_to_be_that() {
        let of = |engine: &str, names: &[&str]| {
            (engine.to_owned(), names.iter().map(|name| (*name).to_owned()).collect())
        };
        let known = KnownOptions::from([of("log", &["size", "buffers"]), of("tree", &["page"])]);
        let meant = |option| meant(option, "tree", "unknown", &known);
        assert_eq!(meant("size").as_deref(), Some("it is an option of log"));
        assert_eq!(meant("pgae").as_deref(), Some("did you mean `page`?"));
        // Its own, with a value that it refuses.
        assert_eq!(meant("page"), None);
        assert_eq!(meant("speed"), None);
    }

    #[test]
    fn what_the_machine_cannot_do_points_at_the_word_that_asks() {
        use miette::Diagnostic as _;
        let file = "\"10k\"\nload = { rate = \"5k/s\", sla = \"p99 < 2ms\" }\n\
                    [factors]\nclients = \"sweep\"";
        let checked = checked("\"10k\"", file).unwrap();
        let words = |error: &PlanError| {
            let label = error.labels().and_then(|mut labels| labels.next()).expect("a place");
            checked.source.text[label.offset()..label.offset() + label.len()].to_owned()
        };
        let fast = checked.load_refusal(2, "too fast", "ask for less");
        assert_eq!(fast.to_string(), "step readwhilewriting: too fast");
        assert_eq!(words(&fast), "\"5k/s\"");
        assert_eq!(words(&checked.load_refusal(0, "no", "")), "\"fillseq\"");
        assert_eq!(words(&checked.clients_refusal("no rights", "")), "\"sweep\"");
    }
}
