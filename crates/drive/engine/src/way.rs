//! How operations on parts of values are executed.

/// Option of drivers: how parts of values are changed, where there are several ways.
pub const VALUE_CHANGES: &str = "assay.value_changes";

/// How an engine executes operations on parts of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A read and a write of the whole value, by the driver.
    ReadModifyWrite,
    /// By the engine, which reports absent rows and parts beyond the end.
    Native,
    /// By the engine, which writes the change without reading the row.
    ///
    /// An absent row is not reported: it is made. A part beyond the end is left out.
    Blind,
}

impl Way {
    /// Returns the way as records have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadModifyWrite => "read-modify-write",
            Self::Native => "native",
            Self::Blind => "native, blind",
        }
    }
}
