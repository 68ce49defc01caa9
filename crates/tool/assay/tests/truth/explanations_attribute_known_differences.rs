//! `explain` attributes added waiting and added CPU time correctly.

use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;

use crate::host::take_turn;
use crate::measured::Run;
use crate::sandbox::{NAME, Sandbox};

/// Each operation burns 20 us; of the others, one sleeps 200 us more, one burns 100 us more.
const OPTIONS: &[(&str, &str)] = &[
    ("plain", "fault = \"burn 20us\""),
    ("sleeps", "fault = \"burn 20us\", \"fault.more\" = \"slow 200us\""),
    ("burns", "fault = \"burn 120us\""),
];

/// Goal: each component is right, and they add up to the total.
/// Method: a difference of known size and kind. CPU is counted by the kernel and is right on any
/// host; waiting is sampled, and on a busy host sleeps end late.
#[test]
fn known_difference_is_attributed_to_its_cause() {
    let _turn = take_turn();
    let variants: Vec<_> =
        OPTIONS.iter().map(|(name, options)| (*name, "faulty", (*options).to_owned())).collect();
    let benchmark =
        "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = 200\nduration = \"600ms\"";
    let sandbox = Sandbox::with_options(benchmark, &variants);
    sandbox.run(&["--repetitions", "2", "--waive", "A008=it is the test"]).assert().success();
    let cells = ["plain", "sleeps", "burns"].map(|name| format!("{name}.c1.r"));
    let is_busy = cells.iter().any(|cell| {
        (1..=2).any(|run| Run::of(&sandbox, &format!("{cell}{run}")).disturbance().is_some())
    });
    let explained = |variant: &str| {
        let args = ["explain", "plain", variant, "readrandom", "--in", NAME, "--format", "json"];
        let text = sandbox.result_of(&args);
        let document: Value = serde_json::from_str(&text).expect("JSON");
        document["explanations"][0].clone()
    };
    let of = |explanation: &Value, part: &str| {
        let components = explanation["account"]["components"].as_array().expect("a list").clone();
        let found = components.into_iter().find(|one| one["part"] == part);
        found.map_or(f64::NAN, |one| one["us"]["difference"].as_f64().expect("a number"))
    };
    let cpu = |explanation: &Value| of(explanation, "engine_cpu") + of(explanation, "kernel_cpu");

    let sleeps = explained("sleeps");
    let slept = of(&sleeps, "sleep");
    assert!((150.0..600.0).contains(&slept), "{sleeps:#}");
    // On a busy host each wake-up costs more.
    let most = if is_busy { 150.0 } else { 60.0 };
    assert!(cpu(&sleeps) < most && of(&sleeps, "storage").abs() < 20.0, "{sleeps:#}");

    let burns = explained("burns");
    assert!((90.0..130.0).contains(&cpu(&burns)), "{burns:#}");
    assert!(of(&burns, "sleep").abs() < 20.0, "{burns:#}");

    for explanation in [&sleeps, &burns] {
        let account = &explanation["account"];
        let residual = account["residual"]["difference"].as_f64().expect("a number");
        let whole = account["total"]["difference"].as_f64().expect("a number");
        let allowed = if is_busy { 0.5 } else { 0.2 };
        assert!(residual.abs() <= allowed * whole, "{explanation:#}");
        assert!(is_busy || explanation["rung"] == "cause", "{explanation:#}");
    }
}
