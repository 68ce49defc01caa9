//! A072: data that lie on another file system than the results.

use model::Host;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, PlanContext};

pub(crate) static RULE: Rule = Rule {
    code: "A072",
    name: "data apart",
    trigger: "Warning: the data is on another file system than the results. Note: the data is on \
              another file system than the results because --data-dir named the folder of the data",
    why: "Storage is part of the measurement. A reader assumes that the data is on the file system \
          of the experiment's directory.",
    remedy: "choose the file system with --data-dir for the data, or with --results for the \
             results",
    source: "our choice: a reader of results assumes that the data was on their file system",
    ..Rule::of(Checks { plan: Some(plan), comparison: Some(comparison), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let is_measured = context.is_before_runs() && context.experiment.device.is_none();
    context.host.filter(|_| is_measured).and_then(observe).into_iter().collect()
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let is_measured = context.experiment.device.is_none();
    context.hosts.iter().filter(|_| is_measured).filter_map(|host| observe(host)).collect()
}

fn observe(host: &Host) -> Option<Observation> {
    let data = host.data.as_ref()?;
    let results = data.results_filesystem.as_ref()?;
    let evidence = format!(
        "the data is in {} on {}, and the results are on {results}",
        data.path, data.filesystem
    );
    let severity = if data.is_named { Severity::Note } else { Severity::Warning };
    Some(Observation::new(evidence).severity(severity))
}

#[cfg(test)]
mod tests {
    use model::DataPlace;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs};

    fn found(is_named: bool, results: Option<&str>) -> Vec<(Severity, String)> {
        let data = DataPlace {
            path: "/shm/assay-data".to_owned(),
            filesystem: "tmpfs tmpfs at /shm".to_owned(),
            is_named,
            results_filesystem: results.map(str::to_owned),
        };
        let host = Host { data: Some(Box::new(data)), ..host() };
        on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host])
    }

    #[test]
    fn data_on_another_file_system_are_named_with_both() {
        let other = Some("ext4 /dev/vda at /");
        let [(severity, evidence)] = &found(false, other)[..] else { panic!("one") };
        assert_eq!(*severity, Severity::Warning);
        let text = "the data is in /shm/assay-data on tmpfs tmpfs at /shm, and the results are on \
                    ext4 /dev/vda at /";
        assert!(evidence.contains(text), "{evidence}");
        assert_eq!(found(true, other)[0].0, Severity::Note);
    }

    #[test]
    fn data_next_to_the_results_are_silent() {
        assert_eq!(found(false, None), []);
        assert_eq!(on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host()]), []);
    }
}
