//! Metrics of runs for monitoring systems.
//!
//! To add a format, add its file here.

mod otlp;
mod points;
mod prometheus;

pub use otlp::render_otlp;
pub use prometheus::render_prometheus;
