//! Interval ends: where a profile crosses its limit.

/// Strides in search of a point outside; each is three times the one before.
const MAX_STRIDES: u32 = 60;

/// Iterations of the root search.
const MAX_ITERATIONS: u32 = 60;

/// Relative width of a located end: a thousandth of the last printed digit.
const TOLERANCE: f64 = 1e-7;

/// Returns the largest point to which `excess` stays at or below zero, going up from `at`.
///
/// `None` when it stays there over all strides.
pub(super) fn upper(at: f64, stride: f64, excess: impl Fn(f64) -> f64) -> Option<f64> {
    let mut inside = (at, excess(at));
    if inside.1 >= 0.0 {
        return Some(at);
    }
    let mut stride = stride;
    for _ in 0..MAX_STRIDES {
        let outside = at + stride;
        let value = excess(outside);
        if value > 0.0 {
            return Some(cross(inside, (outside, value), &excess));
        }
        inside = (outside, value);
        stride *= 3.0;
    }
    None
}

/// Returns the smallest point to which `excess` stays at or below zero, going down to `floor`.
pub(super) fn lower(at: f64, floor: f64, excess: impl Fn(f64) -> f64) -> f64 {
    let inside = (at, excess(at));
    if at <= floor || inside.1 >= 0.0 {
        return at;
    }
    let outside = (floor, excess(floor));
    if outside.1 <= 0.0 { floor } else { cross(inside, outside, &excess) }
}

/// Returns where `excess` crosses zero between a point inside and one outside.
///
/// Source: the Illinois method [Dowell Jarratt 1971].
fn cross(inside: (f64, f64), outside: (f64, f64), excess: &impl Fn(f64) -> f64) -> f64 {
    let (mut inside, mut outside) = (inside, outside);
    let mut was_inside = None;
    for _ in 0..MAX_ITERATIONS {
        if (outside.0 - inside.0).abs() <= TOLERANCE * outside.0.abs().max(inside.0.abs()) {
            break;
        }
        let share = inside.1 / (inside.1 - outside.1);
        let point = inside.0 + share * (outside.0 - inside.0);
        let value = excess(point);
        let is_inside = value <= 0.0;
        if is_inside {
            inside = (point, value);
        } else {
            outside = (point, value);
        }
        if was_inside == Some(is_inside) {
            // The same end twice: halving the other's value makes it move.
            let stuck = if is_inside { &mut outside.1 } else { &mut inside.1 };
            *stuck /= 2.0;
        }
        was_inside = Some(is_inside);
    }
    inside.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_where_the_excess_crosses_zero() {
        let excess = |x: f64| (x - 2.0).abs() - 0.5;
        assert!((upper(2.0, 0.01, excess).unwrap() - 2.5).abs() < 1e-6);
        assert!((lower(2.0, 0.0, excess) - 1.5).abs() < 1e-6);
        let curved = |x: f64| x * x * x - 27.0;
        assert!((upper(0.0, 1e-6, curved).unwrap() - 3.0).abs() < 1e-5);
    }

    #[test]
    fn a_floor_that_is_inside_is_the_end_and_a_limit_never_reached_is_none() {
        let excess = |x: f64| (x - 0.2).abs() - 0.5;
        assert!(lower(0.2, 0.0, excess).abs() < f64::EPSILON);
        assert_eq!(upper(1.0, 0.1, |x: f64| -1.0 / x), None);
        assert_eq!(upper(1.0, 0.1, |_| 0.0), Some(1.0));
    }
}
