//! Threads, atomics and channels of shuttle, in the place of those in `sync.rs`.

use model::Nanos;
use shuttle::sync::Condvar;

pub(crate) use shuttle::{
    sync::{
        Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, ScopedJoinHandle as JoinHandle},
};

/// Waits for a message: shuttle has no time, so a wait may end at once.
pub(crate) fn receive_within<T>(receiver: &Receiver<T>, _span: Nanos) -> Option<T> {
    let message = receiver.try_recv().ok();
    if message.is_none() {
        thread::yield_now();
    }
    message
}

/// A value that is set once and can be waited for: shuttle has none.
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    lock: Mutex<()>,
    changed: Condvar,
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        Self { value: std::sync::OnceLock::new(), lock, changed }
    }
}

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

/// Starts a thread: shuttle's have no names, and never fail to start.
pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    _name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<JoinHandle<'scope, T>> {
    Ok(scope.spawn(body))
}
