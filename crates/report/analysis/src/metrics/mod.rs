//! Derived metrics of `model::metric`, of one step or one run.
//!
//! Every cost per operation is (total over the measured span) / (primary operations), in the step's
//! own unit; a settle has costs of its own. With invalid intervals, rates and times come from the
//! valid ones; costs stay those of the whole span, because counters and operations were counted
//! over the same one. A metric whose inputs are not all known is absent.
//!
//! To add one, add its formula to the file of its subject.

mod cpu;
mod hardware;
mod io;
mod layers;
mod open_loop;
mod operations;
mod reads;
mod run;
mod server;
mod settle;
mod step;
mod throughput;
mod times;
mod written;

pub use cpu::client_cpu;
pub(crate) use cpu::{
    client_threads, is_user_only, measured_threads, target_cpu, whole as whole_cpu_us,
};
pub(crate) use open_loop::late_share;
pub use operations::{
    bytes_put, interval_operations, per_op, primary_operations, requests, rows_put,
};
pub(crate) use operations::{clients, ratio};
pub(crate) use reads::with_cache_amplification;
pub use run::run_metrics;
pub use server::{RATE_SUSTAINED, is_of_server, with_writers, writer_rate_target};
pub use step::{rate_metrics, step_metrics, with_memory};
pub(crate) use throughput::requests_per_s;
pub use times::{Percentile, Time, Withheld, response_time, service_time};
