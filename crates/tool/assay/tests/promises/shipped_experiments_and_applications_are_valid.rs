//! Shipped experiments and applications are valid.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::rejection::rejected_at_once;
use crate::workspace::Workspace;

/// Returns the names and texts of the files of a folder of the repository.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(folder);
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("its text"))
        })
        .collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    files
}

#[test]
fn every_experiment_can_be_planned() {
    let files = files("experiments");
    assert!(files.len() > 15);
    for (name, text) in files {
        let workspace = Workspace::new();
        workspace.write("mine.toml", &text);
        let small = if text.contains("[device]") { "--file-size" } else { "--rows" };
        let size = if small == "--rows" { "10k" } else { "64MiB" };
        let output = workspace.assay(&["plan", "mine.toml", small, size]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{name}");
        assert!(output.out.contains(&format!("{name} (size ")), "{}", output.out);
        let is_declared = ["\nmeasure ", "\nanswer "].iter().any(|key| text.contains(key));
        assert_eq!(output.out.contains("\nanswer    "), is_declared, "{name}: {}", output.out);
    }
}

/// Returns the minutes of machine time that a plan states.
fn planned_minutes(plan: &str) -> u64 {
    let (_, rest) = plan.split_once("\ncost      about ").expect("a price");
    let (time, _) = rest.split_once(' ').expect("its unit");
    let part = |unit: char| {
        let (before, _) = time.split_once(unit)?;
        before.rsplit(|it: char| !it.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    part('h').unwrap_or(0) * 60 + part('m').unwrap_or(0)
}

/// Returns `night` and every other size of a file but its minutes and those of publications.
fn nights(text: &str) -> Vec<&str> {
    let named = text.lines().filter_map(|line| line.strip_prefix("[size.")?.strip_suffix(']'));
    let is_night = |name: &&str| !["minutes", "post"].iter().any(|start| name.starts_with(start));
    ["night"].into_iter().chain(named.filter(is_night).filter(|name| *name != "night")).collect()
}

#[test]
fn experiments_take_minutes_or_a_night_and_a_night_is_sound() {
    let workspace = Workspace::new();
    for (name, text) in files("experiments") {
        workspace.write("mine.toml", &text);
        let plan = |size: &str| {
            let output = workspace.assay(&["plan", "mine.toml", "--size", size]);
            let title = output.out.contains(&format!("{name} (size {size}): "));
            let of_night = output.out.contains(&format!("{name}-{size} (size {size}): "));
            assert!(output.code != 0 || title || of_night, "{name}: {}", output.out);
            output
        };
        let minutes = plan("minutes");
        assert_eq!(minutes.code, 0, "{name}: {}", minutes.err);
        assert!(planned_minutes(&minutes.out) < 15, "{name}: {}", minutes.out);
        for size in nights(&text) {
            let night = plan(size);
            if night.code != 0 && night.err.contains("of disk") {
                println!("skipped in part: no room for {name} at size {size}");
                continue;
            }
            assert_eq!(night.code, 0, "{name} at {size}: {}", night.err);
            assert!(planned_minutes(&night.out) < 8 * 60, "{name} at {size}: {}", night.out);
            // What this host lacks is no fault of the experiment.
            let is_of_host = |line: &str| line.contains("`run` refuses this plan on this host");
            let is_warning = |line: &&str| {
                (line.starts_with("warning ") || line.starts_with("rejected ")) && !is_of_host(line)
            };
            let warnings: Vec<_> = night.out.lines().filter(is_warning).collect();
            assert!(warnings.is_empty(), "{name} at {size}: {warnings:?}");
        }
    }
}

#[test]
fn every_application_can_be_planned_on_every_server() {
    let workspace = Workspace::new();
    let listed = workspace.assay(&["workload"]);
    for (name, text) in files("applications") {
        assert!(listed.out.contains(&format!("\n  {name} ")), "{}", listed.out);
        let file = workspace.assay(&["workload", &name, "--file"]);
        assert_eq!((file.code, file.out.trim_end()), (0, text.trim_end()));
        workspace.write("mine.toml", &text);
        for (engine, workload) in
            [("postgres@15.10", "mine.toml"), ("mysql@8.0.31", &name), ("mariadb@10.11", &name)]
        {
            // A warehouse is a hundred thousand rows.
            let rows = if name == "tproc-c" { 100_000 } else { 1000 };
            let experiment = format!(
                "[experiment]\nname = \"mine\"\nquestion = \"?\"\n[benchmark]\nrows = {rows}\n\
                 workload = \"{workload}\"\n[[variant]]\nname = \"a\"\nengine = \"{engine}\"\n"
            );
            workspace.write("experiment.toml", &experiment);
            let output = workspace.assay(&["plan", "experiment.toml"]);
            assert_eq!((output.code, output.err.as_str()), (0, ""), "{name} on {engine}");
        }
    }
}

#[test]
fn application_step_is_planned_with_its_prerequisites() {
    let typed = ["plan", "q100", "--workload", "ibench-2023", "--rows", "100k"];
    let engines = ["--engine", "postgres@15.10", "--engine", "mysql@8.0.31"];
    let more = ["--clients", "1,2", "--placement", "same-cpu", "--parameter", "inserts=5k"];
    let output = Workspace::new().assay(&[&typed[..], &engines, &more].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let is_shown = |line: &&str| {
        ["rows", "workload", "cost", "placement", "variant", "step"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let shown: Vec<_> = output.out.lines().filter(is_shown).collect();
    assert_snapshot!(shown.join("\n"), @"
    rows      100000 of about 45 bytes, 4.29 MiB in all
    workload  ibench-2023: the Insert Benchmark of 2023: inserts in key order, three indexes, queries with paced inserts
    cost      about 5m15s of machine time; up to 629 MiB of disk at a time
    placement same-cpu
    variant   postgres-15.10: postgres@15.10, no engine profile, durability os  (base)
    variant   mysql-8.0.31: mysql@8.0.31, no engine profile, durability os
    step      l.i0: 100000 rows, clients 1, 2
    step      l.x: 2 calls for each table, clients 1, 2
    step      q100: 1m00s after 5.00 s of warm-up, clients 1, 2, with 100 background rows/s per client
    ");
}

#[test]
fn application_is_shown_and_an_invalid_one_rejected_at_its_line() {
    let workspace = Workspace::new();
    let output = workspace.assay(&["workload", "ibench-2023"]);
    assert_eq!(output.code, 0);
    for line in [
        "parameter inserts = 100%",
        "table     pi: one for each client",
        "order     l.i0, l.x, l.i1, q100, q500, q1000",
    ] {
        assert!(output.out.lines().any(|printed| printed == line), "{}", output.out);
    }
    let files = files("applications");
    let (_, text) = files.iter().find(|(_, text)| text.contains(":customer,")).expect("ibench");
    workspace.write("wrong.toml", text.replacen(":customer,", ":costumer,", 1));
    let output = workspace.assay(&["workload", "wrong.toml"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert!(output.err.contains("unknown value `costumer`"), "{}", output.err);
    assert!(output.err.contains("did you mean `customer`?"), "{}", output.err);
}

#[test]
fn embedded_engine_is_rejected_for_sql_workloads() {
    let typed = ["run", "q100", "--workload", "ibench-2023", "--engine", "lmdb", "--rows", "1k"];
    let output = rejected_at_once(&Workspace::new(), &typed);
    assert!(output.contains("ibench-2023 needs an SQL server, and lmdb is not one"), "{output}");
    let typed = ["run", "q100", "--workload", "ibench-2024", "--engine", "lmdb", "--rows", "1k"];
    let output = rejected_at_once(&Workspace::new(), &typed);
    assert!(output.contains("did you mean `ibench-2023`?"), "{output}");
}
