//! Checks of the figures of records, which may come from elsewhere.
//!
//! Single numbers are checked where the file is read; here is what several must be to each other.

use crate::device::{DeviceRecord, IoTotals};
use crate::experiment::Cell;
use crate::histogram::LONGEST_NS;
use crate::limits::{
    CLIENTS_MAX, EVENTS_MAX, NAME_BYTES_MAX, PROCEDURES_MAX, RUN_NAME_BYTES_MAX, SPAN_MAX,
    STEPS_MAX, check_name, check_number, check_share, check_time,
};
use crate::number::float;
use crate::op_summary::{OpSummaries, Percentiles};
use crate::record::{IntervalRecord, RunRecord, SecondStats, StepRecord};
use crate::validity::SearchRecord;

/// Share by which a percentile may exceed the exact maximum: the width of a bucket of fio.
///
/// Source: fio, stat.h, `FIO_IO_U_PLAT_BITS`: 64 buckets between powers of two.
const BUCKET_SHARE: f64 = 1.0 / 64.0;

/// Longest time of a percentile: a histogram's longest, and half a per cent for its buckets.
const TIME_MAX_NS: u64 = LONGEST_NS + LONGEST_NS / 200;

impl Cell {
    /// Checks its names and figures.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        check_name("id", &self.id, RUN_NAME_BYTES_MAX)?;
        check_name("variant", &self.variant, RUN_NAME_BYTES_MAX)?;
        check_number("clients", u64::from(self.clients), (1, u64::from(CLIENTS_MAX)))?;
        check_number("repetition", u64::from(self.repetition), (1, u64::from(u32::MAX)))
    }
}

impl RunRecord {
    /// Checks its names, and what its figures must be to each other.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        self.cell.check().map_err(|reason| format!("cell.{reason}"))?;
        if self.variant.name != self.cell.variant {
            let (name, cell) = (&self.variant.name, &self.cell.variant);
            return Err(format!("variant.name is {name:?}, but cell.variant is {cell:?}"));
        }
        check_number("steps", self.steps.len() as u64, (0, STEPS_MAX as u64))?;
        if let Some(lag) = self.calibration.as_ref().and_then(|one| one.start_lag.as_ref()) {
            lag.check().map_err(|reason| format!("calibration.start_lag.{reason}"))?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            step.check().map_err(|reason| format!("steps[{index}].{reason}"))?;
        }
        Ok(())
    }
}

impl StepRecord {
    fn check(&self) -> Result<(), String> {
        check_number("index", u64::from(self.index), (0, STEPS_MAX as u64 - 1))?;
        self.step.check().map_err(|reason| format!("step.{reason}"))?;
        check_time("duration_ns", self.duration_ns, SPAN_MAX)?;
        check_summaries("clients", &self.clients)?;
        check_summaries("writers", &self.writers)?;
        check_number("procedures", self.procedures.len() as u64, (0, PROCEDURES_MAX as u64))?;
        check_number("statements", self.statements.len() as u64, (0, EVENTS_MAX as u64))?;
        let waits = self.waits.as_ref().map(|waits| [&waits.clients, &waits.writers]);
        for sessions in waits.into_iter().flatten() {
            check_number("waits.events", sessions.events.len() as u64, (0, EVENTS_MAX as u64))?;
        }
        for call in &self.procedures {
            call.service.check().map_err(|reason| format!("procedures.service.{reason}"))?;
        }
        self.seconds.check().map_err(|reason| format!("seconds.{reason}"))?;
        if let Some(arrivals) = &self.arrivals {
            arrivals.start_lag.check().map_err(|reason| format!("arrivals.start_lag.{reason}"))?;
        }
        if let Some(invalid) = &self.invalid_intervals {
            let all = u64::from(invalid.of_intervals);
            check_number("invalid_intervals.intervals", u64::from(invalid.intervals), (0, all))?;
            check_time("invalid_intervals.valid_ns", invalid.valid_ns, SPAN_MAX)?;
            check_summaries("invalid_intervals.valid", &invalid.valid)?;
        }
        if let Some(cycle) = self.time_profile.as_ref().and_then(|one| one.cycle) {
            check_share("time_profile.cycle.variance_share", cycle.variance_share)?;
        }
        self.search.as_ref().map_or(Ok(()), SearchRecord::check)
    }
}

impl SecondStats {
    fn check(&self) -> Result<(), String> {
        check_number("stalled_seconds", self.stalled_seconds, (0, self.seconds))?;
        check_order(&[
            ("p1_ops", self.p1_ops),
            ("p50_ops", self.p50_ops),
            ("max_ops", self.max_ops),
        ])
    }
}

impl SearchRecord {
    fn check(&self) -> Result<(), String> {
        for (index, probe) in self.probes.iter().enumerate() {
            let at = |reason: String| format!("search.probes[{index}].{reason}");
            check_share("late_share", probe.late_share).map_err(at)?;
            check_share("late_interval", probe.late_interval.0).map_err(at)?;
            check_share("late_interval", probe.late_interval.1).map_err(at)?;
            check_time("duration_ns", probe.duration_ns, SPAN_MAX).map_err(at)?;
            probe.response.check().map_err(|reason| at(format!("response.{reason}")))?;
            probe.service.check().map_err(|reason| at(format!("service.{reason}")))?;
        }
        Ok(())
    }
}

impl IntervalRecord {
    /// Checks what its figures must be to each other.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        check_number("step_index", u64::from(self.step_index), (0, STEPS_MAX as u64 - 1))?;
        check_time("start_ns", self.start_ns, SPAN_MAX)?;
        check_time("length_ns", self.length_ns, SPAN_MAX)?;
        check_summaries("clients", &self.clients)?;
        check_summaries("writers", &self.writers)?;
        let lag = self.start_lag.as_ref().map_or(Ok(()), Percentiles::check);
        lag.map_err(|reason| format!("start_lag.{reason}"))
    }
}

impl DeviceRecord {
    /// Checks its names, and what its figures must be to each other.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        check_name("id", &self.id, NAME_BYTES_MAX)?;
        check_name("host.fingerprint", &self.host.fingerprint, RUN_NAME_BYTES_MAX)?;
        for target in &self.targets {
            check_share("targets.never_written", target.never_written.unwrap_or(0.0))?;
        }
        for (index, cell) in self.cells.iter().enumerate() {
            let at = |reason: String| format!("cells[{index}].{reason}");
            check_number("jobs", u64::from(cell.jobs), (1, u64::from(CLIENTS_MAX))).map_err(at)?;
            for sample in &cell.samples {
                for totals in [&sample.read, &sample.write, &sample.sync].into_iter().flatten() {
                    totals.check().map_err(at)?;
                }
            }
        }
        self.steady.iter().try_for_each(|level| check_share("steady.full", level.full))
    }
}

impl IoTotals {
    fn check(&self) -> Result<(), String> {
        let (half, most) = (("p50_ns", float(self.p50_ns)), ("p99_ns", float(self.p99_ns)));
        let Some(others) = &self.others else { return check_order(&[half, most]) };
        check_order(&[
            half,
            ("p90_ns", float(others.p90_ns)),
            most,
            ("p999_ns", float(others.p999_ns)),
            ("p9999_ns", float(others.p9999_ns)),
        ])
    }
}

impl Percentiles {
    fn check(&self) -> Result<(), String> {
        check_order(&[
            ("p50_ns", float(self.p50_ns)),
            ("p90_ns", float(self.p90_ns)),
            ("p99_ns", float(self.p99_ns)),
            ("p999_ns", float(self.p999_ns)),
            ("p9999_ns", float(self.p9999_ns)),
            ("max_ns", float(self.max_ns) * (1.0 + BUCKET_SHARE)),
        ])?;
        check_number("max_ns", self.max_ns, (0, TIME_MAX_NS))?;
        // The mean is of the middles of buckets, which are 0.1 % wide.
        match self.mean_ns <= float(self.max_ns) * 1.01 {
            true => Ok(()),
            false => Err(format!("mean_ns is {:e}, above the longest", self.mean_ns)),
        }
    }
}

fn check_summaries(field: &str, of: &OpSummaries) -> Result<(), String> {
    for (kind, summary) in of {
        for (times, percentiles) in [("response", summary.response), ("service", summary.service)] {
            percentiles.check().map_err(|reason| format!("{field}.{kind}.{times}.{reason}"))?;
        }
    }
    Ok(())
}

/// Checks that each figure is at least the one before it.
fn check_order(figures: &[(&str, f64)]) -> Result<(), String> {
    for pair in figures.windows(2) {
        let [(lower, less), (higher, more)] = pair else { continue };
        if less > more {
            return Err(format!("{lower} is {less}, above {higher}, {more}"));
        }
    }
    Ok(())
}
