//! Blocks on other machines: a real Slurm and real sshd, on the loopback interface.
//!
//! To add a guarantee: one file, and its line here.

mod blocks_are_runs_as_on_one_machine;
mod blocks_run_without_a_shared_directory;
mod blocks_survive_lost_machines;
mod cluster;
mod exported_jobs_are_valid;
mod fixture;
mod machine;
mod ports;
mod programs;
mod servers_and_clients_have_hosts;
mod slurm_of_tests_works;
mod ssh_of_tests_works;
mod sshd;
mod workers_run_on_client_hosts;
