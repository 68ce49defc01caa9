//! Without a terminal, progress is plain lines: one as a run begins, one per finished step.

use crate::place::Place;

#[test]
fn a_piped_run_tells_one_line_per_run_and_step() {
    let place = Place::new();
    let what = ["run", "readrandom", "--engine", "memory", "--engine", "null"];
    let how = ["--rows", "200", "--duration", "30ms", "--warmup", "5ms"];
    let said = place.assay(&[&what[..], &how].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains('\r') && !said.out.contains('\r'), "no line is drawn twice");
    let begins: Vec<_> = said.err.lines().filter(|line| line.contains(" left")).collect();
    assert_eq!(begins.len(), 2, "{}", said.err);
    for (line, number) in begins.iter().zip(1..) {
        let place = format!("  run {number} of 2 \u{b7} repetition 1 of 1 \u{b7} ");
        assert!(line.contains(&place), "{line}");
    }
    for run in ["memory.c1.r1", "null.c1.r1"] {
        for step in ["filluniquerandom", "readrandom"] {
            let of_step = |line: &&str| line.starts_with(&format!("{run}  {step}  "));
            let lines: Vec<_> = said.err.lines().filter(of_step).collect();
            assert_eq!(lines.len(), 1, "{}", said.err);
            assert!(lines[0].contains("/s  p50 ") && lines[0].contains("  p99 "), "{}", lines[0]);
        }
    }
}
