//! A server's clock beside this machine's.

use nix::time::{ClockId, clock_gettime};

/// Distance from which two clocks differ, seconds: below it, it may be the way.
const TOLD_FROM_S: f64 = 1.0;

/// Returns the fact that tells how far a server's clock is from this machine's, from the seconds
/// since 1970 that it has just told; `None` below a second.
///
/// No measurement rests on a server's clock. Its log, and rows that it stamps, do.
#[must_use]
pub fn clock_fact(told: Option<&str>) -> Option<(String, String)> {
    // Asked of the kernel as valgrind can follow it.
    let now = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are below 2^53")]
    let ours_s = now.tv_sec() as f64 + now.tv_nsec() as f64 / 1e9;
    fact(told?.trim().parse().ok()?, ours_s)
}

fn fact(theirs_s: f64, ours_s: f64) -> Option<(String, String)> {
    let ahead_s = theirs_s - ours_s;
    let side = if ahead_s > 0.0 { "ahead of" } else { "behind" };
    let seconds = ahead_s.abs();
    (seconds >= TOLD_FROM_S)
        .then(|| ("server_clock".to_owned(), format!("{seconds:.0} s {side} this machine's")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_told_from_a_second_on() {
        let told = |theirs_s| fact(theirs_s, 1e9).map(|(_, words)| words);
        assert_eq!(told(1e9 + 0.9), None);
        assert_eq!(told(1e9 + 3600.2).unwrap(), "3600 s ahead of this machine's");
        assert_eq!(told(1e9 - 2.0).unwrap(), "2 s behind this machine's");
        assert_eq!(clock_fact(Some("not a number")), None);
        assert!(clock_fact(Some("1000000000.5")).unwrap().1.contains("behind"));
    }
}
