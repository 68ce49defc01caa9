//! Recall and precision on labelled series.

use stats::change::{Options, find};

use crate::labelled::{FAMILIES, Labelled};
use crate::score::Score;

/// Returns the changes that are found in a series.
pub(crate) fn ours(series: &Labelled) -> Vec<usize> {
    let values: Vec<_> = series.values.iter().copied().map(Some).collect();
    let found = find(&values, &Options::default());
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
        println!("{:<32} {:>3} found {:>3} false {:>3} missed", family.name, score.found, score.false_ones, score.missed);
        all += score;
    }
    println!("recall {:.3} precision {:.3} F1 {:.3} {all:?}", all.recall(), all.precision(), all.f1());
}
