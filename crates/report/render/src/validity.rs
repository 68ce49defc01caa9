//! Who kept up, what does not count and what a search found, in words.
//!
//! Not a judge: verdicts and their evidence come from the records, this module says them.

use analysis::Time;
use model::units::clients;
use model::validity::{Calibration, InvalidIntervals, LoadStatus, Purpose, SearchRecord};
use model::{Limit, Unit};

use crate::figure::{MISSING, count, figure};

/// What stands where a time is known and must not be read as one.
pub(crate) const WITHHELD: &str = "withheld";

/// Returns a rate with its unit: `50.0 k/s`.
pub(crate) fn rate(ops_per_s: f64) -> String {
    figure(Unit::OpsPerSecond, ops_per_s) + "/s"
}

/// Returns nanoseconds as people write them.
pub(crate) fn span(ns: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "written with three digits")]
    figure(Unit::Nanos, ns as f64)
}

/// Returns what can be told of a percentile: a time, a lower limit, or why there is none.
pub(crate) fn time(told: Time) -> String {
    match told {
        Time::Known { ns } => span(ns.0),
        Time::AtLeast { ns } => format!("\u{2265}{}", span(ns.0)),
        Time::Withheld { .. } => WITHHELD.to_owned(),
        Time::TooFew { .. } => MISSING.to_owned(),
    }
}

/// Returns who kept up with an open loop, in one sentence.
pub(crate) fn kept(load_status: &LoadStatus) -> String {
    match load_status {
        LoadStatus::Sustained => "kept: what was offered was served".to_owned(),
        LoadStatus::Overloaded { evidence } => format!("OVERLOADED: {evidence}"),
        LoadStatus::ClientBound { evidence } => format!("CLIENT-BOUND: {evidence}"),
    }
}

/// Returns the word for who kept up.
pub(crate) const fn kept_word(load_status: &LoadStatus) -> &'static str {
    match load_status {
        LoadStatus::Sustained => "kept",
        LoadStatus::Overloaded { .. } => "OVERLOADED",
        LoadStatus::ClientBound { .. } => "CLIENT-BOUND",
    }
}

/// Returns which intervals do not count, why, and what that means for the figures.
pub(crate) fn voids(invalid_intervals: &InvalidIntervals) -> String {
    let cause = |(cause, times): &(model::validity::InvalidCause, u32)| {
        format!("{} ({times})", cause.phrase())
    };
    let causes: Vec<String> = invalid_intervals.causes.iter().map(cause).collect();
    if invalid_intervals.intervals == invalid_intervals.of_intervals {
        return format!(
            "None of the {} intervals counts: {}. So there are no rates and no times; costs per \
             operation are of all.",
            invalid_intervals.of_intervals,
            causes.join(", ")
        );
    }
    format!(
        "{} of {} intervals do not count: {}. Rates and times are those of the other {}; costs per \
         operation are of all.",
        invalid_intervals.intervals,
        invalid_intervals.of_intervals,
        causes.join(", "),
        span(invalid_intervals.valid_ns.0)
    )
}

/// Returns whether numbers of clients were searched, and not rates.
pub(crate) fn is_of_clients(search: &SearchRecord) -> bool {
    search.probes.iter().any(|probe| probe.purpose == Purpose::Clients)
}

/// Returns what a search found, in one sentence.
pub(crate) fn answer(search: &SearchRecord) -> String {
    let keeps = |limit: &Limit| format!("keeps {limit}");
    let limit = search.limit.as_ref().map(keeps);
    let of_clients = is_of_clients(search);
    let Some(found) = &search.found else {
        let what = if of_clients { "number of clients" } else { "rate" };
        let limit = limit.unwrap_or_else(|| "can be sustained".to_owned());
        return format!("No {what} was found that {limit}.");
    };
    let best = rate(found.ops_per_s);
    if of_clients {
        let limit = limit.map_or_else(String::new, |limit| format!(" of those whose load {limit}"));
        let clients = clients(found.clients);
        return format!("{clients} did the most operations found{limit}: {best}.");
    }
    let limit = limit.unwrap_or_else(|| "can be sustained".to_owned());
    let failed = found.failed_ops_per_s.map_or_else(
        || "no higher rate was seen to fail".to_owned(),
        |failed| format!("{} did not", rate(failed)),
    );
    format!("{best} is the highest rate found that {limit}; {failed}.")
}

/// Returns what the client costs and can do, in one line.
pub(crate) fn calibration(calibration: &Calibration) -> String {
    let mut line = format!(
        "Client on null: {} ns per operation in the closed loop; {} can keep a schedule of {}",
        crate::figure::digits(calibration.closed_ns_per_op),
        clients(calibration.clients),
        rate(calibration.ceiling_ops_per_s)
    );
    if let Some(lag) = &calibration.start_lag {
        let at = calibration.start_lag_ops_per_s.map(|at| format!(" at {}", rate(at)));
        line.push_str(&format!(
            "; start lag{} p50 {}, p99 {}, p99.9 {}, max {}",
            at.unwrap_or_default(),
            span(lag.p50_ns),
            span(lag.p99_ns),
            span(lag.p999_ns),
            span(lag.max_ns)
        ));
    }
    line
}

/// Returns how many arrivals were not served, of how many.
pub(crate) fn censored(censored: u64, offered: u64) -> String {
    format!("{} of {} arrivals", count(censored), count(offered))
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::validity::SearchResult;

    use super::*;

    fn search(found: Option<SearchResult>) -> SearchRecord {
        let limit = Limit { share: 0.999, within: Nanos::from_millis(2) };
        SearchRecord {
            limit: Some(limit),
            probes: Vec::new(),
            found,
            ended: String::new(),
            is_path_dependent: false,
        }
    }

    #[test]
    fn a_search_answers_in_one_sentence() {
        let found =
            |failed_ops_per_s| SearchResult { ops_per_s: 41_200.0, failed_ops_per_s, clients: 4 };
        assert_eq!(
            answer(&search(Some(found(Some(43_300.0))))),
            "41.2 k/s is the highest rate found that keeps p99.9 < 2.00 ms; 43.3 k/s did not."
        );
        assert_eq!(
            answer(&search(Some(found(None)))),
            "41.2 k/s is the highest rate found that keeps p99.9 < 2.00 ms; no higher rate was \
             seen to fail."
        );
        assert_eq!(answer(&search(None)), "No rate was found that keeps p99.9 < 2.00 ms.");
    }

    #[test]
    fn overloaded_and_client_bound_are_different_words() {
        let evidence = "46.0 k/s of 50.0 k/s".to_owned();
        let told = kept(&LoadStatus::Overloaded { evidence: evidence.clone() });
        assert_eq!(told, "OVERLOADED: 46.0 k/s of 50.0 k/s");
        assert_eq!(
            kept(&LoadStatus::ClientBound { evidence }),
            "CLIENT-BOUND: 46.0 k/s of 50.0 k/s"
        );
    }

    #[test]
    fn a_lower_limit_is_marked_and_what_is_withheld_is_no_number() {
        let ns = Nanos::from_millis(240);
        assert_eq!(time(Time::Known { ns }), "240 ms");
        assert_eq!(time(Time::AtLeast { ns }), "\u{2265}240 ms");
        assert_eq!(time(Time::TooFew { needed: 10_000, counted: 9 }), MISSING);
    }
}
