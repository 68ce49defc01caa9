//! Runs that share loads: components of variance, means of loads, runs for each load.

use model::float;

use crate::sample::mean;

/// Variance between loads, and between the runs that begin from one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// Variance between loads, the part of the runs removed; >= 0.
    pub between: f64,
    /// Variance between runs of one load.
    pub within: f64,
    /// Loads.
    pub loads: usize,
    /// Runs.
    pub runs: usize,
}

/// Splits a variance into the variances of loads and of runs within a load.
///
/// `None` below two loads, or when no load has two runs. A negative component is 0. The numbers of
/// runs may differ.
///
/// Source: analysis of variance, one random factor, unequal numbers [Snedecor Cochran 1989, chapter
/// 13].
pub fn components(loads: &[Vec<f64>]) -> Option<Components> {
    let loads: Vec<&Vec<f64>> = loads.iter().filter(|runs| !runs.is_empty()).collect();
    let runs: usize = loads.iter().map(|runs| runs.len()).sum();
    if loads.len() < 2 || runs == loads.len() {
        return None;
    }
    let all = float(runs);
    let grand = loads.iter().map(|runs| runs.iter().sum::<f64>()).sum::<f64>() / all;
    let square = |value: f64| value * value;
    let of_loads: f64 =
        loads.iter().map(|runs| float(runs.len()) * square(mean(runs) - grand)).sum();
    let of_runs: f64 = loads
        .iter()
        .map(|runs| runs.iter().map(|value| square(value - mean(runs))).sum::<f64>())
        .sum();
    let (df_loads, df_runs) = (float(loads.len() - 1), float(runs - loads.len()));
    let within = of_runs / df_runs;
    let sizes: f64 = loads.iter().map(|runs| square(float(runs.len()))).sum();
    let per_load = (all - sizes / all) / df_loads;
    let between = ((of_loads / df_loads - within) / per_load).max(0.0);
    Some(Components { between, within, loads: loads.len(), runs })
}

/// Returns the mean of each load's runs on the logarithm, as a value: their geometric mean.
///
/// Loads are what was drawn at random; runs of one load repeat its accident. Student's t on these
/// means has its level whatever the variance between loads, and needs no estimate of it. Where the
/// numbers of runs differ the means have different variances, and the test is approximate.
///
/// `None` unless all values are positive.
///
/// Source: the means of the highest level are compared [Kalibera Jones 2013].
pub fn means(loads: &[Vec<f64>]) -> Option<Vec<f64>> {
    loads.iter().map(|runs| crate::sample::geometric_mean(runs)).collect()
}

/// Returns the runs of each load that estimate a mean best for their cost; >= 1.
///
/// `load` and `run` are the costs of a load and of a run after it, in the same unit. Without a
/// variance between loads every further load is waste: then `most` runs.
///
/// Source: sqrt(c1 v2 / (c2 v1)) [Cochran 1977, section 10.6]; [Kalibera Jones 2013].
pub fn runs_per_load(load: f64, run: f64, found: &Components, most: u32) -> u32 {
    let best = (load * found.within / (run * found.between)).sqrt();
    let best = if best.is_finite() { best } else { f64::from(most) };
    u32::try_from(model::whole(best.round())).unwrap_or(most).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calcium in turnip greens, four leaves: [Snedecor Cochran 1989, chapter 13].
    const LEAVES: [[f64; 4]; 4] = [
        [3.28, 3.09, 3.03, 3.03],
        [3.52, 3.48, 3.38, 3.38],
        [2.88, 2.80, 2.81, 2.76],
        [3.34, 3.38, 3.23, 3.26],
    ];

    fn leaves() -> Vec<Vec<f64>> {
        LEAVES.map(Vec::from).to_vec()
    }

    #[test]
    fn the_textbook_s_components_are_found() {
        let found = components(&leaves()).unwrap();
        assert!((found.within - 0.0066).abs() < 5e-5, "{found:?}");
        assert!((found.between - 0.0724).abs() < 5e-5, "{found:?}");
        assert_eq!((found.loads, found.runs), (4, 16));
    }

    #[test]
    fn unequal_numbers_of_runs_have_their_own_divisor() {
        // By hand: means 1, 2 and 4 of 2, 1 and 3 runs; within (2 + 2) / 3.
        let loads = [vec![0.0, 2.0], vec![2.0], vec![3.0, 4.0, 5.0]];
        let found = components(&loads).unwrap();
        let (within, per_load) = (4.0 / 3.0, (6.0 - 14.0 / 6.0) / 2.0);
        let grand: f64 = 16.0 / 6.0;
        let squares =
            2.0 * (1.0 - grand).powi(2) + (2.0 - grand).powi(2) + 3.0 * (4.0 - grand).powi(2);
        assert!((found.within - within).abs() < 1e-12);
        assert!((found.between - (squares / 2.0 - within) / per_load).abs() < 1e-12);
    }

    #[test]
    fn one_load_or_one_run_each_shows_no_component() {
        assert_eq!(components(&leaves()[..1]), None);
        assert_eq!(components(&[vec![1.0], vec![2.0]]), None);
        let alike = components(&[vec![1.0, 2.0], vec![1.0, 2.0]]).unwrap();
        assert!(alike.between.abs() < f64::EPSILON, "{alike:?}");
    }

    #[test]
    fn dear_loads_and_noisy_runs_are_repeated_from_one_load() {
        let of = |between, within| Components { between, within, loads: 4, runs: 16 };
        assert_eq!(runs_per_load(100.0, 4.0, &of(1.0, 1.0), 50), 5);
        assert_eq!(runs_per_load(100.0, 4.0, &of(1.0, 4.0), 50), 10);
        assert_eq!(runs_per_load(1.0, 4.0, &of(1.0, 1.0), 50), 1);
        assert_eq!(runs_per_load(100.0, 4.0, &of(0.0, 1.0), 50), 50);
    }
}
