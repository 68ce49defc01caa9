//! Resolves fields of an experiment file to checked values.

use std::ops::Range;

use model::sql::TrafficSpec;
use model::units::{parse_count, parse_size, parse_span};
use model::{
    Allocator, Bytes, Durability, Load, Nanos, OpUnit, Step, StepInfo, StepRole, StopRule,
};
use toml::Spanned;

use crate::application::Loaded;
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};
use crate::nearest::nearest;
use crate::spec::{BenchmarkTable, StepEntry, StepTable, Text, WordOr};

/// Default length of a step that ends by duration.
///
/// Our choice: a minute is the shortest that shows compaction; [Callaghan mytools] uses more.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(60);
/// Longest default warm-up, which is a tenth of the duration.
const WARMUP_MAX: Nanos = Nanos::from_secs(5);
/// Default longest settle.
const SETTLE_CAP_DEFAULT: Nanos = Nanos::from_secs(1200);
/// The same for an application's steps: a minute, and a second per million rows.
///
/// Source: [Callaghan mytools], settle phase of the insert benchmark.
const SETTLE_CAP_LEAST: Nanos = Nanos::from_secs(60);
const SETTLE_PER_ROW: Nanos = Nanos(1_000);
/// Rate of the background writer. Source: benchmark_compare.sh, `MB_WRITE_PER_SEC` (2 MiB/s).
const WRITER_RATE_DEFAULT: Bytes = Bytes(2 << 20);
/// Rows of a range read. Source: benchmark.sh, `seek_nexts`.
const RANGE_ROWS_DEFAULT: u32 = 10;
/// Keys of a `multi_get`. Source: benchmark.sh, `batch_size` of multireadrandom.
const BATCH_KEYS_DEFAULT: u32 = 10;

/// One step as written, its description, and its place.
struct Written<'a> {
    table: &'a StepTable,
    info: &'a StepInfo,
    place: &'a Range<usize>,
}

/// Context of the checks of one experiment file.
pub(crate) struct Resolver<'a> {
    pub(crate) source: &'a Source,
    pub(crate) catalog: &'a dyn Catalog,
    /// The SQL application; `None` for key-value workloads.
    pub(crate) application: Option<&'a Loaded>,
}

impl Resolver<'_> {
    /// Checks one optional quantity with a parser of `model::units`.
    pub(crate) fn quantity<T>(
        &self,
        text: Option<&Spanned<Text>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, PlanError> {
        let Some(text) = text else { return Ok(None) };
        parse(&text.get_ref().0)
            .map(Some)
            .map_err(|why| PlanError::new(why).at(self.source, text.span(), "here"))
    }

    /// Checks that a number is not zero.
    pub(crate) fn positive<T: Copy + Into<u64>>(
        &self,
        value: T,
        what: &str,
        place: Range<usize>,
    ) -> Result<T, PlanError> {
        if value.into() > 0 {
            return Ok(value);
        }
        Err(PlanError::new(format!("{what} is zero: nothing would be measured")).at(
            self.source,
            place,
            "must be more than zero",
        ))
    }

    /// Checks an allocator; without one it is the system's.
    pub(crate) fn allocator(&self, text: Option<&Spanned<String>>) -> Result<Allocator, PlanError> {
        let Some(text) = text else { return Ok(Allocator::System) };
        let name = text.get_ref();
        let names = Allocator::ALL.map(Allocator::name);
        Allocator::ALL.into_iter().find(|allocator| allocator.name() == name).ok_or_else(|| {
            let error = PlanError::new(format!("`{name}` is not an allocator known here"));
            let error = error.at(self.source, text.span(), "unknown allocator");
            match nearest(name, names) {
                Some(word) => error.remedy(format!("did you mean `{word}`?")),
                None => error.remedy(format!("allocators: {}", names.join(", "))),
            }
        })
    }

    /// Checks a durability class.
    pub(crate) fn durability(
        &self,
        text: Option<&Spanned<String>>,
    ) -> Result<Option<Durability>, PlanError> {
        let Some(text) = text else { return Ok(None) };
        let found = Durability::ALL.into_iter().find(|class| class.name() == text.get_ref());
        found.map(Some).ok_or_else(|| {
            PlanError::new(format!("`{}` is not a durability class", text.get_ref()))
                .at(self.source, text.span(), "unknown class")
                .remedy("write \"none\", \"os\" (survives a process crash) or \"sync\"")
        })
    }

    /// Checks a key distribution.
    fn distribution(
        &self,
        text: &str,
        rows: u64,
        place: Range<usize>,
    ) -> Result<String, PlanError> {
        match self.catalog.check_distribution(text, rows) {
            Ok(()) => Ok(text.to_owned()),
            Err(why) => Err(PlanError::new(why).at(self.source, place, "here")),
        }
    }

    /// Checks one step and resolves its defaults, except the load.
    pub(crate) fn step(
        &self,
        entry: &Spanned<StepEntry>,
        benchmark: &BenchmarkTable,
        rows: u64,
    ) -> Result<(Step, StepInfo), PlanError> {
        let place = entry.span();
        let table = match entry.get_ref() {
            WordOr::Word(name) => StepTable { step: name.clone(), ..StepTable::default() },
            WordOr::Table(table) => StepTable::clone(table),
        };
        let info = self.step_info(&table.step, place.clone())?;
        self.check_step_settings(&table, &place)?;
        let wrap = |text: &Option<Text>| text.clone().map(|text| Spanned::new(place.clone(), text));
        let pick =
            |own: &Option<Text>, shared: &Option<Spanned<Text>>| wrap(own).or(shared.clone());
        let written = Written { table: &table, info: &info, place: &place };
        let stop = self.stop_rule(&written, benchmark, rows)?;
        let warmup = pick(&table.warmup, &benchmark.warmup);
        let warmup = match (stop, self.quantity(warmup.as_ref(), parse_span)?) {
            (StopRule::Operations(_), _) => Nanos(0),
            (StopRule::Duration(_), Some(warmup)) => warmup,
            (StopRule::Duration(length), None) => Nanos(length.0 / 10).min(WARMUP_MAX),
        };
        let (distribution, at) = match (&table.distribution, &benchmark.distribution) {
            (Some(own), _) => (own.clone(), place.clone()),
            (None, Some(shared)) => (shared.get_ref().clone(), shared.span()),
            (None, None) => ("uniform".to_owned(), 0..0),
        };
        let shared_u32 = |shared: &Option<Spanned<u32>>| shared.as_ref().map(|n| *n.get_ref());
        let range_rows = table.range_rows.or(shared_u32(&benchmark.range_rows));
        let batch_keys = table.batch_keys.or(shared_u32(&benchmark.batch_keys));
        let range_rows = range_rows.unwrap_or(RANGE_ROWS_DEFAULT);
        let batch_keys = batch_keys.unwrap_or(BATCH_KEYS_DEFAULT);
        let settle_cap = pick(&table.settle_cap, &benchmark.settle_cap);
        let step = Step {
            clients: self.step_clients(&written)?,
            stop,
            warmup,
            load: Load::Closed,
            limit: None,
            distribution: self.distribution(&distribution, rows, at)?,
            range_rows: self.positive(range_rows, "range_rows", place.clone())?,
            batch_keys: self.positive(batch_keys, "batch_keys", place.clone())?,
            writer_bytes_per_s: self
                .writer_rate(pick(&table.writer_rate, &benchmark.writer_rate), &info)?,
            settle_cap: self
                .quantity(settle_cap.as_ref(), parse_span)?
                .unwrap_or_else(|| self.settle_cap(rows)),
            unit: self
                .traffic_spec(&table.step)
                .map_or(OpUnit::Operation, |traffic_spec| traffic_spec.unit),
            name: table.step,
        };
        Ok((step, info))
    }

    /// Returns the application's step of that name.
    fn traffic_spec(&self, name: &str) -> Option<&TrafficSpec> {
        self.application.and_then(|loaded| loaded.application.step(name))
    }

    /// Returns the default longest settle.
    fn settle_cap(&self, rows: u64) -> Nanos {
        let more = Nanos(rows.saturating_mul(SETTLE_PER_ROW.0));
        match self.application {
            Some(_) => Nanos(SETTLE_CAP_LEAST.0.saturating_add(more.0)).min(SETTLE_CAP_DEFAULT),
            None => SETTLE_CAP_DEFAULT,
        }
    }

    fn step_info(&self, name: &str, place: Range<usize>) -> Result<StepInfo, PlanError> {
        let known = self.known_steps();
        if let Some(info) = known.iter().find(|info| info.name == name) {
            return Ok(info.clone());
        }
        if let Some(loaded) = self.application
            && self.catalog.steps().iter().any(|info| info.name == name)
        {
            let application = &loaded.application.name;
            let why = format!("{name} is a key-value step, and {application} has tables");
            return Err(PlanError::new(why)
                .at(self.source, place, "here")
                .remedy("leave out this step, or `workload`"));
        }
        let names: Vec<&str> = known.iter().map(|info| info.name.as_ref()).collect();
        let error =
            PlanError::new(format!("unknown step `{name}`")).at(self.source, place, "no such step");
        Err(match nearest(name, names.iter().copied()) {
            Some(word) => error.remedy(format!("did you mean `{word}`?")),
            None => error.remedy(format!("steps: {}", names.join(", "))),
        })
    }

    fn stop_rule(
        &self,
        written: &Written<'_>,
        benchmark: &BenchmarkTable,
        rows: u64,
    ) -> Result<StopRule, PlanError> {
        let Written { table, info, place } = *written;
        let refuse = |why: String| PlanError::new(why).at(self.source, place.clone(), "here");
        if info.role == StepRole::Maintain {
            return Ok(StopRule::Operations(0));
        }
        if let Some(text) = &table.operations {
            let is_of_rows = self.application.is_some() && info.share_of_rows.is_some();
            if info.role == StepRole::Load || is_of_rows {
                return Err(refuse(format!("{} ends by rows: set `rows` instead", info.name)));
            }
            let operations = parse_count(&text.0).map_err(refuse)?;
            return Ok(StopRule::Operations(self.positive(
                operations,
                "operations",
                place.clone(),
            )?));
        }
        match (info.share_of_rows, &table.duration) {
            (Some(_), Some(_)) => {
                Err(refuse(format!("{} ends by rows, it takes no duration", info.name)))
            }
            (Some(share), None) => {
                let calls = self.application.and_then(|loaded| {
                    let application = &loaded.application;
                    application.calls(application.step(&info.name)?, rows, 1)
                });
                Ok(StopRule::Operations(calls.unwrap_or_else(|| share_of(rows, share))))
            }
            (None, Some(text)) => {
                let span = parse_span(&text.0).map_err(refuse)?;
                Ok(StopRule::Duration(Nanos(self.positive(
                    span.0,
                    "the duration",
                    place.clone(),
                )?)))
            }
            (None, None) => {
                let span = self.quantity(benchmark.duration.as_ref(), parse_span)?;
                let at = benchmark.duration.as_ref().map_or(0..0, Spanned::span);
                let span = span.unwrap_or(DURATION_DEFAULT);
                Ok(StopRule::Duration(Nanos(self.positive(span.0, "the duration", at)?)))
            }
        }
    }

    /// Returns the step's own client count; 0 means that it follows the experiment's factor.
    fn step_clients(&self, written: &Written<'_>) -> Result<u32, PlanError> {
        let Written { table, info, place } = *written;
        match table.clients {
            Some(clients) if info.is_single_client && clients > 1 => Err(PlanError::new(format!(
                "{} runs with one client",
                info.name
            ))
            .at(self.source, place.clone(), "here")),
            Some(clients) => self.clients(clients, place.clone()),
            None if info.is_single_client => Ok(1),
            None => Ok(0),
        }
    }

    fn writer_rate(
        &self,
        text: Option<Spanned<Text>>,
        info: &StepInfo,
    ) -> Result<Option<Bytes>, PlanError> {
        if !info.has_writer {
            return Ok(None);
        }
        let parse = |text: &str| parse_size(text.strip_suffix("/s").unwrap_or(text));
        let rate = self.quantity(text.as_ref(), parse)?.unwrap_or(WRITER_RATE_DEFAULT);
        let place = text.as_ref().map_or(0..0, Spanned::span);
        Ok(Some(Bytes(self.positive(rate.0, "the writer's rate", place)?)))
    }
}

/// Returns `share` of `rows`, at least one.
#[expect(clippy::cast_precision_loss, reason = "a share is approximate anyway")]
#[expect(clippy::cast_possible_truncation, reason = "a share of a u64 fits a u64")]
#[expect(clippy::cast_sign_loss, reason = "shares are positive")]
fn share_of(rows: u64, share: f64) -> u64 {
    if (share - 1.0).abs() < f64::EPSILON { rows } else { ((rows as f64 * share) as u64).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{checked, experiment};

    /// Returns the third step of the sample, with further fields.
    fn third(fields: &str) -> Step {
        let table = format!("{{ step = \"readwhilewriting\", {fields} }}");
        experiment("\"readwhilewriting\"", &table).steps.remove(2)
    }

    #[test]
    fn a_step_that_ends_by_rows_has_no_warm_up() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!((steps[0].stop, steps[0].warmup), (StopRule::Operations(10_000), Nanos(0)));
        assert_eq!((steps[1].stop, steps[1].warmup), (StopRule::Operations(1000), Nanos(0)));
        assert_eq!(experiment("10k", "3").steps[1].stop, StopRule::Operations(1), "at least one");
    }

    #[test]
    fn warm_up_is_a_tenth_of_the_duration_and_at_most_five_seconds() {
        let warmup = |fields: &str| third(fields).warmup;
        assert_eq!(warmup("duration = \"10s\""), Nanos::from_secs(1));
        assert_eq!(warmup("duration = \"10m\""), Nanos::from_secs(5));
        assert_eq!(warmup("duration = \"10m\", warmup = \"1m\""), Nanos::from_secs(60));
        assert_eq!(warmup("operations = 500"), Nanos(0));
    }

    #[test]
    fn a_steps_own_fields_win_over_the_benchmarks() {
        let shared = "rows = \"10k\"\nduration = \"7s\"\nrange_rows = 7\nwriter_rate = \"7MiB/s\"";
        let steps = experiment("rows = \"10k\"", shared).steps;
        assert_eq!(steps[2].stop, StopRule::Duration(Nanos::from_secs(7)));
        assert_eq!((steps[2].range_rows, steps[2].writer_bytes_per_s), (7, Some(Bytes(7 << 20))));
        let own = third("duration = \"9s\", range_rows = 9, writer_rate = \"9MiB/s\"");
        assert_eq!(own.stop, StopRule::Duration(Nanos::from_secs(9)));
        assert_eq!((own.range_rows, own.writer_bytes_per_s), (9, Some(Bytes(9 << 20))));
    }

    #[test]
    fn a_step_follows_the_client_factor_unless_it_has_its_own_count() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!([steps[0].clients, steps[2].clients], [1, 0]);
        assert_eq!(third("clients = 3").clients, 3);
        let refused = checked("\"fillseq\"", "{ step = \"fillseq\", clients = 2 }").unwrap_err();
        assert_eq!(refused.to_string(), "fillseq runs with one client");
    }

    #[test]
    fn only_steps_with_a_writer_have_its_rate() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!(steps[1].writer_bytes_per_s, None);
        assert_eq!(steps[2].writer_bytes_per_s, Some(WRITER_RATE_DEFAULT));
        let stopped = checked("\"10k\"", "1\nwriter_rate = 0").unwrap_err();
        assert!(stopped.to_string().starts_with("the writer's rate is zero"), "{stopped}");
    }

    #[test]
    fn the_workload_checks_the_resolved_step() {
        let refused = checked("\"10k\"", "10\nrange_rows = 101").unwrap_err();
        assert_eq!(refused.to_string(), "only 10 rows");
    }
}
