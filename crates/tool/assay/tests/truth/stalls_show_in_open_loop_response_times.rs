//! A stall is charged to the response time of every late arrival.
//!
//! The same is tested in `load` on a simulated clock; here the whole chain is tested.

use crate::disturbance::{HostWatch, on_quiet_host};
use crate::host::take_turn;
use crate::measured::{Run, measure};
use crate::sandbox::Sandbox;

/// The engine stalls during the reads that follow 2,000 puts.
const STALL: &[(&str, &str, &str)] = &[("stalls", "faulty", "stall 400ms at 5k")];

/// Shortest maximum response time, with a margin for the clock.
const ALMOST_ALL: u64 = 396_000_000;

fn read(host: &HostWatch, duration: &str, more: &[&str]) -> Run {
    let sandbox = Sandbox::reading(duration, STALL);
    measure(sandbox.run(&["--clients", "2"]).args(more));
    Run::on(host, &sandbox, "stalls.c2.r1")
}

/// Goal: a stall of 400 ms at 10,000/s is in the response time of every delayed arrival.
/// Method: more than a third of the arrivals of the measured second is due during the stall. A
/// pause of the host may fall into one run; a stall that is charged to the client would be so on a
/// quiet host too.
#[test]
fn open_loop_stall_is_in_p999_and_max_response_time() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let run = read(host, "1s", &["--rate", "10k/s", "--warmup", "100ms"]);
        let (reads, diagnosis) = (run.reads(), run.diagnosis());
        assert!(reads.response.max_ns >= ALMOST_ALL, "{diagnosis}");
        assert!(reads.response.p999_ns > ALMOST_ALL * 9 / 10, "{diagnosis}");
        assert!(reads.response.p90_ns > ALMOST_ALL / 10, "{diagnosis}");
        // Two operations were in the stall; every other one was served at once.
        assert!(reads.service.max_ns >= ALMOST_ALL, "{diagnosis}");
        assert!(reads.service.p50_ns < 1_000_000, "{diagnosis}");
        assert!(reads.service.p999_ns < reads.response.p999_ns / 4, "{diagnosis}");
        // The stall is not charged to the client.
        assert!(run.causes().is_empty() && !run.is_client_bound(), "{diagnosis}");
    });
}

/// Goal: the same stall is nearly invisible in a closed loop, which sends nothing meanwhile.
#[test]
fn closed_loop_misses_the_stall() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let run = read(host, "600ms", &["--warmup", "0s"]);
        let (reads, diagnosis) = (run.reads(), run.diagnosis());
        assert!(reads.response.max_ns >= ALMOST_ALL, "{diagnosis}");
        assert!(reads.response.p999_ns < ALMOST_ALL / 10, "{diagnosis}");
        assert_eq!(reads.response, reads.service, "{diagnosis}");
        assert!(run.step().arrivals.is_none() && run.step().load_status.is_none(), "{diagnosis}");
    });
}
