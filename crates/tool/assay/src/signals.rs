//! Requests to stop: SIGINT, SIGTERM and SIGHUP.
//!
//! They are blocked in every thread, and one thread waits for them: no code runs in a handler. A
//! signal that was ignored when Assay was started stays ignored, as `nohup` wants it.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::sys::signal::{SigSet, Signal, raise as end_by};
use runner::Interrupt;

/// Signals that request a stop.
const STOPS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// What a request raises, once something is measured.
static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
/// Whether this process is about to end by a signal.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Handles signals from now on; no other thread may run yet.
///
/// A file that would exceed the limit on sizes is an error of its write, not a death by signal.
/// With `stops`, a request to stop removes temporary files before it ends the process.
pub(crate) fn handle(stops: bool) {
    // A signal that stays blocked is as good as ignored. Source: setrlimit(2), `RLIMIT_FSIZE`.
    SigSet::from(Signal::SIGXFSZ).thread_block().ok();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let handled = STOPS.into_iter().filter(|signal| stops && !is_ignored(&status, *signal));
    let handled: SigSet = handled.collect();
    if handled.thread_block().is_ok() {
        let waiting = thread::Builder::new().spawn(move || {
            while let Ok(signal) = handled.wait() {
                stop(signal);
            }
        });
        if waiting.is_err() {
            // Without the thread they end the process at once.
            handled.thread_unblock().ok();
        }
    }
}

/// Lets requests to stop raise an interrupt from now on.
pub(crate) fn raise(interrupt: Interrupt) {
    // A process measures once.
    drop(INTERRUPT.set(interrupt));
}

/// Waits for the end of this process, if it is about to end by a signal.
pub(crate) fn end_if_requested() {
    while ENDS.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// Raises the interrupt, or ends the process by the signal after removing its temporary files.
fn stop(signal: Signal) {
    if let Some(interrupt) = INTERRUPT.get() {
        return interrupt.raise();
    }
    ENDS.store(true, Ordering::SeqCst);
    archive::remove_scratch();
    // Raised in this thread, which alone lets it through.
    let only = SigSet::from(signal);
    if only.thread_unblock().and_then(|()| end_by(signal)).is_err() {
        ENDS.store(false, Ordering::SeqCst);
    }
}

/// Returns whether a process ignores a signal, by the text of its `/proc/PID/status`.
///
/// Source: proc(5), `SigIgn`.
fn is_ignored(status: &str, signal: Signal) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (mask >> (signal as i32 - 1)) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_known() {
        let status = "Name:\tassay\nSigIgn:\t0000000000001001\n";
        assert!(is_ignored(status, Signal::SIGHUP));
        assert!(!is_ignored(status, Signal::SIGINT) && !is_ignored("", Signal::SIGHUP));
    }
}
