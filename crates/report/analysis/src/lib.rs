//! Derived metrics of run records, and comparisons with a base case.
//!
//! No formatting and no archive: no file or clock is read, and the same records always give the
//! same result. It stands between `archive` (stores the records) and `render` (shows the results).
//!
//! Invariants: the unit of analysis is one run, seconds inside a run are never "n"; a cost per
//! operation is a ratio of totals, never a mean of ratios; what cannot be computed is absent, never
//! 0; nothing is dropped silently; invalid intervals and runs never count. Verdicts on differences
//! come from `stats`, always with an interval.
//!
//! To add a derived metric, add its line to `model::metric::METRICS` and its formula to the file of
//! its subject in [`metrics`]; statistics stand in `stats`; validity checks stand in `lint`.

pub mod answers;
mod availability;
pub mod budget;
pub mod compare;
pub mod comparison;
pub mod cuts;
pub mod device;
pub mod error;
pub mod explain;
pub mod family;
pub mod history;
pub mod hosts;
pub mod join;
pub mod machines;
pub mod metrics;
pub mod micro;
mod narrow;
pub mod noise;
pub mod part;
mod primary;
pub mod profile;
pub mod published;
pub mod rate_curve;
pub mod rerun;
mod samples;
pub mod scaling;
pub mod storage_use;
pub mod timeline;
pub mod trade_offs;
pub mod usl;
pub mod warmup_trim;

#[cfg(test)]
mod testing;

pub use answers::Answer;
pub use availability::{Distribution, EventSummary, Return, event_summaries, write_checks};
pub use compare::compare;
pub use comparison::{
    CellComparison, Comparison, Families, Family, IncompleteRun, InvalidRun, MeanOfRuns, Measured,
    Pair, PartComparison, Rank, RunsComparison, StepComparison, TradeOff, VariantRuns, is_given,
};
pub use cuts::{CutSummary, Lost, SmallestLoss, bound_without_loss, cut_summary, smallest_loss};
pub use device::{DeviceFigure, Saturation, device_figures, is_bogus, saturations};
pub use error::AnalysisError;
pub use explain::{Explanation, explain};
pub use hosts::{
    AcrossHosts, CellAcross, GOOD_COV, HostDifference, HostRuns, OnHost, Setup, across_hosts,
    host_differences,
};
pub use join::join;
pub use machines::{
    Forecast, MachineFactor, MachineRatios, MachineRuns, effective_hosts, machines_of,
};
pub use metrics::{
    Percentile, RATE_SUSTAINED, Time, Withheld, bytes_put, client_cpu, interval_operations,
    is_of_server, per_op, primary_operations, rate_metrics, requests, response_time, run_metrics,
    service_time, step_metrics, with_memory, with_writers, writer_rate_target,
};
pub use micro::{KernelCell, kernel_cells};
pub use noise::{Noise, NoiseCell, NoiseHistory, noise_cells};
pub use part::{PartKind, PartName, committed_per_min};
pub use profile::{FunctionAccount, FunctionCost, FunctionDifference, Group, LeftOut, Scope};
pub use published::{Held, HeldFinding, Here, Reproduction, Unmeasured, untried};
pub use rate_curve::{FoundRates, KnownTimes, ProbePlace, RateCurve, RatePoint, rate_curves};
pub use rerun::{RerunFinding, RerunOutcome, rerun_findings};
pub use scaling::{Busy, Level, Origin, Scaling, scalability};
pub use storage_use::{StorageUse, is_profile_of, storage_uses, target_on};
pub use timeline::{
    Activity, MeasuredStep, TimeSeries, Timeline, TimelineStall, counted_seconds, timeline,
};
pub use trade_offs::TRADE_OFFS;
pub use usl::{Fit, NoFit, Observation, Peak};
pub use warmup_trim::{WarmupTrims, moment, warmup_trim_phrase, warmup_trims};
