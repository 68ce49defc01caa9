//! Nonlinear least squares on logarithms, with non-negative coefficients.
//!
//! In c0 = 1/g, c1 = a/g and c2 = b/g the law is ln(N / X) = ln(c0 + c1 (N-1) + c2 N (N-1)): the
//! logarithm of a sum that is linear in the coefficients, and all of it is at least zero. Without
//! the last column it is Amdahl's law.

/// Steps after which the search is taken to have converged; it takes fewer than ten as a rule.
const MAX_STEPS: u32 = 60;

/// Relative gain of a step below which nothing is left to gain.
const MIN_GAIN: f64 = 1e-13;

/// Halvings of a step that leads uphill.
const MAX_HALVINGS: u32 = 40;

/// One level of a sweep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Clients.
    pub(super) clients: f64,
    /// Runs.
    pub(super) weight: f64,
    /// Mean of ln(N / X) over the runs.
    pub(super) target: f64,
}

/// The best coefficients and the weighted sum of squares they leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Solution<const D: usize> {
    pub(super) coefficients: [f64; D],
    pub(super) rss: f64,
}

/// Minimises the weighted squares of ln(coefficients . columns(N)) - target.
///
/// The coefficients are at least zero. Gauss-Newton: each step is a linear problem of at most three
/// unknowns, and is shortened until it leads downhill.
///
/// Source: [Nocedal Wright 2006, section 10.3].
pub(super) fn least_squares<const D: usize>(
    levels: &[Level],
    columns: impl Fn(f64) -> [f64; D],
) -> Solution<D> {
    let rows = levels.iter().map(|level| (columns(level.clients), *level)).collect();
    let problem = Problem { rows };
    let mut best = problem.start();
    for _ in 0..MAX_STEPS {
        let Some(next) = problem.step(&best) else { break };
        let gain = best.rss - next.rss;
        best = next;
        if gain <= MIN_GAIN * best.rss {
            break;
        }
    }
    best
}

struct Problem<const D: usize> {
    rows: Vec<([f64; D], Level)>,
}

impl<const D: usize> Problem<D> {
    /// Solves the linear problem in relative errors, which is near where errors are small.
    fn start(&self) -> Solution<D> {
        let mut normal = Normal::new();
        for (columns, level) in &self.rows {
            let scale = (-level.target).exp();
            let scaled = columns.map(|column| column * scale);
            normal.add(level.weight, &scaled, 1.0);
        }
        let linear = self.at(normal.solve());
        if linear.rss.is_finite() {
            return linear;
        }
        // A sum of nothing at some level: any point with a sum will do.
        self.at([1.0; D])
    }

    fn at(&self, coefficients: [f64; D]) -> Solution<D> {
        let square = |(columns, level): &([f64; D], Level)| {
            let error = dot(&coefficients, columns).ln() - level.target;
            level.weight * error * error
        };
        let rss = self.rows.iter().map(square).sum();
        Solution { coefficients, rss }
    }

    /// Returns a better point; `None` when there is none in the direction of the linear problem.
    fn step(&self, from: &Solution<D>) -> Option<Solution<D>> {
        let mut normal = Normal::new();
        for (columns, level) in &self.rows {
            let sum = dot(&from.coefficients, columns);
            let slopes = columns.map(|column| column / sum);
            let target = level.target - sum.ln() + dot(&from.coefficients, &slopes);
            normal.add(level.weight, &slopes, target);
        }
        let to = normal.solve();
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            let mut between = from.coefficients;
            for (value, to) in between.iter_mut().zip(to) {
                *value += length * (to - *value);
            }
            let next = self.at(between);
            if next.rss < from.rss {
                return Some(next);
            }
            length /= 2.0;
        }
        None
    }
}

/// The normal equations of a linear problem with coefficients at or above zero.
struct Normal<const D: usize> {
    matrix: [[f64; D]; D],
    right: [f64; D],
}

impl<const D: usize> Normal<D> {
    const fn new() -> Self {
        Self { matrix: [[0.0; D]; D], right: [0.0; D] }
    }

    fn add(&mut self, weight: f64, columns: &[f64; D], target: f64) {
        for ((row, right), one) in self.matrix.iter_mut().zip(&mut self.right).zip(columns) {
            *right += weight * one * target;
            for (cell, other) in row.iter_mut().zip(columns) {
                *cell += weight * one * other;
            }
        }
    }

    /// Returns the best coefficients, none below zero.
    ///
    /// The best point with some coefficients at zero is the free optimum of the others, so all
    /// choices are tried; when all coefficients may be free, no other choice is better.
    fn solve(&self) -> [f64; D] {
        let all = (1_u32 << D) - 1;
        if let Some(free) = self.solve_among(all) {
            return free;
        }
        let mut best = ([0.0; D], 0.0);
        for chosen in 1..all {
            let Some(candidate) = self.solve_among(chosen) else { continue };
            // At the optimum of the chosen ones the squares fall by right . coefficients.
            let fall = dot(&candidate, &self.right);
            if fall > best.1 {
                best = (candidate, fall);
            }
        }
        best.0
    }

    /// Solves for the coefficients whose bit is set; `None` when one of them falls below zero.
    fn solve_among(&self, chosen: u32) -> Option<[f64; D]> {
        let is_chosen = |index: usize| chosen & (1 << index) != 0;
        let (mut matrix, mut right) = (self.matrix, self.right);
        for (index, (row, right)) in matrix.iter_mut().zip(&mut right).enumerate() {
            for (other, cell) in row.iter_mut().enumerate() {
                if !is_chosen(index) || !is_chosen(other) {
                    *cell = if index == other { 1.0 } else { 0.0 };
                }
            }
            if !is_chosen(index) {
                *right = 0.0;
            }
        }
        eliminate(&mut matrix, &mut right)?;
        right.iter().all(|value| *value >= 0.0 && value.is_finite()).then_some(right)
    }
}

/// Solves a symmetric positive definite system in place; `None` when it is singular.
fn eliminate<const D: usize>(matrix: &mut [[f64; D]; D], right: &mut [f64; D]) -> Option<()> {
    for pivot in 0..D {
        let above = matrix[pivot];
        if above[pivot] <= 0.0 {
            return None;
        }
        for below in pivot + 1..D {
            let factor = matrix[below][pivot] / above[pivot];
            for (cell, above) in matrix[below].iter_mut().zip(above) {
                *cell -= factor * above;
            }
            right[below] -= factor * right[pivot];
        }
    }
    for pivot in (0..D).rev() {
        let known: f64 = matrix[pivot]
            .iter()
            .zip(&*right)
            .skip(pivot + 1)
            .map(|(cell, known)| cell * known)
            .sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    Some(())
}

fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
