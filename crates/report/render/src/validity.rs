//! Load status, invalid intervals and search results as text.

use analysis::Time;
use model::units::clients;
use model::validity::{Calibration, InvalidIntervals, LoadStatus, Purpose, SearchRecord};
use model::{Unit, float};

use crate::figure::{MISSING, count, figure};

/// Placeholder of a withheld time.
pub(crate) const WITHHELD: &str = "withheld";

/// Returns a rate with its unit: `50.0 k/s`.
pub(crate) fn rate(ops_per_s: f64) -> String {
    figure(Unit::OpsPerSecond, ops_per_s) + "/s"
}

/// Returns nanoseconds in a readable unit.
pub(crate) fn span(ns: u64) -> String {
    figure(Unit::Nanos, float(ns))
}

/// Returns a percentile: a time, a lower limit, or a placeholder.
pub(crate) fn time(of: Time) -> String {
    match of {
        Time::Known { ns } => span(ns.0),
        Time::AtLeast { ns } => format!("\u{2265}{}", span(ns.0)),
        Time::Withheld { .. } => WITHHELD.to_owned(),
        Time::TooFew { .. } => MISSING.to_owned(),
    }
}

/// Returns the load status of an open loop with its evidence.
pub(crate) fn status(load_status: &LoadStatus) -> String {
    match load_status {
        LoadStatus::Sustained => "sustained: the offered load was served".to_owned(),
        LoadStatus::Overloaded { evidence } => format!("OVERLOADED: {evidence}"),
        LoadStatus::ClientBound { evidence } => format!("CLIENT-BOUND: {evidence}"),
    }
}

/// Returns the load status in a word.
pub(crate) const fn status_word(load_status: &LoadStatus) -> &'static str {
    match load_status {
        LoadStatus::Sustained => "sustained",
        LoadStatus::Overloaded { .. } => "OVERLOADED",
        LoadStatus::ClientBound { .. } => "CLIENT-BOUND",
    }
}

/// Returns the number of invalid intervals, their causes and the effect on the figures.
pub(crate) fn invalid(invalid_intervals: &InvalidIntervals) -> String {
    let phrase = invalid_intervals.phrase();
    let (first, rest) = phrase.split_at(1);
    let phrase = first.to_uppercase() + rest;
    if invalid_intervals.intervals == invalid_intervals.of_intervals {
        return format!(
            "{phrase}. There are no rates and no times; costs per operation cover the whole step."
        );
    }
    format!(
        "{phrase}. Rates and times cover the other {}; costs per operation cover the whole step.",
        span(invalid_intervals.valid_ns.0)
    )
}

/// Returns whether numbers of clients were searched, and not rates.
pub(crate) fn is_of_clients(search: &SearchRecord) -> bool {
    search.probes.iter().any(|probe| probe.purpose == Purpose::Clients)
}

/// Returns the result of a search in one sentence.
pub(crate) fn answer(search: &SearchRecord) -> String {
    let limit = search.limit.as_ref().map(|limit| format!("within {limit}"));
    let of_clients = is_of_clients(search);
    let Some(found) = &search.found else {
        let what = if of_clients { "number of clients" } else { "rate" };
        let limit = limit.unwrap_or_else(|| "that can be sustained".to_owned());
        return format!("No {what} was found {limit}.");
    };
    let best = rate(found.ops_per_s);
    if of_clients {
        let limit = limit.map_or_else(String::new, |limit| format!(" {limit}"));
        let clients = clients(found.clients);
        return format!("{clients} did the most operations found{limit}: {best}.");
    }
    let limit = limit.unwrap_or_else(|| "that can be sustained".to_owned());
    let failed = found.failed_ops_per_s.map_or_else(
        || "no higher rate failed".to_owned(),
        |failed| format!("{} failed", rate(failed)),
    );
    format!("{best} is the highest rate found {limit}; {failed}.")
}

/// Returns the client's cost and capacity in one line.
pub(crate) fn calibration(calibration: &Calibration) -> String {
    let mut line = format!(
        "Client on an engine that does nothing: {} ns per operation in a closed loop; {} can \
         sustain {}",
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
    use model::validity::SearchResult;
    use model::{Limit, Nanos};

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
    fn search_result_is_one_sentence() {
        let found =
            |failed_ops_per_s| SearchResult { ops_per_s: 41_200.0, failed_ops_per_s, clients: 4 };
        assert_eq!(
            answer(&search(Some(found(Some(43_300.0))))),
            "41.2 k/s is the highest rate found within p99.9 < 2.00 ms; 43.3 k/s failed."
        );
        assert_eq!(
            answer(&search(Some(found(None)))),
            "41.2 k/s is the highest rate found within p99.9 < 2.00 ms; no higher rate failed."
        );
        assert_eq!(answer(&search(None)), "No rate was found within p99.9 < 2.00 ms.");
    }

    #[test]
    fn overloaded_differs_from_client_bound() {
        let evidence = "46.0 k/s of 50.0 k/s".to_owned();
        let text = status(&LoadStatus::Overloaded { evidence: evidence.clone() });
        assert_eq!(text, "OVERLOADED: 46.0 k/s of 50.0 k/s");
        assert_eq!(
            status(&LoadStatus::ClientBound { evidence }),
            "CLIENT-BOUND: 46.0 k/s of 50.0 k/s"
        );
    }

    #[test]
    fn lower_limit_is_marked() {
        let ns = Nanos::from_millis(240);
        assert_eq!(time(Time::Known { ns }), "240 ms");
        assert_eq!(time(Time::AtLeast { ns }), "\u{2265}240 ms");
        assert_eq!(time(Time::TooFew { needed: 10_000, counted: 9 }), MISSING);
    }
}
