//! Requests to stop: SIGINT, SIGTERM and SIGHUP.
//!
//! They are blocked in every thread, and one thread waits for them: no code runs in a handler. A
//! signal that was ignored when Assay was started stays ignored, as `nohup` wants it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, raise as end_by};
use runner::Interrupt;

use crate::phase;
use crate::ui::write_status;

/// Signals that request a stop.
const STOPS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Signal that lets the run in hand be the last one, as a page of `assay serve` requests.
pub(crate) const LAST_RUN: Signal = Signal::SIGUSR1;

/// What a request raises, while something is measured or checked.
static INTERRUPT: Mutex<Option<Raised>> = Mutex::new(None);
/// Time that a second request leaves for the end of the process, before a signal ends it.
///
/// Our choice: workers and servers are killed at once, and records written within a second.
const END_WITHIN: Duration = Duration::from_secs(5);
/// What a first request does while this machine runs.
pub(crate) const ENDS_RUN: &str = "What was measured is stored, and processes that Assay started are \
                                   ended; a second Ctrl-C ends Assay at once";
/// What a first request does while a scheduler runs blocks.
pub(crate) const DETACHES: &str = "The blocks go on, and --resume attaches to them";

/// What a request raises, and what it does.
#[derive(Clone)]
struct Raised {
    interrupt: Interrupt,
    effect: &'static str,
}
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
    let handled: SigSet = handled.chain(stops.then_some(LAST_RUN)).collect();
    if handled.thread_block().is_ok() {
        let waiting = thread::Builder::new().spawn(move || {
            while let Ok(signal) = handled.wait() {
                if signal == LAST_RUN { end_after_run() } else { stop(signal) }
            }
        });
        if waiting.is_err() {
            // Without the thread they end the process at once.
            handled.thread_unblock().ok();
        }
    }
}

/// Requests to stop raise an interrupt as long as this is there, and end the process otherwise.
pub(crate) struct Deferred(());

/// Lets requests to stop raise an interrupt, which is polled; `effect` is printed at the first.
pub(crate) fn defer(interrupt: Interrupt, effect: &'static str) -> Deferred {
    *deferred() = Some(Raised { interrupt, effect });
    Deferred(())
}

impl Drop for Deferred {
    fn drop(&mut self) {
        *deferred() = None;
    }
}

fn deferred() -> MutexGuard<'static, Option<Raised>> {
    INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the end of this process, if it is about to end by a signal.
pub(crate) fn end_if_requested() {
    while ENDS.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// Lets the run in hand be the last one; ignored where nothing is run.
fn end_after_run() {
    let Some(raised) = deferred().clone() else { return };
    raised.interrupt.end_after_run();
    write_status("stops     after the run in hand, as requested by a page of `assay serve`");
}

/// Raises the interrupt, or ends the process by the signal after removing its temporary files.
///
/// A line states what is stopped: nothing is printed where it ends at once and took no time.
fn stop(signal: Signal) {
    let what = phase::known();
    let raised = deferred().clone();
    if let Some(Raised { interrupt, effect }) = raised {
        interrupt.raise();
        let what = what.unwrap_or_else(|| "for the current operation".to_owned());
        if interrupt.level() == 1 {
            let line = format!("stops     the wait {what} ends within seconds. {effect}");
            return write_status(&line);
        }
        write_status(&format!("stops     the wait {what} ends at once"));
        thread::park_timeout(END_WITHIN);
    } else if let Some(what) = what {
        write_status(&format!("stops     the wait {what} ends at once. Complete results stay"));
    }
    ENDS.store(true, Ordering::SeqCst);
    archive::remove_scratch();
    supply::remove_unfinished();
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
