//! The disk floor is checked before and during every run.

use assert_cmd::assert::OutputAssertExt;
use model::RunEnd;

use crate::sandbox::{IN_MEMORY, NAME, Sandbox, joined_text, on_disk_of, output_text};

#[test]
fn floor_above_the_free_space_is_rejected_before_the_run() {
    let sandbox = Sandbox::reading("100ms", &[("only", "memory", "")]);
    let mut run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "9000TiB"]);
    let output = run.assert().failure().get_output().clone();
    let message = joined_text(&output);
    assert!(
        message.contains("the disk floor is 9000 TiB") && message.contains("nothing was run"),
        "{message}"
    );
    assert!(sandbox.experiment().is_none());
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

/// Goal: a run that crosses the floor is stopped and recorded, and its data removed.
/// Method: the data directory is a file system of 8 GiB, and the floor is 64 MiB below that; an
/// engine whose log is never truncated fills a tenth of it, and overwrites those rows.
#[test]
fn run_crossing_the_floor_is_stopped_and_its_data_removed() {
    let benchmark = "steps = [\"fillseq\", \"overwrite\"]\nrows = \"1k\"\nduration = \"100s\"";
    let unbounded_log = "wal_autocheckpoint = 0".to_owned();
    let sandbox = Sandbox::with_options(benchmark, &[("big", "sqlite", unbounded_log)]);
    let mut run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "8128MiB"]);
    run.args(IN_MEMORY);
    let list = "echo \"left: $(ls -A data | tr '\\n' ' ')\"";
    let Some(output) = on_disk_of("8g", "data", &run, list) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let record = &sandbox.records()["big.c1.r1"];
    let RunEnd::DiskFloor { step, free_bytes } = &record.end else { panic!("{:?}", record.end) };
    assert_eq!(step, "overwrite");
    assert!(free_bytes.0 < 8128 << 20, "{free_bytes}");
    assert_eq!(record.steps.len(), 1);
    assert!(output_text(&output).contains("left: .assay-data \n"), "{}", output_text(&output));
    let list = sandbox.result_of(&["list", NAME]);
    assert!(list.contains(&format!("stopped in overwrite: only {free_bytes}")), "{list}");
}

/// Goal: a run that a full disk ends names it and the remedy; a panic of `WiredTiger`, which names
/// no cause, has its cause before it.
#[test]
fn a_full_disk_is_named_with_its_remedy_and_a_panic_with_its_cause() {
    let benchmark = "steps = [\"fillseq\", \"overwrite\"]\nrows = \"4k\"\nduration = \"30s\"\n\
                     durability = \"os\"";
    for (engine, cause) in [
        ("fjall", "No space left on device"),
        ("wiredtiger@system", "No space left on device; the process must exit and restart"),
    ] {
        let sandbox = Sandbox::of(benchmark, &[("big", engine, "")]);
        let mut run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "0"]);
        run.args(IN_MEMORY);
        let Some(output) = on_disk_of("24m", "data", &run, "true") else { return };
        let message = joined_text(&output);
        if message.contains("no libwiredtiger.so") {
            return println!("skipped in part: no WiredTiger is installed");
        }
        for expected in [cause, "B are free on the disk of", "make room, use fewer rows"] {
            assert!(message.contains(expected), "{expected}: {message}");
        }
    }
}
