//! A time in which samples were taken.

use model::Nanos;

/// A time in which samples were taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// Begin, by the clock of the samples.
    pub(crate) from: Nanos,
    /// End; `None` while the span lasts.
    pub(crate) until: Option<Nanos>,
}

impl Span {
    /// Returns whether the span has a time of the clock of samples.
    pub(crate) fn contains(&self, time: Nanos) -> bool {
        self.from <= time && self.until.is_none_or(|until| time <= until)
    }
}
