//! Recall and precision on labelled series.

use stats::change::{STRICTNESS, find};

use crate::labelled::{FAMILIES, Labelled};
use crate::score::Score;

/// Returns the changes that are found in a series.
pub(crate) fn ours(series: &Labelled) -> Vec<usize> {
    let values: Vec<_> = series.values.iter().copied().map(Some).collect();
    let found = find(&values, STRICTNESS);
    found.changes.iter().map(|change| change.index).collect()
}

#[test]
fn lasting_changes_are_found_and_little_else() {
    let mut all = Score::default();
    for family in FAMILIES {
        let mut score = Score::default();
        for series in family.all() {
            score += Score::of(&ours(&series), &series.changes);
        }
        let Score { found, false_ones, missed } = score;
        println!("{:<32} {found:>3} found {false_ones:>3} false {missed:>3} missed", family.name);
        all += score;
    }
    let (recall, precision, f1) = (all.recall(), all.precision(), all.f1());
    println!("recall {recall:.3} precision {precision:.3} F1 {f1:.3} {all:?}");
    // The best of each that Apache Otava 0.8.0 reaches on these series, by its own settings: see
    // `otava.rs`.
    assert!(recall > 0.943 && precision > 0.698 && f1 > 0.770);
}
