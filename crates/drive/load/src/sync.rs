//! Threads, atomics and channels: the standard ones, or shuttle's under `model-check`.
//!
//! Everything in this crate that two threads share goes through here, so that the model checker
//! controls it. To use another primitive, add it to both halves.

#[cfg(not(feature = "model-check"))]
pub(crate) use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

#[cfg(feature = "model-check")]
pub(crate) use shuttle::{
    sync::{
        Arc, Condvar, Mutex,
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
