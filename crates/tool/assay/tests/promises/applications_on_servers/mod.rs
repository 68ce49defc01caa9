//! Applications on servers that the tests share.

mod run;
mod shared_server;

mod applications_read_branch_and_retry;
mod graph_workload_keeps_its_counts;
pub(crate) mod order_workload_keeps_its_conditions;
mod sql_errors_precede_the_load;

pub(crate) use run::run_at;
pub(crate) use shared_server::variant_at;
