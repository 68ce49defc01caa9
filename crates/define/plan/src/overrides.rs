//! Settings and variants typed on the command line.

use model::Waiver;
use reader::error::{Errors, PlanError};
use reader::place::{Place, Placed};
use reader::syntax::Pairs;

use crate::preset::PRESETS;
use crate::settings::{CODE, Key, REASON, Setting, Table, WORKLOAD};
use crate::spec::{File, Section, replace_pairs};

/// Values that replace the file's, parsed in the same way.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Name of the size whose settings replace the file's, before those typed.
    pub size: Option<String>,
    /// Settings and their texts.
    pub settings: Vec<(&'static Setting, String)>,
    /// Parameters of the application: `NAME=VALUE`.
    pub parameters: Vec<String>,
    /// Waived rules with reasons, added to the waivers of the file.
    pub waivers: Vec<Waiver>,
    /// Names of optional variants that are left out.
    pub left_out: Vec<String>,
}

/// The variants typed on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuickVariants {
    /// The engine builds: `NAME` or `NAME@VERSION`.
    pub engines: Vec<String>,
    /// Profile of those that it applies to.
    pub profile: Option<String>,
    /// Options of all of them: `NAME=VALUE`.
    pub options: Vec<String>,
}

impl Overrides {
    /// Returns whether an application is typed: its steps need not be.
    pub fn has_application(&self) -> bool {
        let is_preset = |name| PRESETS.iter().any(|preset| preset.name == name);
        self.get(WORKLOAD.key).is_some_and(|name| !is_preset(name))
    }

    /// Returns the text of the setting of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.settings.iter().rev().find(|(one, _)| one.key == key);
        found.map(|(_, text)| text.as_str())
    }

    /// Returns the value of a setting, if it has a valid one.
    pub(crate) fn value<T>(&self, key: &Key<T>) -> Option<T> {
        (key.parse)(self.get(key.key)?).ok()
    }

    /// Replaces the file's values, and adds the errors of those that are wrong.
    pub(crate) fn apply(&self, file: &mut File, errors: &mut Errors) {
        for (setting, text) in &self.settings {
            let section = match setting.tables.first() {
                Some(Table::Experiment) => &mut file.experiment,
                Some(Table::Factors) => &mut file.factors,
                Some(Table::Load) => file.benchmark.load_table(),
                _ => &mut file.benchmark,
            };
            let typed = Placed::new(text.clone(), Place::flag(&setting.flag()));
            section.read(setting, Ok(typed), errors);
            // Errors of a load that is typed as a whole name a flag of it.
            if section.place == Place::Unwritten {
                section.place = Place::flag(&setting.flag());
            }
        }
        for Waiver { code, reason } in &self.waivers {
            file.waivers.retain(|waiver| !waiver.text(CODE).eq_ignore_ascii_case(code));
            let mut waiver = Section::default();
            waiver.set(CODE, code, Place::flag("waive"));
            waiver.set(REASON, reason, Place::flag("waive"));
            file.waivers.push(waiver);
        }
        let typed = pairs(&self.parameters, "parameter", errors);
        replace_pairs(&mut file.benchmark.pairs, typed);
    }
}

/// Parses the NAME=VALUE arguments of `flag`.
pub(crate) fn pairs(typed: &[String], flag: &str, errors: &mut Errors) -> Pairs {
    let place = Place::flag(flag);
    let mut pair = |typed: &String| {
        let pair = typed.split_once('=');
        if pair.is_none() {
            errors.push(PlanError::here(&place, format!("`{typed}` is not NAME=VALUE")));
        }
        let (name, value) = pair?;
        let placed = |text: &str| Placed::new(text.to_owned(), &place);
        Some((placed(name), placed(value)))
    };
    typed.iter().filter_map(&mut pair).collect()
}
