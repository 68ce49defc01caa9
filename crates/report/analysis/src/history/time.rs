//! Labels that are dates or times.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use jiff::{Error, Timestamp};

use super::rank::{Part, Rank};

/// Orders of day, month and year in dates that consist of numbers.
pub(super) const DATE_ORDERS: [&str; 3] = ["%d-%m-%Y", "%m-%d-%Y", "%Y-%m-%d"];
/// Dates that name the month.
const NAMED_DATES: [&str; 6] =
    ["%d-%b-%Y", "%d-%B-%Y", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y"];
/// Times that may follow a date.
const TIMES: [&str; 5] = ["", " %H:%M", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S %p"];
/// Times as written by `git log --format=%ci`, by `git log`, and by `date`.
const ZONED: [&str; 3] =
    ["%Y-%m-%d %H:%M:%S%.f %z", "%a %b %d %H:%M:%S %Y %z", "%a %b %d %H:%M:%S %z %Y"];

/// Returns the rank of a time; `order` is that of dates which consist of numbers.
///
/// A time without a zone is taken as UTC.
///
/// Source: [RFC 3339], [RFC 2822].
pub(super) fn time(label: &str, order: &str) -> Option<Rank> {
    let label = label.replace(" UTC", " +0000").replace(" GMT", " +0000");
    let zoned = |format: &&str| -> Result<Timestamp, Error> {
        BrokenDownTime::parse(format, &label)?.to_timestamp()
    };
    let instant = label
        .parse::<Timestamp>()
        .or_else(|_no_iso| DateTimeParser::new().parse_timestamp(&label))
        .ok()
        .or_else(|| ZONED.iter().find_map(|format| zoned(format).ok()));
    let local = || label.parse::<DateTime>().ok().or_else(|| local_time(&label, order));
    let in_utc = |local: DateTime| Offset::UTC.to_timestamp(local).ok();
    let instant = instant.or_else(|| in_utc(local()?))?;
    Some(vec![Part::Number(instant.as_nanosecond())])
}

/// Returns a local date, or a date and a time.
fn local_time(label: &str, order: &str) -> Option<DateTime> {
    let (date, time) = label.split_once(' ').unwrap_or((label, ""));
    let date = date.trim_end_matches(',').replace(['/', '.'], "-");
    let plain = format!("{date} {time}").replace(',', " ");
    let formats = NAMED_DATES.iter().copied().chain(has_year(label, &date).then_some(order));
    let parsed = |date: &str, time: &str| -> Result<DateTime, Error> {
        BrokenDownTime::parse(format!("{date}{time}"), plain.trim())?.to_datetime()
    };
    let mut formats = formats.flat_map(|date| TIMES.map(|time| (date, time)));
    formats.find_map(|(date, time)| parsed(date, time).ok())
}

/// Returns whether three numbers are a date, and no version.
///
/// A date has a year of four digits, two digits each, or slashes.
fn has_year(label: &str, date: &str) -> bool {
    let lengths: Vec<usize> = date.split('-').map(str::len).collect();
    match lengths[..] {
        [first, _, last] => label.contains('/') || first == 4 || last == 4 || lengths == [2, 2, 2],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_has_one_rank_in_every_notation() {
        let [day_first, month_first, year_first] = DATE_ORDERS;
        let expected = time("2026-11-07T19:10:34Z", day_first);
        assert!(expected.is_some());
        for (label, order) in [
            ("2026-11-07T20:10:34+01:00", day_first),
            ("2026-11-07 20:10:34 +0100", day_first),
            ("2026-11-07 19:10:34", day_first),
            ("2026-11-07 19:10:34 UTC", day_first),
            ("20261107T191034Z", day_first),
            ("Sat, 7 Nov 2026 20:10:34 +0100", day_first),
            ("Sat, 07 Nov 2026 19:10:34 GMT", day_first),
            ("Sat Nov 7 20:10:34 2026 +0100", day_first),
            ("Sat Nov  7 19:10:34 UTC 2026", day_first),
            ("07.11.2026 19:10:34", day_first),
            ("7/11/2026, 19:10:34", day_first),
            ("11/7/2026, 7:10:34 PM", month_first),
            ("2026/11/07 19:10:34.000", year_first),
            ("7-Nov-2026 19:10:34", day_first),
            ("Nov 7, 2026 19:10:34", day_first),
        ] {
            assert_eq!(time(label, order), expected, "{label}");
        }
    }

    #[test]
    fn dates_without_a_time_are_at_midnight() {
        let [day_first, month_first, year_first] = DATE_ORDERS;
        let expected = time("2026-11-07", day_first);
        for (label, order) in [
            ("20261107", day_first),
            ("7.11.2026", day_first),
            ("11/7/2026", month_first),
            ("2026.11.07", year_first),
            ("7 November 2026", month_first),
        ] {
            assert_eq!(time(label, order), expected, "{label}");
        }
        assert_ne!(time("07/11/26", day_first), time("07/11/26", month_first));
    }

    #[test]
    fn versions_and_names_are_no_times() {
        for label in ["8.9.1", "8.10", "10.11.2", "v2026", "monday", "31.2.2026", "f00d", ""] {
            assert!(DATE_ORDERS.iter().all(|order| time(label, order).is_none()), "{label}");
        }
    }
}
