//! Decides whether the samples of a span can be counted as its CPU time.

use model::{float, percent};

/// Least and largest share of the expected samples.
///
/// Our choice: 24 of 25 windows of RocksDB had 0.97 to 1.03 of the samples, and processes that
/// switch thousands of times a second 0.5 to 0.9. Between them lies this limit.
const COUNTED: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Samples more or less that are within the limit, too.
///
/// Our choice: a span begins and ends between two samples, in each of its threads.
const SLACK: f64 = 4.0;
/// Expected samples below which chance moves the ratio out of the limit.
///
/// Our choice: a tenth of 100 is the standard error of a Poisson variable.
const FEW: f64 = 100.0;
/// Largest share of lost samples. Our choice: a tenth of the tolerance above.
const LOST: f64 = 0.01;

/// Returns why the samples of a span are no profile; `None` where they are one.
///
/// `expected` is the CPU time of the span in seconds times the frequency, `None` where unknown.
pub fn refusal(samples: u64, lost: u64, expected: Option<f64>) -> Option<String> {
    let expected = expected.filter(|expected| *expected > 0.0);
    if samples == 0 && lost == 0 {
        return Some("perf took no sample: the processes were idle, or they ended".to_owned());
    }
    let lost_share = float(lost) / float(samples.saturating_add(lost));
    if lost_share > LOST {
        return Some(format!(
            "the kernel lost {} of the samples: profile fewer clients, or as an ordinary account \
             raise kernel.perf_event_mlock_kb",
            percent(lost_share)
        ));
    }
    let (samples, expected) = (float(samples), expected?);
    let share = samples / expected;
    let least = COUNTED.start() * expected - SLACK;
    let most = COUNTED.end() * expected + SLACK;
    (!(least..=most).contains(&samples)).then(|| {
        let cause = if expected < FEW {
            "the span has little CPU time: lengthen the step"
        } else if share < 1.0 {
            "processes that switch thousands of times a second lose samples"
        } else {
            "the CPU time of the span misses processes that were sampled"
        };
        format!("perf took {share:.2} of the samples that the CPU time implies: {cause}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_near_the_cpu_time_are_a_profile() {
        assert_eq!(refusal(900, 0, Some(1_000.0)), None);
        assert_eq!(refusal(1_100, 11, Some(1_000.0)), None);
        assert_eq!(refusal(5, 0, None), None);
        assert_eq!(refusal(5, 0, Some(0.0)), None);
        assert_eq!(refusal(10, 0, Some(11.5)), None, "a short span");
    }

    #[test]
    fn missing_and_surplus_samples_are_refused_with_their_ratio() {
        let text = |samples| refusal(samples, 0, Some(1_000.0)).unwrap();
        assert!(text(895).starts_with("perf took 0.90 of the samples"), "{}", text(895));
        assert!(text(1_200).starts_with("perf took 1.20 of the samples"));
    }

    #[test]
    fn a_short_span_is_no_fault_of_the_process() {
        assert!(refusal(9, 0, Some(16.0)).unwrap().ends_with("lengthen the step"));
        assert!(refusal(900, 0, Some(1_600.0)).unwrap().ends_with("lose samples"));
    }

    #[test]
    fn lost_samples_are_refused() {
        assert!(refusal(0, 7, None).unwrap().contains("lost 100 %"));
        assert!(refusal(980, 20, Some(1_000.0)).unwrap().contains("lost 2.0 %"));
    }

    #[test]
    fn no_sample_is_refused() {
        assert!(refusal(0, 0, Some(1_000.0)).unwrap().contains("no sample"));
    }
}
