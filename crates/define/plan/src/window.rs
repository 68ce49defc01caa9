//! Checks whether a measured span is long enough.

use model::limits::DURATION_MIN;
use model::units::{parse_span, per_second, thousands};
use model::{Experiment, Limit, Load, Nanos, Rate, Step, StopRule, float, whole};
use reader::error::PlanError;

/// Upper bound on any engine's operations per second; a search that needs more cannot end.
const FASTEST_OPS_PER_S: f64 = 10_000_000.0;
/// Common percentiles, highest first.
const PERCENTILES: [f64; 6] = [0.9999, 0.999, 0.99, 0.95, 0.9, 0.5];
/// Doublings of a span that are tried: from a nanosecond to 584 years.
const SPAN_BITS: u32 = 64;

/// Why a span is too short, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TooShort {
    pub(crate) why: String,
    pub(crate) remedy: String,
}

/// Parses the span of a step, or of its warm-up; a span of zero is refused elsewhere.
///
/// # Errors
/// When the text is no span, or the span is too short for any engine.
pub(crate) fn parse_duration(text: &str) -> Result<Nanos, String> {
    match parse_span(text)? {
        span if span.0 > 0 && span < DURATION_MIN => {
            Err(format!("`{text}` is too short for a step: give 10ms or more"))
        }
        span => Ok(span),
    }
}

/// Checks that a step has enough operations to test its limit.
///
/// # Errors
/// How many are needed and how many there will be.
pub(crate) fn check(limit: &Limit, load: &Load, stop: StopRule) -> Result<(), TooShort> {
    let needed = limit.operations_needed();
    let rate = if let Load::Open(open) = load {
        open.rate.clone()
    } else {
        Rate::constant(FASTEST_OPS_PER_S)
    };
    let (have, source, longer) = match stop {
        StopRule::Operations(operations) => {
            (operations, "there are".to_owned(), format!("set operations to {needed}"))
        }
        StopRule::Duration(span) if limit.within >= span => {
            return Err(TooShort {
                why: format!("no operation can exceed {} in the measured {span}", limit.within),
                remedy: "use a shorter limit, or measure for longer".to_owned(),
            });
        }
        StopRule::Duration(span) => {
            let seconds = span_of(&rate, needed).0.div_ceil(1_000_000_000);
            let even = if matches!(load, Load::Open(_)) { "" } else { "even " };
            let of = if rate.changes_for() == Nanos(0) { "at" } else { "of" };
            let source = format!("{span} {even}{of} {rate} have");
            // Half a millionth of an operation is rounding.
            let have = whole((rate.arrivals_within(span) + 5e-7).floor());
            (have, source, format!("measure for at least {seconds} s"))
        }
    };
    if have >= needed {
        return Ok(());
    }
    let (percentile, all) = (limit.percentile(), thousands(needed));
    let why = format!("{percentile} needs {all} operations; {source} {}", thousands(have));
    let nearer = PERCENTILES.map(|share| Limit { share, ..*limit });
    let nearer = nearer.iter().find(|nearer| nearer.operations_needed() <= have);
    let remedy = match nearer {
        Some(nearer) => format!("{longer}, or use {}", nearer.percentile()),
        None => longer,
    };
    Err(TooShort { why, remedy })
}

/// Checks that at least one operation is due.
///
/// # Errors
/// When none is.
pub(crate) fn check_rate(rate: &Rate, stop: StopRule) -> Result<(), TooShort> {
    let StopRule::Duration(span) = stop else { return Ok(()) };
    let due = rate.arrivals_within(span);
    if due >= 1.0 {
        return Ok(());
    }
    let one = span_of(rate, 1).0.div_ceil(1_000_000_000);
    let why = format!("at {} no operation is due in {span}", per_second(rate.peak_ops_per_s()));
    Err(TooShort { why, remedy: format!("give a higher rate, or measure for at least {one} s") })
}

/// Checks the loads of a stored experiment, as the loads of an experiment file are checked.
///
/// # Errors
/// The first step that is too short for its load, why, and the remedy.
pub fn check_loads(experiment: &Experiment) -> Result<(), PlanError> {
    let checked = |step: &Step| {
        if let Load::Open(open) = &step.load {
            check_rate(&open.rate, step.stop)?;
        }
        step.limit.as_ref().map_or(Ok(()), |limit| check(limit, &step.load, step.stop))
    };
    experiment.steps.iter().try_for_each(|step| {
        checked(step).map_err(|TooShort { why, remedy }| {
            PlanError::new(format!("step {}: {why}", step.name)).remedy(remedy)
        })
    })
}

/// Returns the shortest time in which a rate has that many arrivals, on average.
pub(crate) fn span_of(rate: &Rate, arrivals: u64) -> Nanos {
    // Bit by bit from the highest: arrivals only grow with time.
    let too_short = (0..SPAN_BITS).rev().fold(0_u64, |span, bit| {
        let longer = span | (1 << bit);
        if rate.arrivals_within(Nanos(longer)) < float(arrivals) { longer } else { span }
    });
    Nanos(too_short.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use model::{OpenLoad, Pace, RatePiece};
    use proptest::prelude::*;

    use super::*;

    const TEN: StopRule = StopRule::Duration(Nanos::from_secs(10));

    fn open(rate: Rate) -> Load {
        Load::Open(OpenLoad { rate, pace: Pace::default() })
    }

    /// Returns the error of a limit, as `why | remedy`.
    fn refused(limit: &str, load: &Load, stop: StopRule) -> String {
        let limit = Limit::parse(limit).unwrap();
        check(&limit, load, stop).map_or_else(
            |short| format!("{} | {}", short.why, short.remedy),
            |()| "nothing".to_owned(),
        )
    }

    /// Checks that a limit is accepted only where operations and time suffice.
    fn checked(limit: &Limit, length: Nanos) -> Result<(), TestCaseError> {
        let needed = limit.operations_needed();
        let checked = check(limit, &open(Rate::constant(5000.0)), StopRule::Duration(length));
        let is_enough = 5000.0 * length.as_secs_f64() > float(needed) - 1.0;
        prop_assert!(checked.is_err() || length > limit.within && needed > 100 && is_enough);
        Ok(())
    }

    proptest! {
        #[test]
        fn any_text_is_a_limit_or_rejected(
            text in "(\\PC*|p[0-9.]{0,6} *<=? *[0-9.]{0,6}(ns|us|ms|s|m|h)?)", length: u64
        ) {
            if let Ok(limit) = Limit::parse(&text) {
                checked(&limit, Nanos(length))?;
            }
        }

        #[test]
        fn a_text_of_a_limit_is_parsed(
            text in "p[1-9][0-9](\\.[0-9]{1,3})? ?< ?[1-9][0-9]{0,2}(ns|us|ms|s)",
            length in 0..Nanos::from_secs(100).0,
        ) {
            let limit = Limit::parse(&text);
            prop_assert!(limit.is_ok(), "{}: {:?}", text, limit);
            checked(&limit.unwrap(), Nanos(length))?;
        }
    }

    #[test]
    fn a_percentile_needs_its_operations_in_the_window() {
        let slow = open(Rate::constant(5000.0));
        assert_eq!(
            refused("p99.99 < 2ms", &slow, TEN),
            "p99.99 needs 1,000,000 operations; 10.0 s at 5,000/s have 50,000 | measure for at \
             least 200 s, or use p99"
        );
        assert_eq!(refused("p99.99 < 2ms", &open(Rate::constant(1e5)), TEN), "nothing");
        assert_eq!(
            refused("p99.9 < 2ms", &slow, StopRule::Operations(50_000)),
            "p99.9 needs 100,000 operations; there are 50,000 | set operations to 100000, or use \
            p99"
        );
    }

    #[test]
    fn a_changing_rate_is_integrated() {
        let ramp = RatePiece {
            length: Nanos::from_secs(10),
            from_ops_per_s: 1000.0,
            to_ops_per_s: 3000.0,
        };
        assert_eq!(
            refused("p99.9 < 2ms", &open(Rate::Pieces(vec![ramp])), TEN),
            "p99.9 needs 100,000 operations; 10.0 s of ramp 1,000/s..3,000/s over 10.0 s have \
             20,000 | measure for at least 37 s, or use p99"
        );
    }

    #[test]
    fn a_search_is_rejected_when_no_rate_is_high_enough() {
        let search = Load::FindRate(Pace::default());
        let tenth = StopRule::Duration(Nanos::from_millis(100));
        assert_eq!(refused("p99.999 < 2ms", &search, TEN), "nothing");
        assert_eq!(
            refused("p99.999 < 2ms", &search, tenth),
            "p99.999 needs 10,000,000 operations; 100 ms even at 10,000,000/s have 1,000,000 | \
             measure for at least 1 s, or use p99.99"
        );
    }

    #[test]
    fn a_limit_longer_than_the_span_and_a_rate_without_arrivals_are_rejected() {
        let message = refused("p99 < 10s", &open(Rate::constant(5000.0)), TEN);
        assert!(message.starts_with("no operation can exceed 10.0 s"), "{message}");
        assert!(check_rate(&Rate::constant(0.1), TEN).is_ok());
        let none = check_rate(&Rate::constant(0.05), TEN).unwrap_err();
        assert_eq!(none.why, "at 0.05/s no operation is due in 10.0 s");
        assert_eq!(none.remedy, "give a higher rate, or measure for at least 20 s");
    }
}
