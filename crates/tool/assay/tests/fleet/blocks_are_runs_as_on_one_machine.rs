//! A block on another machine is what it would have been here.

use std::fs;
use std::path::Path;

use model::RunRecord;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::fixture::{Fixture, NAME, SOON, ended};

/// Returns the counts of each step of a run, which follow from its keys.
fn counts(record: &RunRecord) -> Vec<String> {
    let of = |step: &model::StepRecord| {
        let clients = step.clients.iter().map(|(kind, it)| format!("{kind} {:?}", it.counts));
        format!("{} {:?}", step.step.name, clients.collect::<Vec<_>>())
    };
    record.steps.iter().map(of).collect()
}

/// Removes a key from a JSON file.
fn remove_key(path: &Path, key: &str) {
    let text = fs::read(path).expect("a record");
    let mut value: Value = serde_json::from_slice(&text).expect("JSON");
    let removed = value.as_object_mut().and_then(|fields| fields.remove(key));
    assert!(removed.is_some(), "{}", path.display());
    fs::write(path, serde_json::to_vec_pretty(&value).expect("JSON")).expect("a record");
}

/// Goal: plan, order, keys and analysis are the same as in a run on one machine.
#[test]
fn same_seed_gives_the_same_runs() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    let (here, there) = (Fixture::counted(2), Fixture::counted(2));
    let local = ended(here.run(None, &[]).spawn().unwrap(), SOON);
    let remote = ended(there.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap(), SOON);
    there.assert_whole();
    let ((local_manifest, local_runs), (manifest, runs)) = (here.records(), there.records());
    assert_eq!(local_manifest.plan, manifest.plan, "{}{}", local.err, remote.err);
    assert_eq!(local_manifest.builds, manifest.builds);
    for (one, other) in local_runs.iter().zip(&runs) {
        assert_eq!((&one.cell, counts(one)), (&other.cell, counts(other)));
    }
    let compared = |format: &str| {
        let output = there.assay(None, &["compare", NAME, "--format", format]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let with_machine = ["json", "text", "csv"].map(compared);
    let dir = there.experiment().unwrap();
    for run in &runs {
        remove_key(&dir.run_dir(&run.cell.id).join("record.json"), "machine");
    }
    fs::remove_dir_all(dir.path().join("derived")).ok();
    assert_eq!(["json", "text", "csv"].map(compared), with_machine);
}

/// Goal: a build is sent once, by its hash, and the machine opens the file that was sent.
#[test]
fn builds_are_sent_by_hash() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    let shim = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drive/shim");
    let fixture = Fixture::with_second(1, "50ms", "engine = \"sorted@mine\"\n");
    let library = fixture.path("libsorted.so");
    let compiled = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-I", &format!("{shim}/include")])
        .args([&format!("{shim}/tests/sorted.c"), "-o"])
        .arg(&library)
        .status();
    assert!(compiled.unwrap().success());
    let library = library.display().to_string();
    let add = ["engine", "add", "sorted@mine", &library];
    let added = ended(fixture.assay(None, &add).spawn().unwrap(), SOON);
    assert_eq!(added.code, Some(0), "{}", added.err);
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let output = ended(run, SOON);
    assert_eq!(output.code, Some(0), "{}", output.err);
    fixture.assert_whole();
    let (manifest, runs) = fixture.records();
    let run = runs.iter().find(|run| run.variant.name == "two").expect(&output.err);
    let identity = run.identity.as_ref().unwrap();
    assert_eq!(identity.sha256, manifest.builds["two"].sha256);
    let sent = fs::read_dir(fixture.path("cache/fleet")).unwrap();
    assert_eq!(sent.count(), 1);
}

/// Goal: a part of a machine is refused, because other jobs would share its CPUs.
#[test]
fn part_of_a_machine_is_refused() {
    let Some(mut cluster) = Cluster::start(&[""]) else { return };
    let Some(one) = first_of_several_cpus() else {
        println!("skipped: a part of a machine needs two CPUs");
        return;
    };
    let fixture = Fixture::new(1, "50ms");
    // The daemon's mask is inherited by its jobs.
    for daemon in cluster.node(1).processes() {
        let daemon = daemon.as_raw_nonzero().to_string();
        let masked = std::process::Command::new("taskset").args(["-apc", &one, &daemon]).output();
        assert!(masked.unwrap().status.success());
    }
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let output = ended(run, SOON);
    assert!(output.err.contains("n1: refused: this process may use 1 of"), "{}", output.err);
    assert!(output.err.contains("n1  failed 2 times"), "{}", output.err);
    assert_eq!(fixture.records().1.len(), 0, "nothing was run");
}

/// Returns the first CPU of this process, if it has several.
fn first_of_several_cpus() -> Option<String> {
    let cpus = rustix::thread::sched_getaffinity(None).ok()?;
    let mut all = (0..1024).filter(|cpu| cpus.is_set(*cpu));
    let (first, _) = (all.next()?, all.next()?);
    Some(first.to_string())
}
