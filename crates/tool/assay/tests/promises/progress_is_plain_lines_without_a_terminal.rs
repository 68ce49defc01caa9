//! Without a terminal, progress is one line per run and step.

use crate::workspace::Workspace;

#[test]
fn piped_run_prints_one_line_per_run_and_step() {
    let workspace = Workspace::new();
    let what = ["run", "readrandom", "--engine", "memory", "--engine", "null"];
    let how = ["--rows", "200", "--duration", "30ms", "--warmup", "10ms"];
    let output = workspace.recorded(&[&what[..], &how].concat());
    assert!(!output.err.contains('\r') && !output.out.contains('\r'), "no line is drawn twice");
    let begins: Vec<_> = output.err.lines().filter(|line| line.contains(" left")).collect();
    assert_eq!(begins.len(), 2, "{}", output.err);
    for (line, number) in begins.iter().zip(1..) {
        let position = format!("  run {number} of 2 \u{b7} ");
        assert!(line.contains(&position), "{line}");
    }
    for run in ["memory.c1.r1", "null.c1.r1"] {
        for step in ["filluniquerandom", "readrandom"] {
            let of_step = |line: &&str| line.starts_with(&format!("{run}  {step}  "));
            let lines: Vec<_> = output.err.lines().filter(of_step).collect();
            assert_eq!(lines.len(), 1, "{}", output.err);
            assert!(lines[0].contains("/s  p50 ") && lines[0].contains("  p99 "), "{}", lines[0]);
        }
    }
}
