//! Invalid loads, limits and client counts are rejected before the run.
//!
//! Each error has its location, the reason and the remedy.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once, rejection, rejection_of};
use crate::workspace::Workspace;

/// Returns the error for a load of the whole benchmark.
fn load(text: &str) -> String {
    rejection("\"300ms\"", &format!("\"10s\"\nload = {text}"))
}

#[test]
fn limit_is_a_percentile_and_a_time_with_unit() {
    let limit = |text: &str| load(&format!("{{ sla = \"{text}\" }}"));
    assert_snapshot!(limit("p99.9 < 2"), @r#"
     × `2` has no unit of time: write 2ms or 2us
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "p99.9 < 2" }
       ·                ─────┬─────
       ·                     ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(limit("p100 < 2ms"), @r#"
     × `p100` is not a percentile below p100: write a percentile and a time, such as "p99.9 < 2ms"
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "p100 < 2ms" }
       ·                ──────┬─────
       ·                      ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(limit("p999 < 2ms"), @r#"
     × `p999` is not a percentile below p100: did you mean p99.9?
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "p999 < 2ms" }
       ·                ──────┬─────
       ·                      ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(limit("max < 2ms"), @r#"
     × `max` is not a percentile below p100: write a percentile and a time, such as "p99.9 < 2ms"
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "max < 2ms" }
       ·                ─────┬─────
       ·                     ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(limit("2ms"), @r#"
     × `2ms` is not a limit: write a percentile and a time, such as "p99.9 < 2ms"
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "2ms" }
       ·                ──┬──
       ·                  ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(limit("p99 < 20s"), @r#"
     × step readrandom: no operation can exceed 20.0 s in the measured 10.0 s
       ╭─[mine.toml:9:16]
     8 │ duration = "10s"
     9 │ load = { sla = "p99 < 20s" }
       ·                ─────┬─────
       ·                     ╰── here
    10 │ 
       ╰────
     help: use a shorter limit, or measure for longer
     nothing was run
    "#);
}

#[test]
fn percentile_needs_enough_operations_in_the_window() {
    assert_snapshot!(load("{ rate = \"5k/s\", sla = \"p99.99 < 2ms\" }"), @r#"
     × step readrandom: p99.99 needs 1,000,000 operations; 10.0 s at 5,000/s have 50,000
       ╭─[mine.toml:9:31]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s", sla = "p99.99 < 2ms" }
       ·                               ───────┬──────
       ·                                      ╰── here
    10 │ 
       ╰────
     help: measure for at least 200 s, or use p99
     nothing was run
    "#);
    assert_snapshot!(rejection("\"300ms\"", "\"300ms\"\nload = { sla = \"p99.9999 < 2ms\" }"), @r#"
     × step readrandom: p99.9999 needs 100,000,000 operations; 300 ms even at 10,000,000/s have
     │ 3,000,000
       ╭─[mine.toml:9:16]
     8 │ duration = "300ms"
     9 │ load = { sla = "p99.9999 < 2ms" }
       ·                ────────┬───────
       ·                        ╰── here
    10 │ 
       ╰────
     help: measure for at least 10 s, or use p99.99
     nothing was run
    "#);
    let typed = ["run", "readrandom", "--engine", "lmdb", "--rows", "10", "--duration", "2s"];
    let output = rejected_at_once(
        &Workspace::new(),
        &[&typed[..], &["--rate", "100/s", "--sla", "p99 < 1ms"]].concat(),
    );
    assert_snapshot!(output, @"
    × --sla: step readrandom: p99 needs 10,000 operations; 2.00 s at 100/s have 200
    help: measure for at least 100 s, or use p50
    nothing was run
    ");
}

#[test]
fn arrivals_and_pacing_require_a_rate() {
    assert_snapshot!(load("{ rate = \"5k/s\", arrivals = \"possion\" }"), @r#"
     × unknown arrivals `possion`
       ╭─[mine.toml:9:36]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s", arrivals = "possion" }
       ·                                    ────┬────
       ·                                        ╰── here
    10 │ 
       ╰────
     help: did you mean `poisson`?
     nothing was run
    "#);
    assert_snapshot!(load("{ rate = \"5k/s\", pacing = \"busy\" }"), @r#"
     × unknown pacing `busy`
       ╭─[mine.toml:9:34]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s", pacing = "busy" }
       ·                                  ───┬──
       ·                                     ╰── here
    10 │ 
       ╰────
     help: How a free client waits for an arrival: auto, spin or hybrid
     nothing was run
    "#);
    assert_snapshot!(load("{ arrivals = \"constant\" }"), @r#"
     × arrivals and pacing belong to a rate, but no rate is given
       ╭─[mine.toml:9:21]
     8 │ duration = "10s"
     9 │ load = { arrivals = "constant" }
       ·                     ─────┬────
       ·                          ╰── here
    10 │ 
       ╰────
     help: write "closed", { rate = "50k/s" } for an open loop, { sla = "p99.9 < 2ms" } for the
           highest rate within a limit, or { pipeline = 16 } for a closed loop with 16 in flight
     nothing was run
    "#);
}

#[test]
fn load_is_closed_or_a_table_of_known_keys() {
    assert_snapshot!(load("{ rate = \"5k/s\", slo = \"p99 < 1ms\" }"), @r#"
     × unknown key `slo` in a load's table
       ╭─[mine.toml:9:25]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s", slo = "p99 < 1ms" }
       ·                         ─┬─
       ·                          ╰── no such key
    10 │ 
       ╰────
     help: did you mean `sla`?
     nothing was run
    "#);
    assert_snapshot!(load("5"), @r#"
     × expected "closed", or a table such as { rate = "50k/s" }, found integer `5`
       ╭─[mine.toml:9:8]
     8 │ duration = "10s"
     9 │ load = 5
       ·        ┬
       ·        ╰── here
    10 │ 
       ╰────
     nothing was run
    "#);
    assert_snapshot!(load("\"open\""), @r#"
     × unknown load `open`
       ╭─[mine.toml:9:8]
     8 │ duration = "10s"
     9 │ load = "open"
       ·        ───┬──
       ·           ╰── here
    10 │ 
       ╰────
     help: write "closed", { rate = "50k/s" } for an open loop, { sla = "p99.9 < 2ms" } for the
           highest rate within a limit, or { pipeline = 16 } for a closed loop with 16 in flight
     nothing was run
    "#);
    assert_snapshot!(rejection("\"300ms\"", "\"10s\"\nrate = \"5k/s\""), @r#"
     × unknown key `rate` in [benchmark]
       ╭─[mine.toml:9:1]
     8 │ duration = "10s"
     9 │ rate = "5k/s"
       · ──┬─
       ·   ╰── no such key
    10 │ 
       ╰────
     help: write `rate` into the load: load = { rate = VALUE }
     nothing was run
    "#);
}

#[test]
fn load_needs_a_step_that_supports_it() {
    let step = |text: &str| rejection("\"readrandom\"", &format!("{{ {text} }}"));
    assert_snapshot!(step("step = \"overwritesome\", load = { sla = \"p99 < 2ms\" }"), @r#"
     × step overwritesome: the step ends by count, and a search needs a step that ends by duration
      ╭─[mine.toml:6:62]
    5 │ [benchmark]
    6 │ steps = ["fillseq", { step = "overwritesome", load = { sla = "p99 < 2ms" } }]
      ·                                                              ─────┬─────
      ·                                                                   ╰── here
    7 │ rows = "2k"
      ╰────
     help: give the step a rate, or search in a step that ends by duration
     nothing was run
    "#);
    assert_snapshot!(step("step = \"settle\", load = { rate = \"5k/s\" }"), @r#"
     × step settle: the step has no clients whose operations could arrive
      ╭─[mine.toml:6:56]
    5 │ [benchmark]
    6 │ steps = ["fillseq", { step = "settle", load = { rate = "5k/s" } }]
      ·                                                        ───┬──
      ·                                                           ╰── here
    7 │ rows = "2k"
      ╰────
     help: leave out the step's load
     nothing was run
    "#);
    let file = TINY.replace("readrandom", "overwritesome");
    let file = file.replace("\"300ms\"", "\"10s\"\nload = { rate = \"5k/s\" }");
    assert_snapshot!(rejection_of(&file), @r#"
     × no step takes the benchmark's load
       ╭─[mine.toml:9:8]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s" }
       ·        ────────┬────────
       ·                ╰── requested here
    10 │ 
       ╰────
     help: the load applies to steps that end by duration and have no separate `load`, such as
           readwhilewriting; fills and maintenance stay a closed loop
     nothing was run
    "#);
}

#[test]
fn clients_are_levels_sweep_or_adaptive() {
    let factors = |text: &str, load: &str| {
        let file = TINY.replace("\"300ms\"", &format!("\"10s\"\n{load}"));
        rejection_of(&format!("{file}\n[factors]\nclients = {text}\n"))
    };
    assert_snapshot!(factors("\"swep\"", ""), @r#"
     × unknown levels of clients `swep`
       ╭─[mine.toml:16:11]
    15 │ [factors]
    16 │ clients = "swep"
       ·           ───┬──
       ·              ╰── here
       ╰────
     help: did you mean `sweep`?
     nothing was run
    "#);
    assert_snapshot!(factors("[1, 1]", ""), @"
     × the factor `clients` has the level 1 twice
       ╭─[mine.toml:16:11]
    15 │ [factors]
    16 │ clients = [1, 1]
       ·           ───┬──
       ·              ╰── here
       ╰────
     help: name each level once; `repetitions` sets how often each is run
     nothing was run
    ");
    assert_snapshot!(factors("4", ""), @r#"
     × expected a list such as [1, 2], "sweep" or "adaptive", found integer `4`
       ╭─[mine.toml:16:11]
    15 │ [factors]
    16 │ clients = 4
       ·           ┬
       ·           ╰── here
       ╰────
     nothing was run
    "#);
    assert_snapshot!(factors("\"adaptive\"", "load = { rate = \"5k/s\" }"), @r#"
     × step readrandom: adaptive clients are a closed loop, which has no rate
       ╭─[mine.toml:9:17]
     8 │ duration = "10s"
     9 │ load = { rate = "5k/s" }
       ·                 ───┬──
       ·                    ╰── here
    10 │ 
       ╰────
     help: leave out the rate, or give clients as a list or as "sweep"
     nothing was run
    "#);
    let counted = TINY.replace("readrandom", "overwritesome");
    let counted = format!("{counted}\n[factors]\nclients = \"adaptive\"\n");
    assert_snapshot!(rejection_of(&counted), @r#"
     × no step can try numbers of clients
       ╭─[mine.toml:15:11]
    14 │ [factors]
    15 │ clients = "adaptive"
       ·           ─────┬────
       ·                ╰── requested here
       ╰────
     help: add a step that ends by duration and does not set `clients`
     nothing was run
    "#);
}

#[test]
fn command_line_is_rejected_with_the_same_messages() {
    let typed = ["run", "readrandom", "--engine", "lmdb", "--rows", "10"];
    let output = |text: &[&str]| rejected_at_once(&Workspace::new(), &[&typed[..], text].concat());
    assert_snapshot!(output(&["--rate", "-5k/s"]), @"
    × --rate: the rate `-5k/s` is negative: write a rate above zero, such as 50k/s
    nothing was run
    ");
    assert_snapshot!(output(&["--sla", "p99 < 2"]), @"
    × --sla: `2` has no unit of time: write 2ms or 2us
    nothing was run
    ");
    assert_snapshot!(output(&["--pacing", "spin"]), @"
    × --pacing: arrivals and pacing belong to a rate, but no rate is given
    help: give --rate 50k/s for an open loop, --sla 'p99.9 < 2ms' for the highest rate within a
          limit, or --pipeline 16 for 16 in flight
    nothing was run
    ");
    assert_snapshot!(output(&["--clients", "1,x"]), @"
    × --clients: unknown levels of clients `1,x`
    help: write counts such as 1,2,4, or sweep, or adaptive
    nothing was run
    ");
    assert_snapshot!(output(&["--clients", "adaptive", "--rate", "5k/s"]), @r#"
    × --rate: step readrandom: adaptive clients are a closed loop, which has no rate
    help: leave out the rate, or give clients as a list or as "sweep"
    nothing was run
    "#);
    assert_snapshot!(output(&["--rate", "file gone.csv"]), @"
    × --rate: cannot read the rate file gone.csv: No such file or directory (os error 2)
    help: give a path relative to the experiment file or, on the command line, to the current
          directory
    nothing was run
    ");
}
