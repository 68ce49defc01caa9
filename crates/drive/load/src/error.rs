//! Errors of steps that could not begin.

use engine::EngineError;
use model::Nanos;

/// A step that did not begin; later failures are in [`crate::StepEnd`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no client to measure.
    #[error("the step has no client: give the step at least one client")]
    NoClients,
    /// The clients would stop before they begin.
    #[error("the step ends before it begins: give the step at least one operation or nanosecond")]
    NothingToDo,
    /// Operations of this warm-up would count as the step's.
    #[error("a warm-up of {0} needs a step that ends by duration, not by count")]
    WarmupByCount(Nanos),
    /// Intervals of this length cannot be recorded; the second is the longest possible.
    #[error("an interval of {0} is not between 1 ms and {1}")]
    Interval(Nanos, Nanos),
    /// A rate that is no positive number, or higher than the second, operations per second.
    #[error("the rate is {0} operations per second, but must be above 0, at most {1}")]
    Rate(f64, f64),
    /// A search, of which only the probes are loads.
    #[error("a search is not a load: run its probes one by one, each with its rate or clients")]
    Search,
    /// The engine gave the client of this name no session.
    #[error("{0} got no session: {1}")]
    Session(String, #[source] EngineError),
    /// The system gave the client of this name no thread.
    #[error("{0} got no thread: {1}; use fewer clients or raise the limit on processes")]
    Thread(String, #[source] std::io::Error),
    /// Several processes run the step, and this one cannot begin with the others.
    #[error("{0}")]
    Start(String),
    /// The stop flag was set before the clients began.
    #[error("stopped before the step began")]
    Stopped,
}
