//! Offset of a server's clock from this machine's.

use nix::time::{ClockId, clock_gettime};

/// Smallest offset that is reported, seconds: less may be the round trip.
const REPORTED_FROM_S: f64 = 1.0;

/// Returns the fact `server_clock`; `None` below one second of offset.
///
/// `reported` is the server's clock as seconds since 1970. No measurement rests on it; the
/// server's log does, and rows that it stamps.
pub fn clock_fact(reported: Option<&str>) -> Option<(String, String)> {
    // A system call, not the vDSO: valgrind can follow it.
    let now = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
    let ours_s = now.tv_sec() as f64 + now.tv_nsec() as f64 / 1e9;
    fact(reported?.trim().parse().ok()?, ours_s)
}

fn fact(theirs_s: f64, ours_s: f64) -> Option<(String, String)> {
    let offset_s = theirs_s - ours_s;
    let side = if offset_s > 0.0 { "later than" } else { "earlier than" };
    let seconds = offset_s.abs();
    (seconds >= REPORTED_FROM_S)
        .then(|| ("server_clock".to_owned(), format!("{seconds:.0} s {side} this machine's")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offset_is_reported_from_one_second() {
        let described = |theirs_s| fact(theirs_s, 1e9).map(|(_, text)| text);
        assert_eq!(described(1e9 + 0.9), None);
        assert_eq!(described(1e9 + 3600.2).unwrap(), "3600 s later than this machine's");
        assert_eq!(described(1e9 - 2.0).unwrap(), "2 s earlier than this machine's");
        assert_eq!(clock_fact(Some("not a number")), None);
        assert!(clock_fact(Some("1000000000.5")).unwrap().1.contains("earlier than"));
    }
}
