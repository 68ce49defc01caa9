//! Threads, atomics and channels; `model_check.rs` is in this file's place under `model-check`.
//!
//! Everything in this crate that two threads share goes through here, so that the model checker
//! controls it. To use another primitive, add it to both files.

use std::time::Duration;

use model::Nanos;

pub(crate) use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, ScopedJoinHandle as JoinHandle},
};

/// Waits for a message, at most `span`; `None` when none came.
pub(crate) fn receive_within<T>(receiver: &Receiver<T>, span: Nanos) -> Option<T> {
    receiver.recv_timeout(Duration::from_nanos(span.0)).ok()
}

/// Starts a thread of that name within `scope`.
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<JoinHandle<'scope, T>> {
    thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, body)
}
