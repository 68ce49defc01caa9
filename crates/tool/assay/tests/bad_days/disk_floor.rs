//! The disk is never filled: room is looked at before the first run and while each goes on.

use assert_cmd::assert::OutputAssertExt;
use model::RunEnd;

use crate::sandbox::{NAME, Sandbox, said, say, sentence, wrapped};

#[test]
fn a_floor_above_the_free_space_is_an_error_before_anything_is_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    let mut run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "9000TiB"]);
    let output = run.assert().failure().get_output().clone();
    let told = sentence(&output);
    assert!(told.contains("must stay free") && told.contains("nothing was run"), "{told}");
    assert!(sandbox.experiment().is_none());
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

/// Goal: a run that crosses the floor is stopped and recorded, and its data is gone.
/// Method: the data directory is a file system of 8 GiB in a mount namespace of its own (it takes
/// no more memory than what is written), and the floor lies 64 MiB below that.
#[test]
fn a_run_that_crosses_the_floor_is_stopped_and_its_data_removed() {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"1M\"\n\
                     duration = \"100ms\"";
    let sandbox = Sandbox::of(benchmark, &[("big", "lmdb", "")]);
    let script = "mkdir -p data && mount -t tmpfs -o size=8g none data || exit 77
                  \"$@\"; code=$?; echo \"left: $(ls -A data | tr '\\n' ' ')\"; exit $code";
    let words = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
    let run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "8128MiB"]);
    let Ok(output) = wrapped(&words, &run).output() else {
        say("skipped: unshare does not run");
        return;
    };
    if output.status.code() == Some(77) || said(&output).contains("unshare failed") {
        say(&format!("skipped: no file system can be mounted: {}", said(&output)));
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let record = &sandbox.records()["big.c1.r1"];
    let RunEnd::DiskFloor { step, free_bytes } = &record.end else { panic!("{:?}", record.end) };
    assert_eq!(step, "filluniquerandom");
    assert!((1 << 30..8128 << 20).contains(&free_bytes.0), "{free_bytes}");
    assert!(record.steps.is_empty());
    assert!(said(&output).contains("left: .assay-data \n"), "{}", said(&output));
    assert!(sandbox.answer(&["list", NAME]).contains("stopped in filluniquerandom: only 7."));
}
