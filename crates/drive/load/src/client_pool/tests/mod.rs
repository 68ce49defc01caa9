//! Tests of the client pool.

#[cfg(not(feature = "model-check"))]
mod checks;
#[cfg(not(feature = "model-check"))]
mod coordinated_omission;
#[cfg(feature = "model-check")]
mod model_check;
#[cfg(not(feature = "model-check"))]
mod open_loop;
#[cfg(not(feature = "model-check"))]
mod real_threads;
