//! The engine of a run: opened once, or opened again at events.

use engine::{Engine, EngineError};
use load::{OpenAgain, Reopening};

use super::open::{Registry, open_spec};
use crate::message::Order;

/// The open engine of a run.
pub(super) enum RunEngine<'a> {
    /// No event opens it again.
    Once(Box<dyn Engine>),
    /// The clients of some step open it again.
    Again(Box<Reopening<'a>>),
}

impl<'a> RunEngine<'a> {
    /// Returns the engine of an order; `open` opens it again.
    pub(super) fn of(engine: Box<dyn Engine>, order: &Order, open: &'a OpenAgain<'a>) -> Self {
        let mut events = order.steps.iter().flat_map(|step| &step.events);
        match events.any(|event| event.kind.is_of_embedded()) {
            true => Self::Again(Box::new(Reopening::new(engine, open))),
            false => Self::Once(engine),
        }
    }

    /// Returns it as an engine.
    pub(super) fn as_engine(&self) -> &dyn Engine {
        match self {
            Self::Once(engine) => engine.as_ref(),
            Self::Again(engine) => engine.as_ref(),
        }
    }

    /// Returns what clients open again; `None` where no event does.
    pub(super) fn reopening(&self) -> Option<&Reopening<'a>> {
        if let Self::Again(engine) = self { Some(engine) } else { None }
    }

    /// Closes the engine.
    pub(super) fn close(self) -> Result<(), EngineError> {
        match self {
            Self::Once(engine) => engine.close(),
            Self::Again(engine) => engine.close(),
        }
    }
}

/// Opens the engine of an order, whose data exist.
pub(super) fn open_again(
    order: &Order,
    registry: &Registry,
) -> Result<Box<dyn Engine>, EngineError> {
    registry(&order.variant.build.engine, order.library.as_ref())?.open(&open_spec(order))
}
