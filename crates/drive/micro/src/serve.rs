//! Requests to the process of one library, and its responses.

use std::collections::BTreeMap;

use load::SteadyClock;
use model::{Kernel, Nanos};
use serde::{Deserialize, Serialize};

use crate::kernel::Set;
use crate::time::ns_per_block;

/// A request of the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Which kernels there are.
    Serves,
    /// How long one kernel takes.
    Time {
        /// The kernel.
        kernel: Kernel,
        /// Size of a block, in bytes.
        block_bytes: u32,
        /// How long to measure.
        span: Nanos,
    },
}

/// The response to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// What serves each kernel, or why nothing does.
    Serves(BTreeMap<Kernel, Result<String, String>>),
    /// Mean time of a block, in nanoseconds.
    Time(f64),
}

/// Times the kernels of one set, one request after the other.
pub struct Responder {
    set: Set,
    clock: SteadyClock,
}

impl Responder {
    /// Returns a responder with a calibrated clock.
    pub fn new(set: Set) -> Self {
        Self { set, clock: SteadyClock::calibrate() }
    }

    /// Returns the response to a request.
    pub fn respond(&mut self, request: Request) -> Response {
        match request {
            Request::Serves => Response::Serves(self.set.serves()),
            Request::Time { kernel, block_bytes, span } => {
                let (set, bytes) = (&mut self.set, block_bytes as usize);
                Response::Time(ns_per_block(set, kernel, bytes, span, &self.clock))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_timed_and_reported() {
        let mut responder = Responder::new(Set::crates());
        let serves = responder.respond(Request::Serves);
        assert!(matches!(serves, Response::Serves(all) if all.len() == Kernel::ALL.len()));
        for kernel in Kernel::ALL {
            let request = Request::Time { kernel, block_bytes: 1024, span: Nanos::from_millis(1) };
            let response = responder.respond(request);
            assert!(matches!(response, Response::Time(ns) if ns > 0.0), "{kernel:?}");
        }
    }
}
