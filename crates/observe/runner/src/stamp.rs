//! Calendar time, read only here.

use jiff::Timestamp;
use model::{Nanos, RunRecord};

/// Returns the present moment, UTC, RFC 3339 with milliseconds.
pub fn now_utc() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Returns a run's total duration; `None` when it was killed.
pub fn wall_time(run: &RunRecord) -> Option<Nanos> {
    time_between(&run.started_at, run.ended_at.as_deref()?)
}

/// Returns the time between two stamps; `None` when one is not valid or the second is earlier.
pub fn time_between(from: &str, to: &str) -> Option<Nanos> {
    let stamp = |text: &str| text.parse::<Timestamp>().ok();
    let taken = stamp(from)?.duration_until(stamp(to)?);
    u64::try_from(taken.as_nanos()).ok().map(Nanos)
}

/// Returns an identifier: UTC stamp, and microseconds mixed with `salt`.
///
/// Identifiers sort by time; the end keeps two of the same second apart.
pub fn stamp_id(salt: u32) -> String {
    let now = Timestamp::now();
    let end = (now.subsec_microsecond().unsigned_abs() ^ salt) & 0xffff;
    format!("{}-{end:04x}", now.strftime("%Y%m%dT%H%M%SZ"))
}
