//! A series of values in one line of text.

use model::float;

/// Eighths of a line's height.
const BARS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

/// Returns `values` as at most `width` bars; a gap is a space.
///
/// The lowest bar is the smallest mean shown, the highest the largest.
pub(crate) fn sparkline(values: &[Option<f64>], width: usize) -> String {
    let width = width.min(values.len()).max(1);
    let edge = |place: usize| place * values.len() / width;
    let means: Vec<Option<f64>> =
        (0..width).map(|place| mean(&values[edge(place)..edge(place + 1)])).collect();
    let known = || means.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::MIN, f64::max));
    let bar = |mean: &Option<f64>| {
        let Some(mean) = mean else { return ' ' };
        let share = if high > low { (mean - low) / (high - low) } else { 0.5 };
        let reached = |step: &usize| share * 8.0 >= float(*step);
        BARS[(1..BARS.len()).filter(reached).count()]
    };
    means.iter().map(bar).collect()
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / float(known.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_values_and_gaps_stay_empty() {
        let steps: Vec<_> = (0..8).map(|value| Some(f64::from(value))).collect();
        let all = "\u{2581}\u{2582}\u{2583}\u{2584}\u{2585}\u{2586}\u{2587}\u{2588}";
        assert_eq!(sparkline(&steps, 60), all);
        assert_eq!(sparkline(&[Some(1.0), None, Some(2.0)], 60), "\u{2581} \u{2588}");
        assert_eq!(sparkline(&[Some(3.0); 100], 4), "\u{2585}".repeat(4));
        assert_eq!(sparkline(&steps, 2), "\u{2581}\u{2588}");
    }
}
