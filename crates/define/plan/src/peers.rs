//! Names of other tools, each with ours. Source: docs/guide/coming-from.md.

/// Options of other tools, each with ours.
pub const OPTIONS_OF_PEERS: [(&str, &str); 19] = [
    ("bytes", "value-bytes"),
    ("cache-size", "cache"),
    ("compression-type", "compression"),
    ("concurrency", "clients"),
    ("dbms", "engine"),
    ("engines", "engine"),
    ("events", "duration"),
    ("iterations", "repetitions"),
    ("key-size", "key-bytes"),
    ("max-rows", "rows"),
    ("num", "rows"),
    ("runs", "repetitions"),
    ("scale", "rows"),
    ("table-size", "rows"),
    ("threads", "clients"),
    ("time", "duration"),
    ("value-size", "value-bytes"),
    ("variant", "engine"),
    ("yes", "trust"),
];

/// Returns our option that another tool's option stands for, both without their hyphens.
pub fn option_of_peer(option: &str) -> Option<&'static str> {
    OPTIONS_OF_PEERS.iter().find(|(theirs, _)| *theirs == option).map(|(_, ours)| *ours)
}

/// A step of another tool, with ours that is nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepOfPeer {
    /// The other tool.
    pub(crate) tool: &'static str,
    /// Our step.
    pub(crate) step: &'static str,
    /// The application that has the step; `None` for a key-value step.
    pub(crate) workload: Option<&'static str>,
}

/// Returns what is nearest to a step of another tool.
pub(crate) fn step_of_peer(name: &str) -> Option<StepOfPeer> {
    let (tool, step, workload) = match name.to_ascii_lowercase().replace('_', "-").as_str() {
        "readseq" | "readtocache" | "seekrandom" => ("db_bench", "fwdrange", None),
        "readreverse" => ("db_bench", "revrange", None),
        "seekrandomwhilewriting" => ("db_bench", "fwdrangewhilewriting", None),
        "updaterandom" | "fillsync" => ("db_bench", "overwrite", None),
        "deleteseq" => ("db_bench", "deleterandom", None),
        "appendrandom" | "mergerandom" => ("db_bench", "append", None),
        "readrandomwriterandom" => ("db_bench", "ycsb-a", None),
        "waitforcompaction" | "flush" => ("db_bench", "settle", None),
        "workloada" => ("YCSB", "ycsb-a", None),
        "workloadb" => ("YCSB", "ycsb-b", None),
        "workloadc" => ("YCSB", "ycsb-c", None),
        "workloadd" => ("YCSB", "ycsb-d", None),
        "workloade" => ("YCSB", "ycsb-e", None),
        "workloadf" => ("YCSB", "ycsb-f", None),
        "oltp-point-select" => ("sysbench", "point-query", Some("sysbench")),
        "oltp-read-only" => ("sysbench", "read-only", Some("sysbench")),
        "oltp-read-write" => ("sysbench", "read-write", Some("sysbench")),
        "oltp-write-only" => ("sysbench", "write-only", Some("sysbench")),
        "oltp-update-index" => ("sysbench", "update-index", Some("sysbench")),
        "oltp-update-non-index" => ("sysbench", "update-nonindex", Some("sysbench")),
        "oltp-insert" => ("sysbench", "insert", Some("sysbench")),
        "oltp-delete" => ("sysbench", "delete", Some("sysbench")),
        "tpcc" | "tpc-c" | "tprocc" | "tproc-c" => ("HammerDB", "mix", Some("tproc-c")),
        _ => return None,
    };
    Some(StepOfPeer { tool, step, workload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_another_tool_has_one_of_ours() {
        for (theirs, ours, workload) in [
            ("readseq", "fwdrange", None),
            ("readreverse", "revrange", None),
            ("WorkloadF", "ycsb-f", None),
            ("oltp_update_non_index", "update-nonindex", Some("sysbench")),
            ("tpcc", "mix", Some("tproc-c")),
        ] {
            let found = step_of_peer(theirs).map(|peer| (peer.step, peer.workload));
            assert_eq!(found, Some((ours, workload)), "{theirs}");
        }
        assert_eq!(step_of_peer("readrandom"), None);
    }
}
