//! Locks, atomics and threads: the standard ones, or shuttle's under `model-check`.
//!
//! Everything that orders the threads of a database goes through here, so that the model checker
//! controls it. The skip lists, the caches and the counters do not: none makes a thread wait.

#[cfg(not(feature = "model-check"))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard, RwLock,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::{Builder, JoinHandle},
};

#[cfg(feature = "model-check")]
pub(crate) use shuttle::{
    sync::{
        Condvar, Mutex, MutexGuard, RwLock,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::{Builder, JoinHandle},
};

use std::sync::PoisonError;

/// Locks a mutex; after a panic of another thread its content is still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
