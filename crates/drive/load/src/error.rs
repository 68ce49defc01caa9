//! Errors of steps that could not begin.

use engine::EngineError;
use model::Nanos;

/// A step that did not begin; later failures are in [`crate::StepEnd`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no client to measure.
    #[error("the step has no client: give it at least one")]
    NoClients,
    /// The clients would stop before they begin.
    #[error("the step ends before it begins: give it at least one operation or nanosecond")]
    NothingToDo,
    /// Operations of the warm-up would count as the step's.
    #[error("a warm-up of {warmup} needs a step that ends by duration, not by count")]
    WarmupByCount {
        /// The requested warm-up.
        warmup: Nanos,
    },
    /// Intervals of this length cannot be recorded.
    #[error("an interval of {interval} is not between 1 ms and {max}")]
    Interval {
        /// The requested interval.
        interval: Nanos,
        /// The longest possible.
        max: Nanos,
    },
    /// A rate that is no positive number, or too high.
    #[error(
        "a rate of {ops_per_s} operations per second: it must be a number above 0, at most {max}"
    )]
    Rate {
        /// The requested rate.
        ops_per_s: f64,
        /// The highest possible.
        max: f64,
    },
    /// A search, of which only the probes are loads.
    #[error("a search is not a load: run its probes one by one, each with its rate or clients")]
    Search,
    /// The engine gave a client no session.
    #[error("{who} got no session: {source}")]
    Session {
        /// The client.
        who: String,
        /// The engine's error.
        source: EngineError,
    },
    /// The system gave a client no thread.
    #[error("{who} got no thread: {source}; use fewer clients or raise the limit on processes")]
    Thread {
        /// The client.
        who: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The stop flag was set before the clients began.
    #[error("stopped before the step began")]
    Stopped,
}
