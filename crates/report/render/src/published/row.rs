//! Published findings with what was found here, as lines of a file.
//!
//! The file outlives the results: what was tested on one day stays when they are removed.

use analysis::Reproduction::{self, NotMeasured, SizeUndecided, Undecided};
use analysis::{Held, HeldFinding, Unmeasured};
use model::spreadsheet::of_cell;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::outcome::verdict;
use super::publication::{Finding, publications};
use crate::document::Rows;
use crate::input::Compared;
use model::units::many;

/// Name of the file with every finding.
pub const FINDINGS: &str = "findings.tsv";

/// A line of [`FINDINGS`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) experiment: String,
    pub(super) source: String,
    /// What the publication ran on.
    #[serde(default)]
    pub(super) setup: String,
    /// Intended differences here; may be empty.
    #[serde(default)]
    pub(super) scaled: String,
    /// Codes of the rules that the experiment waives; may be empty.
    #[serde(default)]
    pub(super) waived: String,
    /// Size, runs, label and host.
    pub(super) here: String,
    pub(super) claim: String,
    /// The variants of the ratio: `innodb / postgres`.
    #[serde(default)]
    pub(super) variants: String,
    /// The step, and the metric where it is not the throughput.
    pub(super) step: String,
    /// The ratio with its figures, or the direction.
    pub(super) theirs: String,
    /// The ratio with its interval.
    pub(super) ours: String,
    /// `None` where a warning blocks it.
    pub(super) outcome: Option<Reproduction>,
    /// The author's reasons for a difference, or why the finding is open or not measured.
    pub(super) reasons: String,
    /// Sizes that can decide it; empty where it was tested.
    pub(super) sizes: String,
}

impl Row {
    /// Returns whether the size of the experiment tests the finding.
    pub(super) const fn is_tested(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns whether both are about one finding.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.source, &self.claim) == (&other.source, &other.claim)
    }

    /// Returns whether a finding is tested in another row of `all`, and not in this one.
    pub(super) fn is_tested_elsewhere(&self, all: &[Self]) -> bool {
        !self.is_tested() && all.iter().any(|it| it.is_tested() && it.is_same(self))
    }

    /// Returns the outcome in words.
    pub(super) fn outcome(&self) -> &'static str {
        if self.is_tested() { verdict(self.outcome) } else { "not tested" }
    }

    /// Returns whether it has an outcome other than undecided.
    pub(super) fn is_decided(&self) -> bool {
        let is_open = |it: Reproduction| matches!(it, Undecided | SizeUndecided | NotMeasured);
        self.is_tested() && self.outcome.is_some_and(|it| !is_open(it))
    }

    /// Returns whether a ratio was published, not a direction alone.
    pub(super) fn has_published_ratio(&self) -> bool {
        self.theirs.starts_with(|first: char| first.is_ascii_digit())
    }
}

/// Returns the rows of a file; none of an empty text.
///
/// # Errors
/// When a line is none, or its experiment's name is no name of a page.
pub(super) fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(text.as_bytes());
    let rows: Result<Vec<Row>, csv::Error> = reader.headers().cloned().and_then(|header| {
        let row = |record: csv::StringRecord| {
            record.iter().map(of_cell).collect::<csv::StringRecord>().deserialize(Some(&header))
        };
        reader.records().map(|record| record.and_then(row)).collect()
    });
    let rows = rows.map_err(|error| error.to_string())?;
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && name != "README";
    match rows.iter().find(|row| !is_plain(&row.experiment)) {
        Some(row) => Err(format!("`{}` is not the name of an experiment", row.experiment)),
        None => Ok(rows),
    }
}

/// Returns the file of the rows.
pub(super) fn write(rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let first = json!(rows[0]);
    let names = first.as_object().into_iter().flat_map(Map::keys);
    Rows::of(names.map(String::as_str), rows.iter().map(|row| json!(row))).text(b'\t')
}

/// Returns the rows of an experiment.
pub(super) fn rows_of(compared: &Compared<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (shown, held) in publications(compared).iter().zip(&compared.comparison.published) {
        let here = setup(compared, held);
        for (finding, one) in shown.findings.iter().zip(&held.findings) {
            rows.push(row(compared, held, &here, finding, one));
        }
    }
    rows
}

fn row(
    compared: &Compared<'_>,
    publication: &Held,
    here: &str,
    finding: &Finding<'_>,
    held: &HeldFinding,
) -> Row {
    let waived = compared.meta.waivers.iter().map(|waiver| waiver.code.as_str());
    let metric = finding.other_metric().map(|metric| format!(", {metric}")).unwrap_or_default();
    let is_open = matches!(held.here, Err(Unmeasured::NotAtSize(_)));
    Row {
        experiment: compared.meta.name.clone(),
        source: publication.source.clone(),
        setup: publication.setup.clone(),
        scaled: publication.scaled.clone(),
        waived: waived.collect::<Vec<_>>().join(", "),
        here: here.to_owned(),
        claim: finding.claim.to_owned(),
        variants: format!("{} / {}", finding.variant, finding.base),
        step: format!("{}{metric}", finding.heading),
        theirs: theirs(finding),
        ours: ours(finding),
        outcome: finding.outcome(),
        reasons: finding.reasons.join("; "),
        sizes: if is_open { held.published.sizes.join(", ") } else { String::new() },
    }
}

/// Returns the size, the runs, the host and the label of an experiment.
fn setup(compared: &Compared<'_>, held: &Held) -> String {
    let size = compared.meta.size.as_ref().map(|size| format!("size {size}, "));
    let here = held.findings.iter().filter_map(|one| one.here.as_ref().ok());
    let runs = || here.clone().flat_map(|here| [here.base.n, here.variant.n]);
    let runs = runs().min().zip(runs().max()).map(|(least, most)| {
        let least = if least < most { format!("{least} to ") } else { String::new() };
        format!("{least}{} of each variant, ", many(most as usize, "run"))
    });
    let [size, runs] = [size, runs].map(Option::unwrap_or_default);
    format!("{size}{runs}{}. {}", compared.label, compared.meta.host)
}

fn theirs(finding: &Finding<'_>) -> String {
    match finding.there_cells() {
        [value, base, ratio] if !value.is_empty() => format!("{ratio} ({value} / {base})"),
        [_, _, ratio] => ratio,
    }
}

fn ours(finding: &Finding<'_>) -> String {
    let [.., ratio] = finding.here_cells();
    format!("{ratio} {}", finding.interval()).trim_end().to_owned()
}
