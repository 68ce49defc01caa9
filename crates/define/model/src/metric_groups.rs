//! Metrics by name, and groups of metrics that are read together.

use crate::metric::{
    CLIENT_CPU_KERNEL_US, CLIENT_CPU_USER_US, METRICS, Metric, PROCESS_CPU_KERNEL_US,
    PROCESS_CPU_USER_US, SERVER_CPU_KERNEL_US, SERVER_CPU_USER_US,
};

/// CPU of the whole worker process, user and kernel.
pub const PROCESS_CPU_US: [Metric; 2] = [PROCESS_CPU_USER_US, PROCESS_CPU_KERNEL_US];
/// CPU of the client threads, user and kernel.
pub const CLIENT_CPU_US: [Metric; 2] = [CLIENT_CPU_USER_US, CLIENT_CPU_KERNEL_US];
/// CPU of the server, user and kernel.
pub const SERVER_CPU_US: [Metric; 2] = [SERVER_CPU_USER_US, SERVER_CPU_KERNEL_US];

/// Returns the metric of that name.
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}
