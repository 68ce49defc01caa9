//! A checked experiment with source positions.

use std::collections::BTreeSet;
use std::fmt;

use application::StatementPlaces;
use model::sql::StatementOwner;
use model::{Dialect, Experiment, Options, Variant};
use reader::error::{PlanError, Source};
use reader::nearest;
use reader::place::Place;

use crate::profile::KnownOptions;
use crate::settings::{NAME, OPTIONAL, of_engines};
use crate::spec::File;
use crate::unknown::place_of;

/// A checked experiment with source positions for later errors.
#[derive(Clone)]
pub struct Checked {
    /// The experiment.
    pub experiment: Experiment,
    /// The sizes chosen for this machine, in one line.
    pub chosen: Option<String>,
    /// Names of the file's sizes.
    pub sizes: Vec<String>,
    /// What will be left unknown, a line each.
    pub warnings: Vec<String>,
    /// Names of the optional variants that were left out.
    pub left_out: Vec<String>,
    pub(crate) source: Source,
    /// Places of the application's statements in its own file.
    pub(crate) statements: StatementPlaces,
    /// The file, with the command line's settings.
    pub(crate) file: File,
    /// Place of each step's load: its rate, its limit, or the step itself.
    pub(crate) loads: Vec<Place>,
    /// Place of the client factor; empty when it is not in a file.
    pub(crate) clients: Place,
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &mut f.debug_struct("Checked");
        shown.field("experiment", &self.experiment).field("source", &self.source);
        shown.finish_non_exhaustive()
    }
}

impl Checked {
    /// Returns the variants that may be left out.
    pub fn optional(&self) -> impl Iterator<Item = &Variant> {
        let tables = self.file.variants.iter();
        let optional = tables.filter(|table| table.value(OPTIONAL) == Some(true));
        optional.filter_map(|table| self.experiment.variant(table.text(NAME)))
    }

    /// Returns the error of an option that its variant's engine rejected.
    ///
    /// `reason` is the engine's message. An option of another engine in `known` is reported as
    /// such.
    pub fn option_refusal(
        &self,
        variant: &str,
        option: &str,
        reason: &str,
        known: &KnownOptions,
    ) -> PlanError {
        let place = self.written(variant, option);
        // An option that is set, but not in the file, comes from the profile.
        let found = self.experiment.variant(variant).filter(|_| place.is_none());
        let found = found.filter(|found| found.options.get(option).is_some());
        let profile = found.and_then(|found| found.profile.as_ref());
        let origin = profile.map_or(String::new(), |name| format!(" of profile `{name}`"));
        let message = format!("option `{option}`{origin} is rejected");
        let error = match place {
            Some(place) => {
                let message = format!("variant {variant}: {message}");
                self.error(message, place, "rejected by the engine")
            }
            None => self.variant_error(variant, &message),
        };
        let engine = self.experiment.variant(variant).map_or("", |found| &found.build.engine);
        error.remedy(match meant(option, engine, known) {
            Some(meant) => format!("the engine reports: {reason}\n{meant}"),
            None => format!("the engine reports: {reason}"),
        })
    }

    /// Returns the error of a setting that this machine cannot provide.
    ///
    /// The message starts with the variant's name, after the flag if the setting is typed.
    pub fn setting_refusal(
        &self,
        variant: &str,
        setting: &str,
        message: &str,
        remedy: &str,
    ) -> PlanError {
        let place = self.written(variant, setting).unwrap_or_else(|| self.place(variant));
        let message = format!("variant {variant}: {message}");
        self.error(message, place, "requested here").remedy(remedy)
    }

    /// Returns the error of a load that this machine cannot offer.
    ///
    /// `step_index` counts the experiment's steps from 0.
    pub fn load_refusal(&self, step_index: usize, message: &str, remedy: &str) -> PlanError {
        let name = self.experiment.steps.get(step_index).map_or("", |step| step.name.as_str());
        let place = self.loads.get(step_index).cloned().unwrap_or_default();
        self.error(format!("step {name}: {message}"), place, "requested here").remedy(remedy)
    }

    /// Returns the error of a statement that the variant's server rejects, at its line.
    ///
    /// `index` counts the statements of `owner` from 0, each as often as it is executed.
    pub fn statement_refusal(
        &self,
        variant: &str,
        owner: &StatementOwner,
        index: usize,
        reason: &str,
    ) -> PlanError {
        let found = self.experiment.variant(variant);
        let engine = found.map_or("", |found| &found.build.engine);
        let is_myrocks = found.is_some_and(|found| uses_myrocks(&found.options));
        let message = format!("variant {variant}: {owner}: statement {} is rejected", index + 1);
        let error = PlanError::new(message).remedy(format!("{engine} reports: {reason}"));
        let of_dialect = |dialect| self.statements.of(owner, dialect, is_myrocks).get(index);
        match Dialect::of_engine(engine).and_then(of_dialect) {
            Some(place) => self.statements.point(error, place),
            None => error,
        }
    }

    /// Returns the error of a client count that this machine cannot run.
    pub fn clients_refusal(&self, message: &str, remedy: &str) -> PlanError {
        self.error(message, self.clients.clone(), "requested here").remedy(remedy)
    }

    /// Returns the place of a variant's key or option; a control has the places of the base.
    fn written(&self, variant: &str, key: &str) -> Option<Place> {
        let is_control = self.experiment.variant(variant).is_some_and(|found| found.is_control);
        let name = if is_control { self.experiment.base.as_str() } else { variant };
        let table = self.file.variants.iter().find(|table| table.text(NAME) == name)?;
        let option = table.pairs.iter().find(|(name, _)| name.value == key);
        let setting = || Some(&table.by_key(key).or(self.file.benchmark.by_key(key))?.place);
        option.map(|(name, _)| &name.place).or_else(setting).cloned()
    }

    /// Returns the place of a variant's name.
    fn place(&self, variant: &str) -> Place {
        self.written(variant, NAME.key).unwrap_or_default()
    }

    fn error(&self, message: impl Into<String>, place: Place, label: &str) -> PlanError {
        PlanError::new(message).at(place, label).within(&self.source)
    }

    /// Returns an error about a whole variant, at its name.
    pub fn variant_error(&self, variant: &str, message: &str) -> PlanError {
        let place = self.place(variant);
        self.error(format!("variant {variant}: {message}"), place, "this variant")
    }
}

/// Returns a suggestion for a rejected option.
fn meant(option: &str, engine: &str, known: &KnownOptions) -> Option<String> {
    let own: Vec<&str> = known.get(engine).into_iter().flatten().map(String::as_str).collect();
    if own.contains(&option) {
        return None;
    }
    // A key of the file, whatever other engines call by its name.
    let is_setting = of_engines().any(|setting| setting.key == option);
    if let Some(place) = place_of(option, None).filter(|_| is_setting) {
        return Some(format!("{place}, and not among the engine's options"));
    }
    let has_it = |(_, names): &(_, &BTreeSet<String>)| names.contains(option);
    let others: Vec<_> = known.iter().filter(has_it).map(|(engine, _)| engine.as_str()).collect();
    if !others.is_empty() {
        return Some(format!("it is an option of {}", others.join(" and ")));
    }
    nearest(option, own).map(|word| format!("did you mean `{word}`?"))
}

/// Returns whether a server with these options makes tables of `MyRocks`.
fn uses_myrocks(options: &Options) -> bool {
    let is_engine = |name: &str| name.replace('-', "_").ends_with("default_storage_engine");
    options.iter().any(|(name, value)| is_engine(name) && value.eq_ignore_ascii_case("rocksdb"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::checked;

    #[test]
    fn an_error_points_at_the_rejected_text() {
        use miette::Diagnostic as _;
        let settings = "\"tree\"\ncache = \"1MiB\"\ndirect_io = true";
        let checked = checked("\"tree\"", &format!("{settings}\n[variant.options]\nsize = 3"));
        let checked = checked.unwrap();
        let option_places = |error: &PlanError| {
            let label = error.labels().and_then(|mut labels| labels.next()).expect("a place");
            checked.source.text[label.offset()..label.offset() + label.len()].to_owned()
        };
        let names = ["sizes", "color"].map(str::to_owned);
        let known = KnownOptions::from([("tree".to_owned(), names.into())]);
        let option = checked.option_refusal("a", "size", "no such option", &known);
        assert_eq!(option_places(&option), "size");
        let help = option.help().expect("a remedy").to_string();
        assert_eq!(help, "the engine reports: no such option\ndid you mean `sizes`?");
        // The reason may name other settings.
        let both = "it always uses the page cache";
        let setting = checked.setting_refusal("a", "direct_io", both, "");
        assert_eq!(option_places(&setting), "true");
        assert_eq!(option_places(&checked.variant_error("a", "no cache")), "\"a\"");
    }

    #[test]
    fn an_option_of_another_engine_is_reported_as_such() {
        let of = |engine: &str, names: &[&str]| {
            (engine.to_owned(), names.iter().map(|name| (*name).to_owned()).collect())
        };
        let known = KnownOptions::from([of("log", &["size", "buffers"]), of("tree", &["page"])]);
        let meant = |option| meant(option, "tree", &known);
        assert_eq!(meant("size").as_deref(), Some("it is an option of log"));
        assert_eq!(meant("pgae").as_deref(), Some("did you mean `page`?"));
        let of_file =
            "`cache` belongs in [benchmark] or [[variant]], and not among the engine's options";
        assert_eq!(meant("cache").as_deref(), Some(of_file));
        // Its own option, with a rejected value.
        assert_eq!(meant("page"), None);
        assert_eq!(meant("speed"), None);
    }

    #[test]
    fn machine_limits_point_at_the_requesting_text() {
        use miette::Diagnostic as _;
        let file = "\"10k\"\nload = { rate = \"5k/s\", sla = \"p99 < 2ms\" }\n\
                    [factors]\nclients = \"sweep\"";
        let checked = checked("\"10k\"", file).unwrap();
        let option_places = |error: &PlanError| {
            let label = error.labels().and_then(|mut labels| labels.next()).expect("a place");
            checked.source.text[label.offset()..label.offset() + label.len()].to_owned()
        };
        let fast = checked.load_refusal(2, "too fast", "use less");
        assert_eq!(fast.to_string(), "step readwhilewriting: too fast");
        assert_eq!(option_places(&fast), "\"5k/s\"");
        assert_eq!(option_places(&checked.load_refusal(0, "no", "")), "\"fillseq\"");
        assert_eq!(option_places(&checked.clients_refusal("no rights", "")), "\"sweep\"");
    }
}
