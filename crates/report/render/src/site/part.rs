//! The parts of an experiment's page, each with an address of its own.

/// A part of an experiment's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagePart {
    /// Verdicts, differences and figures.
    Answer,
    /// Throughput second by second.
    Seconds,
    /// Percentiles and heat maps of latency.
    Latency,
    /// CPU, writes and space per operation.
    Costs,
    /// What differences come from.
    Explained,
    /// What engines and servers did, second by second.
    Timelines,
    /// What the rules found.
    Warnings,
    /// Hosts, builds, options, order of the runs.
    How,
}

impl PagePart {
    /// Every part, in the order of the page.
    pub const ALL: [Self; 8] = [
        Self::Answer,
        Self::Seconds,
        Self::Latency,
        Self::Costs,
        Self::Explained,
        Self::Timelines,
        Self::Warnings,
        Self::How,
    ];

    /// Returns its directory below the experiment's; empty for the first.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Answer => "",
            Self::Seconds => "seconds",
            Self::Latency => "latency",
            Self::Costs => "costs",
            Self::Explained => "explained",
            Self::Timelines => "timelines",
            Self::Warnings => "warnings",
            Self::How => "how",
        }
    }

    /// Returns the part of that directory.
    pub fn of(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.path() == path)
    }

    /// Returns its title.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Answer => "The answer",
            Self::Seconds => "Second by second",
            Self::Latency => "Latency",
            Self::Costs => "What it costs",
            Self::Explained => "Explained",
            Self::Timelines => "Time lines",
            Self::Warnings => "Warnings",
            Self::How => "How it was done",
        }
    }
}
