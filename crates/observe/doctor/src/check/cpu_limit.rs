//! CPU caps of the control group.

use model::record::Severity;

use super::Check;
use super::memory_limit::groups;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "cpu_limit",
    subject: "CPU cap",
    severity: Severity::Warning,
    why: "A capped group is throttled: what is measured is the cap.",
    source: "[Linux cgroup-v2]",
    is_in_snapshot: true,
    run,
};

fn run(source: &Source) -> Outcome {
    let quota = |dir: &str| {
        let text = source.read(format!("{dir}/cpu.max"));
        let text = text.or_else(|| source.read(format!("{dir}/cpu.cfs_quota_us")))?;
        let first = text.split_ascii_whitespace().next()?.to_owned();
        (first != "max" && !first.starts_with('-')).then_some((dir.to_owned(), text))
    };
    let groups = groups(source, "cpu");
    match groups.iter().find_map(|dir| quota(dir)) {
        _ if groups.is_empty() => Outcome::unknown("the process is in no control group"),
        None => Outcome::fine("none"),
        Some((dir, text)) => {
            let evidence = format!("{dir} has the CPU cap {text} (us of each period)");
            Outcome::finding(text, evidence)
                .mend("# run outside of the container, or remove its CPU cap")
        }
    }
}
