//! Experiments and applications that come with the program are read without a complaint.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::place::Place;
use crate::refusal::refused_at_once;

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
    files
}

#[test]
fn every_experiment_can_be_planned() {
    let files = files("experiments");
    assert!(files.len() > 15);
    for (name, text) in files {
        let place = Place::new();
        place.write("mine.toml", &text);
        let said = place.assay(&["plan", "mine.toml", "--rows", "10k"]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{name}");
        assert!(said.out.contains(&format!("{name}: ")), "{}", said.out);
    }
}

#[test]
fn every_application_is_listed_and_can_be_planned_on_every_server() {
    let place = Place::new();
    let listed = place.assay(&["workload"]);
    for (name, text) in files("applications") {
        assert!(listed.out.contains(&format!("\n  {name} ")), "{}", listed.out);
        let file = place.assay(&["workload", &name, "--file"]);
        assert_eq!((file.code, file.out.trim_end()), (0, text.trim_end()));
        place.write("mine.toml", &text);
        for (engine, workload) in
            [("postgres@15.10", "mine.toml"), ("mysql@8.0.31", &name), ("mariadb@10.11", &name)]
        {
            let experiment = format!(
                "[experiment]\nname = \"mine\"\nquestion = \"?\"\n[benchmark]\nrows = 1000\n\
                 workload = \"{workload}\"\n[[variant]]\nname = \"a\"\nengine = \"{engine}\"\n"
            );
            place.write("experiment.toml", &experiment);
            let said = place.assay(&["plan", "experiment.toml"]);
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{name} on {engine}");
        }
    }
}

#[test]
fn a_step_of_an_application_is_planned_with_those_it_needs() {
    let typed = ["plan", "q100", "--workload", "ibench-2023", "--rows", "100k"];
    let engines = ["--engine", "postgres@15.10", "--engine", "mysql@8.0.31"];
    let more = ["--clients", "1,2", "--placement", "same-cpu", "--parameter", "inserts=5k"];
    let said = Place::new().assay(&[&typed[..], &engines, &more].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let is_told = |line: &&str| {
        ["rows", "asked", "cost", "placement", "variant", "step"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let told: Vec<_> = said.out.lines().filter(is_told).collect();
    assert_snapshot!(told.join("\n"), @"
    rows      100000 of about 45 bytes, 4.29 MiB in all
    asked     ibench-2023: the Insert Benchmark of 2023: inserts in key order, three indexes, queries beside paced inserts
    cost      about 5m15s of machine time; up to 629 MiB of disk at a time
    placement same-cpu
    variant   postgres-15.10: postgres@15.10, no profile, durability os  (base)
    variant   mysql-8.0.31: mysql@8.0.31, no profile, durability os
    step      l.i0: 100000 rows, clients 1 or 2
    step      l.x: 2 calls for each table, clients 1 or 2
    step      q100: 1m00s after 5.00 s of warm-up, clients 1 or 2, beside 100 rows/s each
    ");
}

#[test]
fn an_application_is_shown_with_its_steps_and_a_wrong_one_with_its_line() {
    let place = Place::new();
    let said = place.assay(&["workload", "ibench-2023"]);
    assert_eq!(said.code, 0);
    for line in [
        "parameter inserts = 100%",
        "table     pi: one for each client",
        "order     l.i0, l.x, l.i1, q100, q500, q1000",
    ] {
        assert!(said.out.lines().any(|told| told == line), "{}", said.out);
    }
    let (_, text) = files("applications").remove(0);
    place.write("wrong.toml", text.replacen(":customer,", ":costumer,", 1));
    let said = place.assay(&["workload", "wrong.toml"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("unknown value `costumer`"), "{}", said.err);
    assert!(said.err.contains("did you mean `customer`?"), "{}", said.err);
}

#[test]
fn an_embedded_engine_is_not_asked_for_sql() {
    let typed = ["run", "q100", "--workload", "ibench-2023", "--engine", "lmdb", "--rows", "1k"];
    let said = refused_at_once(&Place::new(), &typed);
    assert!(said.contains("ibench-2023 asks an SQL server, and lmdb is none"), "{said}");
    let typed = ["run", "q100", "--workload", "ibench-2024", "--engine", "lmdb", "--rows", "1k"];
    let said = refused_at_once(&Place::new(), &typed);
    assert!(said.contains("did you mean `ibench-2023`?"), "{said}");
}
