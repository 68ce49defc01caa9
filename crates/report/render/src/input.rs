//! Input of every report.

use analysis::profile::StepProfile;
use analysis::{
    Comparison, RateCurve, Scaling, StepComparison, StorageUse, effective_hosts, rate_curves,
    scalability,
};
use lint::LintFinding;
use model::record::IntervalRecord;
use model::{Better, Host, Label, Load, Manifest, RunRecord, StepRecord, Variant};
use stats::{Effect, Verdict};

use crate::document::Tone;
use crate::figure;
use crate::meta::Meta;

/// One experiment's records with their comparison.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The experiment.
    pub manifest: &'a Manifest,
    /// Its runs.
    pub runs: &'a [RunRecord],
    /// Each run's intervals, in the order of `runs`; may be empty.
    pub intervals: &'a [Vec<IntervalRecord>],
    /// The comparison of these runs.
    pub comparison: &'a Comparison,
    /// Lint findings, the most severe first.
    pub findings: &'a [LintFinding],
    /// How much of the device's rates the steps use; empty where no profile is stored.
    pub storage: &'a [StorageUse],
    /// Profiles of the base's step with most samples, of every variant; empty without any.
    pub profiles: &'a [StepProfile],
    /// The profiles of this step that cannot be read, each with the reason.
    pub damaged_profiles: &'a [String],
}

impl<'a> ReportInput<'a> {
    /// Returns the host of the runs: the first machine of a fleet, else the manifest's.
    pub(crate) fn host(&self) -> &'a Host {
        effective_hosts(&self.manifest.host, self.runs)[0]
    }
}

/// A comparison with the runs, findings and curves behind it.
#[derive(Debug, Clone)]
pub struct Compared<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) meta: &'a Meta,
    /// Lint findings, the most severe first.
    pub(crate) findings: &'a [LintFinding],
    /// How far it can be trusted.
    pub(crate) label: Label,
    /// The runs that count.
    runs: Vec<&'a RunRecord>,
    /// How response times grow with the rate.
    pub(crate) curves: Vec<RateCurve>,
    /// How throughput grows with clients.
    pub(crate) scalings: Vec<Scaling>,
}

impl<'a> Compared<'a> {
    /// Returns the comparison of `runs`, all of `host` or of its fleet, with curves and findings.
    pub fn of(
        comparison: &'a Comparison,
        meta: &'a Meta,
        runs: &'a [RunRecord],
        host: &Host,
        findings: &'a [LintFinding],
    ) -> Self {
        Self {
            comparison,
            meta,
            findings,
            label: lint::comparison_label(comparison, findings),
            runs: runs.iter().filter(|run| run.is_counted()).collect(),
            curves: rate_curves(runs),
            scalings: scalability(runs, effective_hosts(host, runs)[0]),
        }
    }

    /// Returns how far it can be trusted.
    pub const fn label(&self) -> Label {
        self.label
    }

    /// Returns what a part of the comparison shows: its label is that of the whole.
    pub(crate) fn narrowed(&self, part: &'a Comparison) -> Self {
        Self { comparison: part, ..self.clone() }
    }

    /// Returns the verdict of an effect; `None` where no verdict may be drawn.
    pub(crate) fn verdict(&self, effect: &Effect) -> Option<Verdict> {
        (!effect.is_blocked && self.label != Label::Nothing).then_some(effect.verdict)
    }

    /// Returns whether no verdict may be drawn at all.
    pub(crate) fn has_no_verdict(&self) -> bool {
        let mut effects = self.comparison.effects();
        self.label >= Label::Bogus && effects.all(|effect| self.verdict(effect).is_none())
    }

    /// Returns a variant's engine and version as its runs report them; `None` without a run.
    pub(crate) fn build(&self, variant: &str) -> Option<String> {
        let run = self.runs.iter().find(|run| run.cell.variant == variant)?;
        let reported = run.identity.as_ref().map(|it| format!("{} {}", it.engine, it.version));
        Some(reported.unwrap_or_else(|| run.variant.build.to_string()))
    }

    /// Returns a variant as its runs have it; `None` without a run.
    pub(crate) fn variant(&self, name: &str) -> Option<&'a Variant> {
        self.runs.iter().map(|run| &run.variant).find(|variant| variant.name == name)
    }

    /// Returns a ratio with the sign of its verdict, alone where no verdict may be drawn.
    pub(crate) fn versus(&self, effect: &Effect) -> String {
        let ratio = figure::digits(effect.ratio);
        match self.verdict(effect) {
            Some(_) => format!("{ratio} {}", figure::sign(effect)),
            None => ratio,
        }
    }

    /// Returns whether an effect is good or bad news; plain where it is neither or not known.
    pub(crate) fn tone(&self, better: Better, effect: &Effect) -> Tone {
        match (better, self.verdict(effect)) {
            (Better::Higher, Some(Verdict::Above)) | (Better::Lower, Some(Verdict::Below)) => {
                Tone::Better
            }
            (Better::Higher, Some(Verdict::Below)) | (Better::Lower, Some(Verdict::Above)) => {
                Tone::Worse
            }
            _ => Tone::Plain,
        }
    }

    /// Returns whether a variant is the control, a copy of the base.
    pub(crate) fn is_control(&self, variant: &str) -> bool {
        self.comparison.control.as_deref() == Some(variant)
    }

    /// Returns the records behind one step of one variant.
    pub(crate) fn records(&self, step: &StepComparison, variant: &str) -> Vec<&'a StepRecord> {
        let of_cell = |run: &&&RunRecord| {
            run.cell.variant == variant && run.cell.clients == step.clients.level
        };
        let own = self.runs.iter().filter(of_cell).flat_map(|run| &run.steps);
        own.filter(|record| record.index == step.index).collect()
    }

    /// Returns the records behind a step, by variant.
    pub(crate) fn all_records(&self, step: &StepComparison) -> Vec<&'a StepRecord> {
        let variants = self.comparison.variants.iter();
        variants.flat_map(|variant| self.records(step, &variant.name)).collect()
    }

    /// Returns whether the step was an open loop or a search in any run.
    pub(crate) fn has_track(&self, step: &StepComparison) -> bool {
        let mut records = self.all_records(step).into_iter();
        records.any(|record| record.arrivals.is_some() || record.search.is_some())
    }

    /// Returns the steps in which a rate was searched, whether or not one was found.
    pub(crate) fn searched_steps(&self) -> Vec<&'a StepComparison> {
        let is_search = |record: &StepRecord| matches!(record.step.load, Load::FindRate(_));
        let is_searched =
            |step: &&StepComparison| self.all_records(step).into_iter().any(is_search);
        self.comparison.steps.iter().filter(is_searched).collect()
    }
}
