//! Published findings with what was found here, as lines of a file.
//!
//! The file outlives the results: what was tested on one day stays when they are removed.

use analysis::{Held, HeldFinding, Reproduction, Unmeasured};
use serde::{Deserialize, Serialize};

use super::outcome::verdict;
use super::publication::{Finding, publications};
use crate::input::Compared;
use crate::trust::many;

/// Name of the file with every finding.
pub const FINDINGS: &str = "findings.tsv";

/// A line of [`FINDINGS`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) experiment: String,
    pub(super) source: String,
    /// Size, runs, label and host.
    pub(super) here: String,
    pub(super) claim: String,
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
        let own = (&self.source, &self.claim, &self.theirs);
        own == (&other.source, &other.claim, &other.theirs)
    }

    /// Returns the outcome; of a finding without one the reason.
    pub(super) fn outcome(&self) -> String {
        match self.outcome {
            Some(Reproduction::NotMeasured) => self.reasons.clone(),
            outcome => verdict(outcome).to_owned(),
        }
    }
}

/// Returns the rows of a file; none of an empty text.
pub(super) fn read(text: &str) -> Result<Vec<Row>, csv::Error> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(text.as_bytes());
    reader.deserialize().collect()
}

/// Returns the file of the rows.
pub(super) fn write(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().delimiter(b'\t').from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the rows of an experiment.
pub(super) fn rows_of(compared: &Compared<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (shown, held) in publications(compared).iter().zip(&compared.comparison.published) {
        let here = setup(compared, held);
        for (finding, one) in shown.findings.iter().zip(&held.findings) {
            rows.push(row(compared, [shown.source, &here], finding, one));
        }
    }
    rows
}

fn row(
    compared: &Compared<'_>,
    [source, here]: [&str; 2],
    finding: &Finding<'_>,
    held: &HeldFinding,
) -> Row {
    let metric = finding.other_metric().map(|metric| format!(", {metric}")).unwrap_or_default();
    let is_open = matches!(held.here, Err(Unmeasured::NotAtSize(_)));
    Row {
        experiment: compared.meta.name.clone(),
        source: source.to_owned(),
        here: here.to_owned(),
        claim: finding.claim.to_owned(),
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
    let runs = here.map(|here| here.base.n.min(here.variant.n)).max();
    let runs = runs.map(|runs| format!("{} of each variant, ", many(runs as usize, "run")));
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
