//! Growth of counters and extremes of gauges over a span.

use fold::Fold;
use model::{EngineState, Kind, Readings, Step, TableReadings, metric};

/// Start of the names of an engine's metrics.
const ENGINE: &str = "engine_";

/// Readings at the start of a span, and the gauges since.
#[derive(Debug, Default)]
pub(crate) struct Account {
    base: Readings,
    last: Readings,
    /// Each gauge's largest value.
    pub(crate) gauges_max: Readings,
    /// Each gauge's last value.
    pub(crate) gauges_last: Readings,
    /// The clock of the host's fastest CPU at each reading.
    pub(crate) clocks_mhz: Vec<f64>,
}

impl Account {
    /// Begins a span with cumulative readings.
    pub(crate) fn begin(now: Readings) -> Self {
        let mut account = Self { base: now.clone(), last: now.clone(), ..Self::default() };
        account.note_gauges(&now);
        account
    }

    /// Takes cumulative readings; returns counters' growth since the last ones, and the gauges.
    pub(crate) fn step(&mut self, now: &Readings) -> Readings {
        let readings = growth(&self.last, now).into_iter().chain(gauges(now)).collect();
        self.note_gauges(now);
        self.clocks_mhz.extend(now.value(metric::HOST_CPU_CLOCK_MHZ));
        self.last.clone_from(now);
        readings
    }

    /// Returns the last cumulative readings.
    pub(crate) const fn last(&self) -> &Readings {
        &self.last
    }

    /// Returns the counters' growth since the beginning.
    pub(crate) fn growth(&self, now: &Readings) -> Readings {
        growth(&self.base, now)
    }

    fn note_gauges(&mut self, now: &Readings) {
        self.gauges_max.raise(now.of_kind(Kind::Gauge));
        self.gauges_last.extend(gauges(now));
    }
}

/// A measured span, of a step or of a probe.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) account: Account,
    /// The engine's state when it began.
    pub(crate) before: EngineState,
    /// When it began, UTC, RFC 3339.
    pub(crate) since: String,
    pub(crate) fold: Fold,
    /// Valid intervals in which clients began late: the engine had the CPUs.
    pub(crate) engine_had_the_cpus: u32,
}

impl Span {
    /// Begins a span of a step with the readings of its first moment.
    pub(crate) fn begin(step: &Step, now: Readings, before: EngineState, since: String) -> Self {
        let (account, fold) = (Account::begin(now), Fold::new(step));
        Self { account, before, since, fold, engine_had_the_cpus: 0 }
    }

    /// Discards the engine's counters so far: another server counts from now on.
    pub(crate) fn forget_engine(&mut self) {
        self.before = EngineState::default();
        let Account { base, last, .. } = &mut self.account;
        [base, last].into_iter().for_each(|it| it.retain(|name, _| !name.starts_with(ENGINE)));
    }
}

/// Returns the gauges among cumulative readings.
pub(crate) fn gauges(now: &Readings) -> Readings {
    now.of_kind(Kind::Gauge).map(|(name, value)| (name, *value)).collect()
}

/// Returns the growth of each counter known at both moments.
///
/// A counter that went backwards was reset (an engine reopened, a device changed): its growth is
/// not known, so it is absent.
pub(crate) fn growth(base: &Readings, now: &Readings) -> Readings {
    now.of_kind(Kind::Counter)
        .filter_map(|(name, value)| {
            let grown = value - base.get(name)?;
            (grown >= 0.0).then_some((name, grown))
        })
        .collect()
}

/// Returns each table's growth of counters since `last`, and its gauges; `last` becomes `now`.
pub(crate) fn step_tables(last: &mut TableReadings, now: &TableReadings) -> TableReadings {
    let before = std::mem::replace(last, now.clone());
    let none = Readings::new();
    let step = |(name, now): (&String, &Readings)| {
        let base = before.get(name).unwrap_or(&none);
        (name.clone(), growth(base, now).into_iter().chain(gauges(now)).collect())
    };
    now.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use model::Metric;

    use super::*;

    fn readings(of: &[(Metric, f64)]) -> Readings {
        of.iter().copied().collect()
    }

    #[test]
    fn counters_grow_and_gauges_keep_their_peak() {
        let mut account =
            Account::begin(readings(&[(metric::DEVICE_READS, 100.0), (metric::RSS_BYTES, 50.0)]));
        let first =
            account.step(&readings(&[(metric::DEVICE_READS, 130.0), (metric::RSS_BYTES, 90.0)]));
        assert_eq!(first, readings(&[(metric::DEVICE_READS, 30.0), (metric::RSS_BYTES, 90.0)]));
        let last = readings(&[(metric::DEVICE_READS, 135.0), (metric::RSS_BYTES, 60.0)]);
        assert_eq!(
            account.step(&last),
            readings(&[(metric::DEVICE_READS, 5.0), (metric::RSS_BYTES, 60.0)])
        );
        assert_eq!(account.growth(&last), readings(&[(metric::DEVICE_READS, 35.0)]));
        assert_eq!(account.gauges_max, readings(&[(metric::RSS_BYTES, 90.0)]));
        assert_eq!(account.gauges_last, readings(&[(metric::RSS_BYTES, 60.0)]));
    }

    #[test]
    fn a_counter_unknown_before_or_reset_since_has_no_growth() {
        let account = Account::begin(readings(&[(metric::DEVICE_WRITES, 10.0)]));
        let now = readings(&[(metric::DEVICE_WRITES, 4.0), (metric::DEVICE_READS, 7.0)]);
        assert_eq!(account.growth(&now), Readings::new());
    }

    #[test]
    fn counters_of_a_replaced_engine_have_no_growth() {
        let stop = model::StopRule::Operations(1);
        let counters = readings(&[(metric::ENGINE_COMMITS, 3.0), (metric::DEVICE_WRITES, 1.0)]);
        let (step, before) = (Step::new("overwrite", stop), EngineState::default());
        let mut span = Span::begin(&step, counters, before, String::new());
        span.forget_engine();
        let now = readings(&[(metric::ENGINE_COMMITS, 9.0), (metric::DEVICE_WRITES, 4.0)]);
        let grown = readings(&[(metric::DEVICE_WRITES, 3.0)]);
        assert_eq!((span.account.growth(&now), span.account.step(&now)), (grown.clone(), grown));
    }

    /// Goal: a table that is new, or was not sampled last time, has gauges and no growth.
    #[test]
    fn tables_have_growth_since_their_last_sample() {
        let of = |name: &str, vacuums: f64, bytes: f64| -> (String, Readings) {
            let sample = [(metric::ENGINE_VACUUMS, vacuums), (metric::ENGINE_DISK_BYTES, bytes)];
            (name.to_owned(), readings(&sample))
        };
        let mut last = TableReadings::from([of("old", 3.0, 10.0)]);
        let now = TableReadings::from([of("new", 7.0, 30.0), of("old", 4.0, 20.0)]);
        let found = step_tables(&mut last, &now);
        assert_eq!(
            found["old"],
            readings(&[(metric::ENGINE_VACUUMS, 1.0), (metric::ENGINE_DISK_BYTES, 20.0)])
        );
        assert_eq!(found["new"], readings(&[(metric::ENGINE_DISK_BYTES, 30.0)]));
        assert_eq!(last, now);
    }
}
