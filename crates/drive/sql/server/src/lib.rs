//! Server processes: set-up, start, readiness, stop, clean-up.
//!
//! What differs from one server to the next is a [`Kind`], which each SQL driver implements. The
//! crate stands between `model` and the runner, which starts a server for each run, in a control
//! group of its own, and ends it.
//!
//! Invariants: a server listens on a unix socket below its [`Site`], by TCP at most at the loopback
//! address or at the one for clients on other machines, and requires its password; it runs as an
//! account without rights, for root one of its own, and root writes nothing below a directory of
//! that account; it dies with the process that started it; only processes that this crate has
//! started are ever ended, and only directories that it has made are removed.
//!
//! To add a kind of server: implement [`Kind`] in its driver's crate.

mod capabilities;
pub mod error;
pub mod kind;
pub mod launch;
mod listen_address;
mod network;
pub mod private_dir;
mod process;
mod restart;
pub mod running;
mod shared;
mod site;
pub mod standby;
mod start;
pub mod testing;
pub mod user;

pub use error::ServerError;
pub use kind::{Kind, LOOPBACK, ServerSpec, Site, Stop, Task};
pub use launch::{ServerPlacement, version_output};
pub use listen_address::ListenAddress;
pub use network::Network;
pub use private_dir::clean_up;
pub use running::{Death, PROBE_WITHIN, READY_WITHIN, Running, STOP_WITHIN};
pub use start::{DATA, LOG, SET_UP_MAX, Start, check_host};
pub use user::User;
