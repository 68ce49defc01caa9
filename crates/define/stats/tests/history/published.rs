//! The series of Apache Otava's own tests.
//!
//! Source: Apache Otava 0.8.0, `tests/series_test.py`, `tests/analysis_test.py`,
//! `tests/change_point_divisive_test.py` and `tests/tigerbeetle_test.py` [Otava 0.8].

use stats::change::{Confidence, STRICTNESS, Series, find};

const SERIES_1: [f64; 11] = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55];
const SERIES_2: [f64; 11] = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78];

/// The first 110 values of the TigerBeetle series.
#[rustfmt::skip]
const TIGERBEETLE: [u32; 110] = [
    26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460,
    26977, 26851, 23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588,
    23687, 23793, 23937, 23715, 23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681,
    23798, 23728, 23604, 23523, 23412, 23685, 23773, 23771, 23718, 23409, 23739, 23674, 23597,
    23682, 23680, 23711, 23660, 23990, 23938, 23742, 23703, 23536, 24363, 24414, 24483, 24509,
    24944, 24235, 24560, 24236, 24667, 24730, 28346, 28437, 28436, 28057, 28217, 28456, 28427,
    28398, 28250, 28331, 28222, 28726, 28578, 28345, 28274, 28514, 28590, 28449, 28305, 28411,
    28788, 28404, 28821, 28580, 27483, 26805, 27487, 27124, 26898, 27295, 26951, 27312, 27660,
    27154, 27050, 26989, 27193, 27503, 27326,
];

fn search(values: &[f64]) -> Series {
    let values: Vec<_> = values.iter().copied().map(Some).collect();
    find(&values, STRICTNESS)
}

fn at(values: &[f64]) -> Vec<usize> {
    search(values).changes.iter().map(|change| change.index).collect()
}

#[test]
fn short_series_are_split_as_by_otava() {
    assert_eq!(at(&SERIES_1), [6]);
    assert_eq!(at(&SERIES_2), [4]);
    let leading_zeros = [0.0, 0.0, 0.0, 1.0, 1.12, 0.9, 0.5, 0.51, 0.48, 0.48, 0.55];
    assert_eq!(at(&leading_zeros), [3, 6]);
    let single = [
        1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55,
        0.50, 0.49, 0.51, 0.50, 0.49,
    ];
    assert_eq!(at(&single), [10]);
    let levels =
        [0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0];
    assert_eq!(at(&levels), [5, 8]);
    // Each value of `docs/CSV.md`'s second metric.
    let example = [10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03];
    assert_eq!(at(&example), [6]);
}

#[test]
fn point_by_point_and_at_once_find_the_same() {
    // Otava finds [12] at once and [4, 12] when the points come one after the other.
    let mut series = SERIES_2.to_vec();
    for (next, wanted) in [(1.97, vec![4]), (33.33, vec![4]), (46.46, vec![4, 12])] {
        series.push(next);
        assert_eq!(at(&series), wanted, "{series:?}");
    }
    let last = search(&series).changes[1];
    assert_eq!((last.points, last.confidence), (2, Confidence::New));
    // The point before was a suspect, and no change.
    let before = search(&series[..13]);
    assert_eq!(before.suspect.map(|suspect| suspect.index), Some(12));
}

#[test]
fn one_bad_run_is_a_spike_and_the_levels_around_it_are_found() {
    let values: Vec<f64> = TIGERBEETLE.iter().copied().map(f64::from).collect();
    let found = search(&values);
    assert_eq!(at(&values), [15, 61, 71, 95]);
    assert_eq!(found.spikes, [10]);
    for count in 30..values.len() {
        // Whatever was analysed before, a history is what its points are.
        assert_eq!(search(&values[..count]), search(&values[..count]), "{count} points");
    }
}
