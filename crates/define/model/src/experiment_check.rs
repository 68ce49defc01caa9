//! Checks of an experiment's sizes and figures: those of the plan, and of files from elsewhere.

use std::collections::BTreeSet;

use crate::experiment::{DataShape, Experiment, Plan};
use crate::limits::{
    CELLS_MAX, CLIENTS_MAX, COMPRESSIBLE_TO_MIN, FIO_MIN, JOB_BYTES, JOBS_MAX, KEY_BYTES_MIN,
    LEVELS_MAX, LIST_MAX, NAME_BYTES_MAX, ROWS_MAX, RUN_NAME_BYTES_MAX, SPAN_MAX, STEPS_MAX,
    VALUE_BYTES_MAX, VARIANTS_MAX, check_name, check_number, check_share, check_time,
};
use crate::load::{Load, PIPELINE_MAX};
use crate::published::Expected;
use crate::step::{Step, StopRule};
use crate::step_event::StepEvent;
use crate::units::Nanos;

impl Experiment {
    /// Checks its sizes, names and figures.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        check_name("name", &self.name, NAME_BYTES_MAX)?;
        let sizes = [
            ("variants", self.variants.len(), VARIANTS_MAX),
            ("steps", self.steps.len(), STEPS_MAX),
            ("clients", self.clients.len(), LEVELS_MAX),
        ];
        for (list, length, most) in sizes {
            check_number(list, length as u64, (1, most as u64))?;
        }
        let lists = [
            ("measure", self.measure.len()),
            ("answer", self.answer.len()),
            ("waivers", self.waivers.len()),
            ("published", self.published.iter().map(|one| one.findings.len().max(1)).sum()),
        ];
        for (list, length) in lists {
            check_number(list, length as u64, (0, LIST_MAX as u64))?;
        }
        let rows = self.variants.len() * self.clients.len() * self.steps.len();
        if rows > ROWS_MAX {
            return Err(format!(
                "variants, clients and steps make {rows} rows of a comparison, more than {ROWS_MAX}"
            ));
        }
        check_number("repetitions", u64::from(self.repetitions), (1, CELLS_MAX as u64))?;
        let mut levels = BTreeSet::new();
        for clients in &self.clients {
            check_number("clients", u64::from(*clients), (1, u64::from(CLIENTS_MAX)))?;
            if !levels.insert(clients) {
                return Err(format!("clients has the level {clients} twice"));
            }
        }
        if self.memory_bytes.is_some_and(|bytes| bytes.0 == 0) {
            return Err("memory_bytes is 0".to_owned());
        }
        check_share("margin", self.margin)?;
        if self.margin <= 0.0 {
            return Err("margin is 0, not a share above 0".to_owned());
        }
        self.data.check(self.application.is_some())?;
        self.check_variants()?;
        self.check_device()?;
        if let Some(hosts) = &self.hosts {
            hosts.check().map_err(|reason| format!("hosts.{reason}"))?;
        }
        if let Some(application) = &self.application {
            application.check().map_err(|reason| format!("application.{reason}"))?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            step.check().map_err(|reason| format!("steps[{index}].{reason}"))?;
        }
        self.check_published()
    }

    /// Checks the names of the variants.
    fn check_variants(&self) -> Result<(), String> {
        check_name("base", &self.base, RUN_NAME_BYTES_MAX)?;
        let mut names = BTreeSet::new();
        for variant in &self.variants {
            check_name("variant", &variant.name, RUN_NAME_BYTES_MAX)?;
            if !names.insert(&variant.name) {
                return Err(format!("variants has two named {:?}", variant.name));
            }
        }
        match names.contains(&self.base) {
            true => Ok(()),
            false => Err(format!("base is {:?}, no variant of the plan", self.base)),
        }
    }

    /// Checks the jobs of tests of storage, and that each has its part of the file.
    fn check_device(&self) -> Result<(), String> {
        let Some(device) = &self.device else { return Ok(()) };
        let most = self.clients.iter().copied().max().unwrap_or(1);
        check_number("clients", u64::from(most), (1, u64::from(JOBS_MAX)))?;
        let least = JOB_BYTES * u64::from(most);
        check_number("device.size_bytes", device.file_bytes().0, (least, u64::MAX))?;
        let is_short = |step: &Step| !matches!(step.stop, StopRule::Duration(it) if it >= FIO_MIN);
        match self.steps.iter().find(|step| is_short(step)) {
            Some(step) => Err(format!("step {} ends before {FIO_MIN}", step.name)),
            None => Ok(()),
        }
    }

    fn check_published(&self) -> Result<(), String> {
        for finding in self.published.iter().flat_map(|one| &one.findings) {
            if let Expected::Ratio(ratio) = finding.expected
                && !(ratio > 0.0 && ratio.is_finite())
            {
                return Err(format!("published has the ratio {ratio:e}, not one above 0"));
            }
        }
        Ok(())
    }
}

impl DataShape {
    /// Checks the sizes of a row; an application's may be larger than a key-value store's.
    fn check(&self, is_application: bool) -> Result<(), String> {
        check_number("data.rows", self.rows, (1, u64::MAX))?;
        let key_bytes = (u64::from(KEY_BYTES_MIN), u64::from(u32::MAX));
        check_number("data.key_bytes", u64::from(self.key_bytes), key_bytes)?;
        let most = if is_application { u32::MAX } else { VALUE_BYTES_MAX };
        check_number("data.value_bytes", u64::from(self.value_bytes), (0, u64::from(most)))?;
        match (COMPRESSIBLE_TO_MIN..=1.0).contains(&self.compressible_to) {
            true => Ok(()),
            false => Err(format!(
                "data.compressible_to is {:e}, not from {COMPRESSIBLE_TO_MIN} to 1",
                self.compressible_to
            )),
        }
    }
}

impl Step {
    /// Checks its name and figures; 0 clients stand for the clients of the cell.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        check_name("name", &self.name, NAME_BYTES_MAX)?;
        let threads = u64::from(CLIENTS_MAX);
        check_number("clients", u64::from(self.clients), (0, threads))?;
        check_number("connections", u64::from(self.connections), (1, threads))?;
        let amounts = [
            ("range_rows", self.range_rows),
            ("batch_keys", self.batch_keys),
            ("field_bytes", self.field_bytes),
        ];
        for (field, value) in amounts {
            check_number(field, u64::from(value), (1, u64::from(u32::MAX)))?;
        }
        let length = match self.stop {
            StopRule::Operations(_) => Nanos(0),
            StopRule::Duration(length) => length,
        };
        for (field, time) in [
            ("stop", length),
            ("warmup", self.warmup),
            ("settle_cap", self.settle_cap),
            ("limit", self.limit.map_or(Nanos(0), |limit| limit.within)),
        ] {
            check_time(field, time, SPAN_MAX)?;
        }
        StepEvent::check_all(&self.events, length)
            .map_err(|fault| format!("events[{}] is not possible: {}", fault.index, fault.why))?;
        if self.load.is_search() && length == Nanos(0) {
            return Err("load is a search, but stop is not a duration".to_owned());
        }
        match &self.load {
            Load::Pipelined(depth) => {
                check_number("load", u64::from(*depth), (2, u64::from(PIPELINE_MAX)))?;
            }
            Load::Open(open) if !open.rate.is_sound() => {
                return Err(
                    "load has a rate that is not above 0 and at most 1e9/s, or too many".to_owned()
                );
            }
            Load::FindRate(_) if self.limit.is_none() => {
                return Err(
                    "load searches the highest rate within a limit, but has no limit".to_owned()
                );
            }
            Load::Closed | Load::Open(_) | Load::FindRate(_) | Load::FindClients => {}
        }
        match &self.limit {
            Some(limit) if !(limit.share > 0.0 && limit.share < 1.0) || limit.within.0 == 0 => {
                Err(format!("limit is a share of {:e} within {}", limit.share, limit.within))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Plan {
    /// Checks the experiment, and the runs that it names.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub fn check(&self) -> Result<(), String> {
        self.experiment.check().map_err(|reason| format!("experiment.{reason}"))?;
        check_number("cells", self.cells.len() as u64, (0, CELLS_MAX as u64))?;
        let variants: BTreeSet<_> =
            self.experiment.variants.iter().map(|variant| &variant.name).collect();
        let mut ids = BTreeSet::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let at = |reason: String| format!("cells[{index}].{reason}");
            cell.check().map_err(at)?;
            if !variants.contains(&cell.variant) {
                return Err(at(format!("variant is {:?}, no variant of the plan", cell.variant)));
            }
            if !ids.insert(&cell.id) {
                return Err(at(format!("id is {:?}, the same as an earlier cell", cell.id)));
            }
        }
        Ok(())
    }
}
