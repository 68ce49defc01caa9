//! `explain` attributes added waiting and added CPU time correctly.

use serde_json::Value;

use crate::disturbance::on_quiet_host;
use crate::host::take_turn;
use crate::measured::{Run, measure};
use crate::sandbox::{NAME, Sandbox};

/// Each operation burns 20 us; of the others, one sleeps 200 us more, one burns 100 us more.
const OPTIONS: &[(&str, &str)] = &[
    ("plain", "fault = \"burn 20us\""),
    ("sleeps", "fault = \"burn 20us\", \"fault.more\" = \"slow 200us\""),
    ("burns", "fault = \"burn 120us\""),
];

/// Goal: each component is right, and they add up to the total.
/// Method: a difference of known size and kind. CPU is counted by the kernel and is right on any
/// host; waiting is sampled, and on a busy host sleeps end late and each wake-up costs more.
#[test]
fn known_difference_is_attributed_to_its_cause() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let variants: Vec<_> = OPTIONS
            .iter()
            .map(|(name, options)| (*name, "faulty", (*options).to_owned()))
            .collect();
        let benchmark =
            "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = 200\nduration = \"400ms\"";
        let sandbox = Sandbox::with_options(benchmark, &variants);
        measure(&mut sandbox.run(&["--repetitions", "2", "--waive", "A008=it is the test"]));
        for (name, _) in OPTIONS {
            (1..=2).for_each(|run| drop(Run::on(host, &sandbox, &format!("{name}.c1.r{run}"))));
        }
        check(&explained(&sandbox, "sleeps"), &explained(&sandbox, "burns"));
    });
}

/// Returns the explanation of a variant's difference from the first.
fn explained(sandbox: &Sandbox, variant: &str) -> Value {
    let args = ["explain", "plain", variant, "readrandom", "--in", NAME, "--format", "json"];
    let text = sandbox.result_of(&args);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["explanations"][0].clone()
}

/// Checks the parts of both differences.
fn check(sleeps: &Value, burns: &Value) {
    let of = |explanation: &Value, part: &str| {
        let components = explanation["account"]["components"].as_array().expect("a list").clone();
        let found = components.into_iter().find(|one| one["part"] == part);
        found.map_or(f64::NAN, |one| one["us"]["difference"].as_f64().expect("a number"))
    };
    let cpu = |explanation: &Value| of(explanation, "engine_cpu") + of(explanation, "kernel_cpu");

    assert!((90.0..130.0).contains(&cpu(burns)), "{burns:#}");
    assert!(of(burns, "sleep").abs() < 20.0, "{burns:#}");

    assert!((150.0..600.0).contains(&of(sleeps, "sleep")), "{sleeps:#}");
    assert!(cpu(sleeps) < 60.0 && of(sleeps, "storage").abs() < 20.0, "{sleeps:#}");

    for explanation in [sleeps, burns] {
        let account = &explanation["account"];
        let residual = account["residual"]["difference"].as_f64().expect("a number");
        let whole = account["total"]["difference"].as_f64().expect("a number");
        assert!(residual.abs() <= 0.2 * whole, "{explanation:#}");
        assert_eq!(explanation["rung"], "cause", "{explanation:#}");
    }
}
