//! Samples what the server's sessions wait for, while its clients run.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use engine::{Engine, EngineError, WaitSampler};
use load::Clock;
use model::waits::rests_in;
use model::{Nanos, WaitProfile};

/// Mean pause between two samples, beyond the engine's shortest: about 10 a second without one.
///
/// Our choice: at twice as many Postgres lost 2.0 % [0.0, 4.0], see docs/method/waits.md.
const PAUSE: Duration = Duration::from_millis(100);
/// A pause is at least so many times what the last sample took: samples take at most 1 % of the
/// time, however many sessions the server has.
const PAUSE_PER_SAMPLE: u32 = 100;
/// Step of the sequence that spreads the pauses, so that they do not synchronize with the clients:
/// the golden ratio's, as a share of 2^32.
///
/// Source: [Knuth 1998], section 6.4, Fibonacci hashing.
const GOLDEN: u32 = 0x9e37_79b9;

/// Waits of a span; `None` where none are sampled.
pub type Sampled = Result<Option<WaitProfile>, EngineError>;

/// Runs `load`, which reports through its argument when its measured span begins.
///
/// Returns the waits sampled from then to its end as well; `None` when the engine names no waits.
/// Where it did not answer a sample, the error has their place: a part of the span would not stand
/// for the whole.
///
/// # Errors
/// When it does not answer before the load.
pub fn with_waits<T>(
    engine: &dyn Engine,
    clock: &dyn Clock,
    load: impl FnOnce(&dyn Fn()) -> T,
) -> Result<(T, Sampled), EngineError> {
    let sampler = engine.server().map_or(Ok(None), |server| server.wait_sampler())?;
    let Some(sampler) = sampler else { return Ok((load(&|| {}), Ok(None))) };
    let (begin, begun) = sync_channel(1);
    scope(|threads| {
        let sampling = move || profile(sampler, clock, &begun);
        let thread = Builder::new().name("waits".to_owned()).spawn_scoped(threads, sampling);
        let loaded = load(&|| {
            begin.try_send(()).ok();
        });
        drop(begin);
        let sampled = thread.ok().and_then(|thread| thread.join().ok());
        Ok((loaded, sampled.unwrap_or(Ok(None))))
    })
}

/// Samples from the first message until the sender is gone, in three seconds of four.
fn profile(
    mut sampler: Box<dyn WaitSampler + '_>,
    clock: &dyn Clock,
    begun: &Receiver<()>,
) -> Sampled {
    let Ok(()) = begun.recv() else { return Ok(None) };
    let least = sampler.least_pause();
    let mut profile = WaitProfile::default();
    let span = clock.now();
    loop {
        let from = clock.now();
        let wait = match rest(from.since(span)) {
            // Not at the beginning of a second, where the state of the server is read.
            Some(rest) => rest + pause(profile.samples, Nanos(0)),
            None => {
                sampler.sample(&mut profile)?;
                let took = clock.now().since(from);
                profile.took_ns = profile.took_ns.after(took);
                least + pause(profile.samples, took)
            }
        };
        if let Err(RecvTimeoutError::Disconnected) = begun.recv_timeout(wait) {
            return Ok(Some(profile));
        }
    }
}

/// Returns what is left of a second in which no sample is taken, at a time of the measured span.
fn rest(at: Nanos) -> Option<Duration> {
    let second = at.0 / Nanos::SECOND.0;
    let end = Nanos(Nanos::SECOND.0 * (second + 1));
    rests_in(second).then(|| Duration::from_nanos(end.since(at).0))
}

/// Returns the pause before the next sample, spread evenly between half and one and a half.
fn pause(number: u64, took: Nanos) -> Duration {
    #[expect(clippy::cast_possible_truncation, reason = "a sequence modulo 2^32")]
    let spread = f64::from((number as u32).wrapping_mul(GOLDEN)) / f64::from(u32::MAX);
    PAUSE.max(Duration::from_nanos(took.0) * PAUSE_PER_SAMPLE).mul_f64(0.5 + spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_around_their_mean_and_grow_with_the_cost_of_a_sample() {
        let mean = |took| -> f64 {
            let all = (0..1_000).map(|number| pause(number, took).as_secs_f64());
            all.sum::<f64>() / 1_000.0
        };
        assert!((mean(Nanos(100_000)) / 0.100 - 1.0).abs() < 0.01);
        assert!((mean(Nanos::from_millis(4)) / 0.400 - 1.0).abs() < 0.01);
        let least = (0..1_000).map(|number| pause(number, Nanos(0))).min().unwrap();
        assert!(least >= PAUSE / 2 && least < PAUSE * 6 / 10, "{least:?}");
    }

    #[test]
    fn a_rest_lasts_until_its_second_ends() {
        let resting = (0..4).find(|second| rests_in(*second)).unwrap();
        let at = |ms: u64| rest(Nanos::from_millis(1_000 * resting + ms));
        assert_eq!(at(0), Some(Duration::from_secs(1)));
        assert_eq!(at(999), Some(Duration::from_millis(1)));
        assert_eq!(rest(Nanos::from_secs((resting + 1) % 4)), None);
    }
}
