//! The current phase of the program: printed if it lasts, and when the program is stopped.
//!
//! A phase that prints nothing for a moment is printed by a thread of its own, on a terminal and in
//! a pipe; a short one is not.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Time after which a first phase that has printed nothing is named, and a later one.
///
/// Our choice: a command that prints nothing for half a second seems not to have begun, and one
/// that prints nothing for more than a second to hang.
const SILENT_MAX: [Duration; 2] = [Duration::from_millis(400), Duration::from_millis(900)];

/// The phase of this process.
struct Phase {
    text: String,
    /// Counts the phases.
    number: u64,
    /// It is named, or something else was printed since it began.
    is_known: bool,
    /// Something was printed, in this phase or before it.
    has_printed: bool,
}

static CURRENT: Mutex<Phase> =
    Mutex::new(Phase { text: String::new(), number: 0, is_known: true, has_printed: false });
static CHANGED: Condvar = Condvar::new();

fn current() -> MutexGuard<'static, Phase> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints, from now on, the phases that print nothing for a moment.
pub(crate) fn begin(print: fn(&str)) {
    // Without a thread no phase is named.
    drop(thread::Builder::new().name("phase".to_owned()).spawn(move || watch(print)));
}

/// Begins a phase: for what the user waits, and how long at most where that is limited.
pub(crate) fn enter(text: impl Into<String>) {
    set(text.into(), false);
}

/// Begins a phase whose lines are printed by others.
pub(crate) fn enter_known(text: impl Into<String>) {
    set(text.into(), true);
}

/// Ends the phase.
pub(crate) fn leave() {
    set(String::new(), true);
}

fn set(text: String, is_known: bool) {
    let mut phase = current();
    (phase.text, phase.is_known) = (text, is_known);
    phase.number += 1;
    CHANGED.notify_all();
}

/// Notes that something was printed.
pub(crate) fn note_output() {
    let mut phase = current();
    (phase.is_known, phase.has_printed) = (true, true);
}

/// Returns the phase that the user knows of; `None` for a short one.
pub(crate) fn known() -> Option<String> {
    let phase = current();
    (phase.is_known && !phase.text.is_empty()).then(|| phase.text.clone())
}

/// Names each phase that prints nothing.
fn watch(print: fn(&str)) {
    loop {
        let new = CHANGED.wait_while(current(), |phase| phase.is_known);
        let new = new.unwrap_or_else(PoisonError::into_inner);
        let (number, limit) = (new.number, SILENT_MAX[usize::from(new.has_printed)]);
        let is_silent = |phase: &mut Phase| phase.number == number && !phase.is_known;
        let waited = CHANGED.wait_timeout_while(new, limit, is_silent);
        let (mut phase, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            phase.is_known = true;
            let line = format!("waits     {}", phase.text);
            drop(phase);
            print(&line);
        }
    }
}
