//! Times of a clock read and of a context switch.

use std::hint::black_box;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::thread::{Builder, scope};
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

/// Rounds; the fastest counts, since interruptions only add time.
const ROUNDS: usize = 5;
/// Clock reads of a round: about a millisecond with a cheap clock.
const READS: u32 = 20_000;
/// Round trips between two threads of a round.
const TRIPS: u32 = 1_000;
/// Context switches of a round trip: there and back.
const SWITCHES_PER_TRIP: u32 = 2;

/// Returns the time of one read of the kernel's clock, ns.
pub(crate) fn clock_read_ns() -> f64 {
    let round = || {
        let began = now();
        for _ in 0..READS {
            black_box(now());
        }
        began.elapsed().as_secs_f64() * 1e9 / f64::from(READS)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Returns the time of one context switch, ns: two threads on one CPU exchange a byte by pipes.
///
/// It includes the system calls of the pipes.
///
/// Source: [McVoy Staelin 1996] L. McVoy and C. Staelin, `lat_ctx` of lmbench.
///
/// # Errors
/// When a pipe or a thread cannot be made, or a thread cannot be bound to a CPU.
pub(crate) fn context_switch_ns() -> io::Result<f64> {
    let mut cpus = CpuSet::new();
    cpus.set(sched_getcpu());
    let (mut first_reader, mut first_writer) = io::pipe()?;
    let (mut second_reader, mut second_writer) = io::pipe()?;
    scope(|scope| {
        let echo = Builder::new().spawn_scoped(scope, move || {
            sched_setaffinity(None, &cpus)?;
            // Ends when the other thread closes its pipe.
            while exchange(&mut second_writer, &mut first_reader, false).is_ok() {}
            Ok::<(), io::Error>(())
        })?;
        let timed = Builder::new().spawn_scoped(scope, move || {
            sched_setaffinity(None, &cpus)?;
            let mut fastest = f64::INFINITY;
            for _ in 0..ROUNDS {
                let began = now();
                for _ in 0..TRIPS {
                    exchange(&mut first_writer, &mut second_reader, true)?;
                }
                fastest = fastest.min(began.elapsed().as_secs_f64());
            }
            Ok::<f64, io::Error>(fastest * 1e9 / f64::from(TRIPS * SWITCHES_PER_TRIP))
        })?;
        let failed = || io::Error::other("a thread of the measurement ended early");
        let found = timed.join().map_err(|_panic| failed())?;
        echo.join().map_err(|_panic| failed())??;
        found
    })
}

/// Sends a byte and waits for one, or the reverse.
fn exchange(to: &mut PipeWriter, from: &mut PipeReader, is_first: bool) -> io::Result<()> {
    let mut byte = [0];
    if is_first {
        to.write_all(&byte)?;
        from.read_exact(&mut byte)
    } else {
        from.read_exact(&mut byte)?;
        to.write_all(&byte)
    }
}

#[expect(clippy::disallowed_methods, reason = "the cost of this very call is measured")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_switches_take_some_time() {
        assert!(clock_read_ns() > 0.0);
        assert!(context_switch_ns().unwrap() > 0.0);
    }
}
