//! Threads, atomics and channels: the standard ones, or shuttle's under `model-check`.
//!
//! Everything in this crate that two threads share goes through here, so that the model checker
//! controls it. To use another primitive, add it to both halves.

#[cfg(not(feature = "model-check"))]
pub(crate) use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

#[cfg(feature = "model-check")]
pub(crate) use shuttle::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use model::Nanos;

/// Waits for a message, at most `span`; `None` when none came.
#[cfg(not(feature = "model-check"))]
pub(crate) fn receive_within<T>(receiver: &Receiver<T>, span: Nanos) -> Option<T> {
    receiver.recv_timeout(std::time::Duration::from_nanos(span.0)).ok()
}

/// Waits for a message: shuttle has no time, so a wait may end at once.
#[cfg(feature = "model-check")]
pub(crate) fn receive_within<T>(receiver: &Receiver<T>, _span: Nanos) -> Option<T> {
    let message = receiver.try_recv().ok();
    if message.is_none() {
        thread::yield_now();
    }
    message
}

/// A value that is set once and can be waited for: shuttle has none.
#[cfg(feature = "model-check")]
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    lock: Mutex<()>,
    changed: shuttle::sync::Condvar,
}

#[cfg(feature = "model-check")]
impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        let (lock, changed) = (Mutex::new(()), shuttle::sync::Condvar::new());
        Self { value: std::sync::OnceLock::new(), lock, changed }
    }
}

#[cfg(feature = "model-check")]
impl<T> OnceLock<T> {
    /// Sets the value, unless there is one.
    pub(crate) fn get_or_init(&self, value: impl FnOnce() -> T) {
        let _guard = self.lock.lock();
        self.value.get_or_init(value);
        self.changed.notify_all();
    }

    /// Waits until there is a value.
    pub(crate) fn wait(&self) -> &T {
        let mut guard = self.lock.lock().expect("no panic while holding the lock");
        loop {
            if let Some(value) = self.value.get() {
                return value;
            }
            guard = self.changed.wait(guard).expect("no panic while holding the lock");
        }
    }
}

pub(crate) use thread::ScopedJoinHandle as JoinHandle;

/// Starts a thread of that name within `scope`.
#[cfg(not(feature = "model-check"))]
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<JoinHandle<'scope, T>> {
    thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, body)
}

/// Starts a thread: shuttle's have no names, and never fail to start.
#[cfg(feature = "model-check")]
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    _name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<JoinHandle<'scope, T>> {
    Ok(scope.spawn(body))
}
