//! Sizes follow the memory limit of the control group that encloses the program.

use assert_cmd::Command;

use crate::group::Group;
use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// Makes a group of 512 MiB; prints the reason where this user cannot.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn group() -> Option<Group> {
    let limit = |file| [(file, (512_u64 << 20).to_string())];
    let made = Group::make("memory", &limit("memory.limit_in_bytes"), &limit("memory.max"));
    made.inspect_err(|error| println!("skipped: no control group: {error}")).ok()
}

/// Runs the program in the group.
fn run(group: &Group, workspace: &Workspace, args: &[&str]) -> ProgramOutput {
    let program = workspace.program(args);
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo $$ >\"$0\"; exec \"$@\""]).arg(group.processes());
    shell.arg(program.get_program()).args(program.get_args());
    shell.current_dir(program.get_current_dir().expect("the workspace"));
    ProgramOutput::of(shell.output().expect("a shell"))
}

#[test]
fn sizes_in_a_container_are_those_of_a_memory_cap() {
    let Some(group) = group() else { return };
    let workspace = Workspace::new();
    for args in [
        &["plan", "readrandom", "--engine", "lmdb"][..],
        &["plan", "fillseq", "--workload", "byrx", "--engine", "sqlite"],
    ] {
        let sizes = |output: ProgramOutput| {
            assert_eq!(output.code, 0, "{}{}", output.out, output.err);
            let is_size = |line: &&str| ["cache", "rows"].iter().any(|word| line.contains(word));
            let lines: Vec<_> = output.out.lines().filter(is_size).map(str::to_owned).collect();
            assert!(!lines.is_empty(), "{}", output.out);
            lines
        };
        let within = sizes(run(&group, &workspace, args));
        let capped = workspace.assay(&[args, &["--memory", "512MiB"]].concat());
        let without = sizes(workspace.assay(args));
        assert_ne!(within, without);
        let capped: Vec<_> = sizes(capped)
            .iter()
            .map(|line| line.replace(", memory capped at 512 MiB", ""))
            .collect();
        assert_eq!(within, capped);
    }
}

#[test]
fn a_cap_that_the_container_does_not_allow_is_refused_before_the_load() {
    let Some(group) = group() else { return };
    let workspace = Workspace::new();
    let args = ["run", "fillseq", "--engine", "lmdb", "--rows", "1000", "--memory", "1GiB"];
    let output = run(&group, &workspace, &args);
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    let error = unwrapped(&output.err);
    assert!(error.contains("a memory cap of 1.00 GiB has no effect"), "{error}");
    assert!(error.contains("allows only 512 MiB"), "{error}");
}
