//! `assay export-job` prints jobs that their schedulers accept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use archive::Results;

use crate::cluster::Cluster;
use crate::fixture::{Ended, Fixture, MOVE_MAX, ended};
use crate::programs::wait_for;

/// Validator of objects of Kubernetes, below the cache, where `scripts/setup.sh test` installs it.
const VALIDATOR: &str = "assay/test-python/bin/kubernetes-validate";

/// Options of a job of Kubernetes.
const POD: [&str; 9] =
    ["kubernetes", "--image", "i", "--claim", "c", "--pod-cpus", "4", "--pod-memory", "8GiB"];

/// Returns what `assay export-job` prints for an experiment of two blocks.
fn exported(fixture: &Fixture, options: &[&str]) -> Ended {
    let arguments = [&["export-job"], options, &["fleet.toml", "--disk-floor", "1MiB"]].concat();
    ended(fixture.assay(None, &arguments).spawn().expect("Assay starts"), MOVE_MAX)
}

/// Goal: a script for Slurm completes the experiment, without another command of Assay.
/// Method: Slurm checks the script of an experiment in a directory with odd signs, and runs it.
#[test]
fn exported_job_of_slurm_completes_the_experiment() {
    let Some(cluster) = Cluster::start(&["bench", "bench"]) else { return };
    let fixture = Fixture::counted(2);
    let job = exported(&fixture, &["slurm", "--constraint", "bench", "--machines", "1"]);
    assert_eq!(job.code, Some(0), "{job:?}");
    let script = fixture.path("job");
    fs::write(&script, &job.out).unwrap();
    let script = script.to_str().unwrap();
    cluster.output("sbatch", &["--test-only", script]);
    let wrong = job.out.replace("'bench'", "'disk'");
    fs::write(fixture.path("wrong"), wrong).unwrap();
    let mut refused = cluster.command("sbatch");
    refused.arg("--test-only").arg(fixture.path("wrong"));
    assert!(!refused.status().unwrap().success(), "no machine has that feature");
    let other = ["--on", "slurm", "--constraint", "disk"];
    let refused = ended(fixture.run(Some(&cluster), &other).spawn().unwrap(), MOVE_MAX);
    let why = "no machine of Slurm has the feature `disk`";
    assert!(refused.err.contains(why) && refused.err.contains("nothing was run"), "{refused:?}");
    cluster.output("sbatch", &[script]);
    wait_for("both blocks are in the archive", MOVE_MAX, || {
        let (manifest, records) = fixture.records();
        (records.len() == manifest.plan.cells.len()).then_some(())
    });
    wait_for("the job ends", MOVE_MAX, || {
        cluster.output("squeue", &["--noheader"]).is_empty().then_some(())
    });
    let resumed = ended(fixture.resume(Some(&cluster)).spawn().unwrap(), MOVE_MAX);
    assert!(matches!(resumed.code, Some(0 | 3)), "{resumed:?}");
    fixture.assert_whole();
}

/// Goal: blocks enter the archive without a submitter, also one that ended while another block
/// entered it.
#[test]
fn a_block_that_found_the_archive_in_use_enters_it_with_the_next() {
    let fixture = Fixture::counted(2);
    let job = exported(&fixture, &["slurm"]);
    assert_eq!(job.code, Some(0), "{job:?}");
    let mut dir = fixture.experiment().unwrap();
    let place = Results::of(&dir).fleet_dir(&dir.manifest().unwrap().id);
    let run = |block: &str| {
        let command = fixture.assay(None, &["block", place.to_str().unwrap(), block]).spawn();
        let run = ended(command.expect("Assay starts"), MOVE_MAX);
        assert_eq!(run.code, Some(0), "{run:?}");
        fixture.records().1.len()
    };
    dir.lock().unwrap();
    assert_eq!(run("1"), 0, "the archive is in use");
    drop(dir);
    assert_eq!(run("2"), 4);
}

#[test]
fn exported_job_of_kubernetes_has_the_schema_of_a_job() {
    let Some(validator) = validator() else { return };
    let fixture = Fixture::counted(2);
    let job = exported(&fixture, &POD);
    assert_eq!(job.code, Some(0), "{job:?}");
    assert_eq!(validated(&validator, &fixture, &job.out), Ok(()));
    let wrong = job.out.replace("\"parallelism\"", "\"paralelism\"");
    let error = validated(&validator, &fixture, &wrong).unwrap_err();
    assert!(error.contains("paralelism"), "{error}");
}

#[test]
fn job_that_kubernetes_refuses_is_rejected_before_the_experiment_begins() {
    let fixture = Fixture::counted(1);
    for (option, value, message) in [
        ("--constraint", "bench", "names no label of Kubernetes"),
        ("--results", "a:b", "no volume of Kubernetes can be mounted at"),
    ] {
        let job = exported(&fixture, &[&POD[..], &[option, value]].concat());
        assert!(job.code == Some(1) && job.err.contains(message), "{job:?}");
    }
    assert!(fixture.experiment().is_none());
}

/// Checks the text of an object, without a network; the error is the validator's output.
fn validated(validator: &Path, fixture: &Fixture, text: &str) -> Result<(), String> {
    let file = fixture.path("job.json");
    fs::write(&file, text).expect("a scratch directory");
    let output = Command::new(validator).args(["--strict", "--no-warn"]).arg(file).output();
    let output = output.expect("a program that is here");
    let text = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&text).into_owned()) }
}

#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn validator() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let found = cache.map(|cache| cache.join(VALIDATOR)).filter(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no kubernetes-validate here: run scripts/setup.sh test");
    }
    found
}
