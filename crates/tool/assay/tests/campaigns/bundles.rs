//! `kill -9` of `assay export` and `assay import`: no half-made file is ever used.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use rustix::process::Signal;

use crate::moments::Moments;
use crate::sandbox::{NAME, Sandbox, note, output_text, send, wait_until};
use crate::scale::cases;

/// Kills of each.
const KILLS: (u64, u64) = (4, 60);
/// Longest time from the start to the kill: most of them run for less.
const KILL_WITHIN: Duration = Duration::from_millis(120);

/// Kills a command at a random moment; returns `false` when it had ended before.
fn killed(sandbox: &Sandbox, arguments: &[&str], moments: &mut Moments) -> bool {
    let mut command = sandbox.assay(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let moment = moments.within(KILL_WITHIN);
    let has_ended = wait_until(moment, || matches!(child.try_wait(), Ok(Some(_))));
    send(child.id(), Signal::KILL);
    child.wait().expect("own child");
    !has_ended
}

/// Goal: a killed export leaves no file or a whole one, and a killed import no experiment or a
/// whole one; the original is never changed.
#[test]
fn killed_exports_and_imports_leave_nothing_half_made() {
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = \"1k\"\nduration = \"1s\"\n\
                     [factors]\nrepetitions = 2";
    let [sandbox, other] = [(); 2].map(|()| Sandbox::of(benchmark, &[("memory", "memory", "")]));
    sandbox.run(&[]).assert().code(&[0, 3][..]);
    sandbox.assay(&["export", NAME, "-o", "whole.assay"]).assert().success();
    let whole = fs::read(sandbox.path("whole.assay")).expect("it was exported");
    fs::write(other.path("whole.assay"), &whole).expect("it is writable");
    let mut moments = Moments::new(12);
    let wanted = cases(KILLS.0, KILLS.1);
    let (mut exports, mut imports, mut attempts) = (0, 0, 0);
    while (exports < wanted || imports < wanted) && attempts < 20 * wanted {
        attempts += 1;
        drop(fs::remove_file(sandbox.path("part.assay")));
        exports += u64::from(killed(&sandbox, &["export", NAME, "-o", "part.assay"], &mut moments));
        if let Ok(found) = fs::read(sandbox.path("part.assay")) {
            assert!(found == whole, "a killed export left half a file");
        }
        drop(fs::remove_dir_all(other.path("results")));
        let import = ["import", "whole.assay"];
        imports += u64::from(killed(&other, &import, &mut moments));
        let output = other.assay(&["verify"]).output().expect("it runs");
        let is_sound = output.status.success() || other.experiment().is_none();
        assert!(is_sound, "{}", output_text(&output));
        other.assay(&import).assert().success();
        other.assay(&["verify", NAME]).assert().success();
    }
    sandbox.assay(&["verify", NAME]).assert().success();
    assert!(exports >= wanted && imports >= wanted, "{exports} and {imports} kills");
    note(&format!("{exports} kills of exports, {imports} of imports"));
}
