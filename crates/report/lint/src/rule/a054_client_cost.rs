//! A054: client CPU per operation that jumps between runs.

use analysis::client_cpu;
use std::collections::BTreeMap;

use model::{Dialect, Placement, RunRecord, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::facts::{is_server, measured, operations, span_us};

pub(crate) static RULE: Rule = Rule {
    code: "A054",
    name: "client cost jumped",
    trigger: "the client of a server uses more than 1.35 times the CPU per operation of the run \
              whose client uses the least. The rule compares only runs that have the same step, \
              the same number of clients, and between half and twice as many operations a second",
    why: "The client does the same work in every run. If the client uses more CPU in one run, \
          client and server were placed differently: on two CPUs, each request wakes the other \
          side. The server's CPU per operation then changed too.",
    remedy: "put client and server on one CPU (placement = \"same-cpu\") and repeat the run; \
             exclude the present run",
    source: "our choice: unpinned runs took 11 to 75 us of server CPU for the same query, and \
             pinned runs stayed within 10 %",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// What is left to do where both are on one CPU.
const ON_ONE_CPU: &str = "client and server share one CPU: stop other work on the host, which \
                          competes for this CPU, and repeat the run";
/// Ratio to the lowest above which it is reported. Our choice.
const JUMPED: f64 = 1.35;
/// Largest ratio of like rates. Our choice.
const LIKE_RATES: f64 = 2.0;
/// Difference below which nothing is reported: what counters of CPU time cannot resolve, us.
const RESOLVED_US: f64 = 0.1;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let served = context.valid().filter(|run| is_server(&run.variant));
    let steps = served.flat_map(|run| measured(run).map(move |step| (run, step)));
    let all: Vec<Cost<'_>> = steps.filter_map(|(run, step)| Cost::of(run, step)).collect();
    let mut alike: BTreeMap<_, Vec<&Cost<'_>>> = BTreeMap::new();
    for one in &all {
        alike.entry(key(one.run, one.step)).or_default().push(one);
    }
    let observe = |one: &Cost<'_>| {
        let own = alike.get(&key(one.run, one.step))?.iter().filter(|other| one.is_like(other));
        let least = own.min_by(|a, b| a.us.total_cmp(&b.us))?;
        let (us, ratio) = (one.us, one.us / least.us);
        (least.us > 0.0 && ratio > JUMPED && us - least.us > RESOLVED_US).then(|| {
            let evidence = format!(
                "the client used {us:.1} us of CPU per operation, {ratio:.1}x the {:.1} us of {}",
                least.us, least.run.cell.id
            );
            let mut evidence = Observation::new(evidence).step(&one.step.step.name);
            if context.experiment.placement == Placement::SameCpu {
                evidence = evidence.remedy(ON_ONE_CPU);
            }
            evidence.variant(&one.run.cell.variant).run(&one.run.id).ranked("", ratio)
        })
    };
    all.iter().filter_map(observe).collect()
}

/// What the client of one step cost.
struct Cost<'a> {
    run: &'a RunRecord,
    step: &'a StepRecord,
    /// CPU of the measured clients per operation, us.
    us: f64,
    /// Operations per second.
    rate: f64,
}

impl<'a> Cost<'a> {
    fn of(run: &'a RunRecord, step: &'a StepRecord) -> Option<Self> {
        let ([user, kernel], done) = (client_cpu(step), operations(step)?);
        let rate = done / (span_us(step)? / 1e6);
        Some(Self { run, step, us: (user? + kernel?) / done, rate })
    }

    /// Returns whether both did operations at a like rate.
    ///
    /// A client that waits longer for each answer sleeps and wakes for each: another cost.
    fn is_like(&self, other: &Self) -> bool {
        (1.0 / LIKE_RATES..=LIKE_RATES).contains(&(self.rate / other.rate))
    }
}

/// Returns the key of equal clients: step, level and protocol.
///
/// MariaDB's is MySQL's.
fn key<'a>(run: &'a RunRecord, step: &'a StepRecord) -> (u32, &'a str, u32, Option<Dialect>) {
    let protocol = Dialect::of_engine(&run.variant.build.engine);
    (step.index, &step.step.name, run.cell.clients, protocol)
}

#[cfg(test)]
mod tests {
    use model::metric;
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_runs, on_builds, runs, set};

    fn with(builds: [&str; 2], us: f64) -> Vec<(Severity, String)> {
        with_rates(builds, us, 1)
    }

    /// Runs of two variants; the client of `b` costs this much per operation, that of `a` 3 us.
    ///
    /// The step of `b` takes so many times as long.
    fn with_rates(builds: [&str; 2], us: f64, slower: u64) -> Vec<(Severity, String)> {
        let spec = on_builds(&[("a", builds[0]), ("b", builds[1])]);
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            run.variant = spec.variant(&run.cell.variant).unwrap().clone();
            let own = if run.cell.variant == "b" { us } else { 3.0 };
            if run.cell.variant == "b" {
                run.steps[0].duration_ns.0 *= slower;
            }
            let total = own * 600_000.0;
            let cpu = [(metric::CLIENT_CPU_USER_US, total), (metric::CLIENT_CPU_KERNEL_US, 0.0)];
            set(&mut run.steps[0].counters, &cpu);
        }
        in_runs(&RULE, &spec, &runs)
    }

    #[test]
    fn a_client_that_costs_a_third_more_than_elsewhere_is_reported() {
        assert_eq!(with(["mysql@5.6.24", "mariadb@10.11"], 4.0), []);
        let evidence = "readrandom of b: the client used 12.0 us of CPU per operation, 4.0x the \
                        3.0 us of a.c1.r1 (3 runs)";
        let found = with(["mysql@5.6.24", "mysql@8.0.31"], 12.0);
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn rates_far_apart_are_not_compared() {
        let of = |slower| with_rates(["mysql@5.6.24", "mysql@8.0.31"], 12.0, slower);
        assert_eq!((of(2).len(), of(18)), (1, Vec::new()));
    }

    #[test]
    fn clients_of_two_protocols_and_engines_inside_the_worker_are_not_compared() {
        assert_eq!(with(["mysql@8.0.31", "postgres@15.10"], 12.0), []);
        assert_eq!(with(["rocksdb", "rocksdb@9.10.0"], 12.0), []);
    }
}
