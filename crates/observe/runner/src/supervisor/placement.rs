//! CPU placement of a worker and its server.

use std::ffi::OsString;

use model::{Experiment, Placement};
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::error::RunnerError;

/// The CPUs of one run; empty for all that are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cpus {
    pub(crate) worker: Vec<u32>,
    pub(crate) server: Vec<u32>,
}

impl Cpus {
    /// Returns the CPUs of an experiment's placement.
    ///
    /// # Errors
    /// [`RunnerError::Placement`] when this process may not use as many.
    pub(crate) fn of(experiment: &Experiment) -> Result<Self, RunnerError> {
        place(experiment.placement, &allowed())
    }

    /// Returns the command prefix that sets the CPUs of a worker.
    pub(crate) fn worker_args(&self) -> Vec<OsString> {
        let Some(_) = self.worker.first() else { return Vec::new() };
        vec!["taskset".into(), "-c".into(), listed(&self.worker).into()]
    }

    /// Returns the placement as a fact; `None` when the kernel chooses.
    pub(crate) fn fact(&self, placement: Placement) -> Option<(String, String)> {
        let (worker, server) = (listed(&self.worker), listed(&self.server));
        let text = match placement {
            Placement::Free => return None,
            Placement::SameCpu => format!("{placement}: worker and server on CPU {worker}"),
            Placement::Split => format!("{placement}: server on CPU {server}, worker on {worker}"),
        };
        Some(("placement".to_owned(), text))
    }
}

fn place(placement: Placement, allowed: &[u32]) -> Result<Cpus, RunnerError> {
    match placement {
        Placement::Free => Ok(Cpus::default()),
        // The last one: interrupts are mostly served by the first.
        Placement::SameCpu => {
            let last: Vec<u32> = allowed.last().copied().into_iter().collect();
            Ok(Cpus { worker: last.clone(), server: last })
        }
        Placement::Split => {
            let (server, worker) = allowed.split_at(allowed.len() / 2);
            if server.is_empty() {
                return Err(RunnerError::Placement(
                    format!(
                        "placement `{placement}` needs two CPUs, but only {} may be used",
                        allowed.len()
                    ),
                    format!("use `{}` or `{}`", Placement::SameCpu, Placement::Free),
                ));
            }
            Ok(Cpus { worker: worker.to_vec(), server: server.to_vec() })
        }
    }
}

/// Returns the CPUs that this process may use, in ascending order.
fn allowed() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Returns CPUs as `taskset` takes them: `0,1`.
fn listed(cpus: &[u32]) -> String {
    let cpus: Vec<_> = cpus.iter().map(u32::to_string).collect();
    cpus.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_follow_the_placement() {
        let of = |placement, allowed: &[u32]| {
            let cpus = place(placement, allowed).unwrap();
            let fact = cpus.fact(placement).map(|(_, text)| text).unwrap_or_default();
            (cpus.server, cpus.worker, fact)
        };
        assert_eq!(of(Placement::Free, &[0, 1]), (vec![], vec![], String::new()));
        let same = "same-cpu: worker and server on CPU 3".to_owned();
        assert_eq!(of(Placement::SameCpu, &[1, 3]), (vec![3], vec![3], same));
        let split = "split: server on CPU 0, worker on 2,5".to_owned();
        assert_eq!(of(Placement::Split, &[0, 2, 5]), (vec![0], vec![2, 5], split));
    }

    #[test]
    fn one_cpu_cannot_be_split() {
        let error = place(Placement::Split, &[0]).unwrap_err();
        assert!(error.to_string().contains("needs two CPUs"), "{error}");
    }

    #[test]
    fn this_process_may_use_a_cpu() {
        assert!(!allowed().is_empty());
    }
}
