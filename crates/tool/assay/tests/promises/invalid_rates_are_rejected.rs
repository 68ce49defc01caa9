//! Invalid rates are rejected before the run.
//!
//! Each error has its location, the reason and the remedy; those of a rate file its own line.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once, rejection};
use crate::workspace::Workspace;

/// Returns the error for a rate as written in the file.
fn load(rate: &str) -> String {
    rejection("\"300ms\"", &format!("\"10s\"\nload = {{ rate = {rate} }}"))
}

/// Returns the error for a rate in quotes.
fn rate(text: &str) -> String {
    load(&format!("\"{text}\""))
}

/// Returns the error for a rate without its location.
fn reason(text: &str) -> String {
    let output = rate(text);
    let end = output.find("\u{256d}").expect("a location");
    output[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn rate_is_positive_and_has_a_unit() {
    assert_snapshot!(rate("0/s"), @r#"
     × the rate `0/s` is zero: write a rate above zero
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "0/s" }
       ·                 ──┬──
       ·                   ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(rate("-5k/s"), @r#"
     × the rate `-5k/s` is negative: write a rate above zero, such as 50k/s
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "-5k/s" }
       ·                 ───┬───
       ·                    ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(rate("50k"), @r#"
     × the rate `50k` has no unit: write 50k/s
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "50k" }
       ·                 ──┬──
       ·                   ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(load("50000"), @r#"
     × the rate `50000` has no unit: write 50000/s
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = 50000 }
       ·                 ──┬──
       ·                   ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(reason("2MiB/s"), @"× `2MiB/s` is not a rate: write operations per second, \
                                         such as 50k/s");
    assert_snapshot!(reason("5G/s"), @"× `5G/s` is not a rate: write operations per second, such \
                                       as 50k/s");
    assert_snapshot!(reason("5000M/s"), @"× the rate `5000M/s` is more than one operation each \
                                          nanosecond");
    assert_snapshot!(reason("0.01/s"), @"× step readrandom: at 0.01/s no operation is due in 10.0 \
                                         s");
}

#[test]
fn changing_rate_stays_positive() {
    assert_snapshot!(reason("ramp 10k/s..0/s over 60s"), @"× ramp: the rate `0/s` is zero: write a \
                                                           rate above zero");
    assert_snapshot!(reason("ramp 10k/s 20k/s over 60s"), @"× ramp: `10k/s 20k/s over 60s` is not \
                                                            understood: write ramp 10k/s..100k/s \
                                                            over 60s");
    assert_snapshot!(reason("steps 10k/s 20 every 10s"), @"× steps: the rate `20` has no unit: \
                                                           write 20/s");
    assert_snapshot!(reason("sine 50k/s +-60k/s every 60s"), @"× sine: an amplitude of 60,000/s is \
                                                               not below the mean of 50,000/s: \
                                                               write a smaller amplitude");
    assert_snapshot!(reason("sine 50k/s +-20k/s every 60"), @"× sine: `60` is not a duration: \
                                                              write 500ms, 60s, 10m or 2h");
    assert_snapshot!(reason("rmap 10k/s..20k/s over 60s"), @"× `rmap 10k/s..20k/s over 60s` is \
                                                             not a rate: did you mean `ramp`?");
    assert_snapshot!(reason("fast"), @"× `fast` is not a rate: write 50k/s, or a rate that \
                                       changes, such as ramp 10k/s..100k/s over │ 60s, steps \
                                       10k/s 20k/s 40k/s every 10s, sine 50k/s +-20k/s every 60s \
                                       or file rates.csv");
}

#[test]
fn rate_file_is_rejected_at_its_own_line() {
    let workspace = Workspace::new();
    let text = TINY.replace("\"300ms\"", "\"10s\"\nload = { rate = \"file day.csv\" }");
    workspace.write("mine.toml", text);
    let output = || rejected_at_once(&workspace, &["run", "mine.toml"]);
    assert_snapshot!(output(), @r#"
     × cannot read the rate file day.csv: No such file or directory (os error 2)
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "file day.csv" }
       ·                 ───────┬──────
       ·                        ╰── here
    10 │ 
       ╰────
     help: give a path relative to the experiment file or, on the command line, to the current
           directory
     nothing was run
    "#);
    workspace.write("day.csv", "t,rate\n0,1000\n5,-3\n");
    assert_snapshot!(output(), @"
     × rate file day.csv, line 3: the rate `-3` is negative: write a rate above zero
      ╭─[day.csv:3:1]
    2 │ 0,1000
    3 │ 5,-3
      · ──┬─
      ·   ╰── here
      ╰────
     nothing was run
    ");
    workspace.write("day.csv", "0,1000\n5,2000\n");
    assert_snapshot!(output(), @"
     × rate file day.csv, line 1: the first line is `0,1000`, not the header t,rate
      ╭─[day.csv:1:1]
    1 │ 0,1000
      · ───┬──
      ·    ╰── here
    2 │ 5,2000
      ╰────
     nothing was run
    ");
    workspace.write("day.csv", "t,rate\n");
    assert_snapshot!(output(), @"
     × rate file day.csv, line 1: no rate follows the header: write a line such as 0,50000
      ╭─[day.csv:1:1]
    1 │ t,rate
      · ───┬──
      ·    ╰── here
      ╰────
     nothing was run
    ");
    workspace.write("day.csv", vec![b'x'; (1 << 20) + 1]);
    assert_snapshot!(output(), @r#"
     × cannot read the rate file day.csv: the file is larger than 1.00 MiB
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "file day.csv" }
       ·                 ───────┬──────
       ·                        ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    workspace.write("day.csv", "t,rate\n0,1000\n5,2000\n");
    let planned = workspace.assay(&["plan", "mine.toml"]);
    assert_eq!((planned.code, planned.err.as_str()), (0, ""));
}
