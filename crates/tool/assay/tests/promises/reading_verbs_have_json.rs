//! Every verb that reads prints JSON: the same figures as its text, also where there is nothing.

use std::fs;

use serde_json::Value;

use crate::output_errors_are_reported::{CALLS, COMMANDS, called_after, calls, is_of};
use crate::workspace::Workspace;

/// The verbs that do something, each with what they do.
const ACTING: &[(&str, &str)] = &[
    ("archive merge", "writes to the archive"),
    ("archive parquet", "writes files for other programs"),
    ("completions", "prints a script for a shell"),
    ("engine add", "stores a build"),
    ("engine build", "compiles"),
    ("engine get", "stores a build"),
    ("engine remove", "removes a build"),
    ("engine test", "runs the conformance battery"),
    ("export", "writes a file"),
    ("export-job kubernetes", "prints a job"),
    ("export-job slurm", "prints a job"),
    ("help", "prints help"),
    ("import", "writes to the archive"),
    ("report", "writes a page: its data are those of compare"),
    ("rerun", "runs an experiment"),
    ("run", "runs an experiment: show and compare have its data"),
    ("serve", "serves pages, whose tables have the data of compare"),
    ("site", "writes pages, whose tables have the data of compare"),
    ("snapshot remove", "removes snapshots"),
];

/// Runs a call with `--format json` and returns its data.
fn json(call: &str) -> Value {
    let output = called_after("", call, &["--format".into(), "json".into()]);
    let (out, err) = (String::from_utf8(output.stdout).expect("text"), output.stderr);
    let err = String::from_utf8_lossy(&err);
    assert!(!out.contains('\u{1b}'), "{call}: {out}");
    assert!(output.status.code().is_some_and(|code| code != 2), "{call}: {err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{call}: {error}: {out} {err}"))
}

fn help(verb: &str) -> String {
    String::from_utf8(called_after("", verb, &["--help".into()]).stdout).expect("text")
}

/// Returns the calls of verbs that read and name no format.
fn reading() -> Vec<&'static str> {
    let is_acting = |call: &str| ACTING.iter().any(|(verb, _)| is_of(call, verb));
    let has_other = |call: &str| call.contains("--format") || call.starts_with("--");
    calls().into_iter().filter(|call| !is_acting(call) && !has_other(call)).collect()
}

/// Goal: a new verb has JSON, or its reason is listed here. Method: the verbs are the help's.
#[test]
fn every_verb_that_reads_prints_json() {
    for (verb, _) in ACTING {
        assert!(COMMANDS.iter().any(|command| command == verb), "{verb} is no verb: remove it");
    }
    let page = include_str!("../../../../../docs/guide/output-formats.md");
    for verb in COMMANDS.iter().filter(|verb| ACTING.iter().all(|(acting, _)| acting != verb)) {
        assert!(CALLS.iter().any(|call| is_of(call, verb)), "{verb} is called nowhere");
        assert!(page.contains(&format!("`{verb}`")), "docs/guide/output-formats.md: {verb}");
        let own = help(verb).split_whitespace().collect::<Vec<_>>().join(" ");
        let format = own.find("--format <FORMAT>").map(|at| &own[at..]).unwrap_or_default();
        let formats = format.find("[possible values: ").map(|at| &format[at..]);
        let formats = formats.and_then(|rest| rest.split(']').next()).unwrap_or_default();
        assert!(formats.contains("text,") && formats.contains("json"), "{verb}: {own}");
        let of_all = help(verb.split(' ').next().expect("a verb"));
        let examples = of_all.split("Examples:").nth(1).unwrap_or_default();
        assert!(examples.contains("json"), "no example of {verb} has JSON: {examples}");
    }
    let reading = reading();
    let data: Vec<Value> = reading.iter().map(|call| json(call)).collect();
    assert!(data.iter().all(|data| data.is_array() || data.is_object()));
    println!("{} calls with JSON: {}", reading.len(), reading.join("; "));
    assert!(reading.len() > 20, "{reading:?}");
}

fn text(call: &str) -> String {
    String::from_utf8(called_after("", call, &[]).stdout).expect("text")
}

#[test]
fn json_of_lists_has_the_entries_of_the_text() {
    let (runs, listed) = (json("list pair"), text("list pair"));
    for run in runs.as_array().expect("a list") {
        let (experiment, cell) = run["id"].as_str().unwrap().rsplit_once('/').unwrap();
        assert!(listed.contains(experiment) && listed.contains(cell), "{listed}");
        assert_eq!((&run["steps"], &run["is_complete"]), (&2.into(), &true.into()));
    }
    assert_eq!(runs.as_array().unwrap().len(), 4);
    let experiment = json("list")[0].clone();
    assert_eq!((&experiment["name"], &experiment["complete"]), (&"pair".into(), &4.into()));
    let (workloads, listed) = (json("workload"), text("workload"));
    for group in ["presets", "applications", "steps"] {
        for one in workloads[group].as_array().expect("a list") {
            assert!(listed.contains(one["about"].as_str().unwrap()), "{one}");
        }
    }
    let rules = json("lint --rules");
    assert_eq!(rules.as_array().unwrap().len(), text("lint --rules").lines().count());
    assert_eq!(json("lint --explain A003")["rule"]["code"], "A003");
    assert_eq!(json("engine show memory")["engine"], "memory");
}

#[test]
fn json_has_the_figures_of_the_text() {
    let shown = json("show pair one.c1.r1");
    let step = &shown["runs"][0]["steps"][1];
    let line = text("show pair one.c1.r1");
    let line = line.lines().find(|line| line.starts_with("readrandom")).expect("a step");
    let qps = line.split_whitespace().nth(2).expect("the third column").parse::<f64>().unwrap();
    assert!((step["line"]["qps"].as_f64().unwrap() - qps).abs() < 1.0, "{line} {step}");
    assert!(step["metrics"]["throughput_ops_per_s"].as_f64().unwrap() > 0.0, "{step}");
    let recorded = &shown["runs"][0]["record"]["steps"][1];
    assert!(recorded["clients"]["get"]["service"]["count"].as_u64().unwrap() > 0, "{recorded}");
    assert_eq!(json("show pair")["runs"].as_array().unwrap().len(), 4);

    let (verified, line) = (json("verify pair"), text("verify pair"));
    let sound = format!("{} sound runs", verified["sound_runs"]);
    assert!(line.contains(&sound) && verified["mismatches"] == Value::Array(Vec::new()), "{line}");

    let plan = &json("plan pair.toml")["plan"];
    assert_eq!(plan["cells"].as_array().unwrap().len(), 4);
    assert!(plan["estimated_ns"].as_u64().unwrap() > 0, "{plan}");
}

#[test]
fn json_of_nothing_is_an_empty_list() {
    let workspace = Workspace::new();
    for verb in [&["list"][..], &["device", "list"], &["snapshot"], &["snapshot", "list"]] {
        let output = workspace.assay(&[verb, &["--format", "json"]].concat());
        assert_eq!((output.code, output.out.as_str()), (0, "[]\n"), "{verb:?} {}", output.err);
    }
    for verb in [&["show", "nothing"][..], &["list", "nothing"], &["verify"], &["history"]] {
        let output = workspace.assay(&[verb, &["--format", "json"]].concat());
        assert!(output.code > 0 && output.out.is_empty(), "{verb:?} {}", output.out);
        assert!(!output.err.is_empty(), "{verb:?}");
    }
}

#[test]
fn a_mismatch_is_data_and_a_failure() {
    let workspace = Workspace::with_pair();
    let experiment = fs::read_dir(workspace.path("results/pair")).unwrap().next().unwrap().unwrap();
    let record = experiment.path().join("runs/one.c1.r1/intervals.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replacen('1', "2", 1)).unwrap();
    let output = workspace.assay(&["verify", "pair", "--format", "json"]);
    let data: Value = serde_json::from_str(&output.out).expect("JSON");
    assert_eq!(output.code, 1, "{}", output.out);
    let path = data["mismatches"][0]["path"].as_str().expect("a path");
    assert!(path.ends_with("one.c1.r1/intervals.jsonl"), "{data}");
}

#[test]
fn an_unknown_format_is_refused_with_the_formats_of_the_verb() {
    for (verb, known) in [
        ("list", "text, json"),
        ("engine list", "text, json"),
        ("doctor", "text, markdown, json"),
        ("compare pair", "text, markdown, csv, tsv, json"),
    ] {
        for format in ["xml", "JSON", "", "yaml"] {
            let output = called_after("", verb, &["--format".into(), format.into()]);
            let err = String::from_utf8_lossy(&output.stderr);
            let names = format!("[possible values: {known}]");
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{err}");
            assert!(err.contains(&names), "{verb} {format}: {err}");
        }
    }
    // The completions of shells name them too.
    let script = String::from_utf8(called_after("", "completions bash", &[]).stdout).unwrap();
    assert!(script.contains("\"text markdown csv tsv json\""), "the completions of formats");
}
