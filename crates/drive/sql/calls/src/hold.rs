//! Calls of the sessions that hold transactions open.

use model::Nanos;
use workload::random::Stream;
use workload::{Generator, Group, Part, Request, WorkloadError};

use crate::generator::single;
use crate::tables::Tables;

/// Branch of a client's stream.
const HOLDS: u64 = 6;

/// The calls of the sessions that hold transactions open, one for each client, and for how long.
pub type Holders = (Vec<Box<dyn Generator>>, Nanos);

/// Returns the sessions of a step that hold transactions open; none where it has no `hold`.
///
/// # Errors
/// When a draw cannot be made.
pub fn holders(request: &Request<'_>, tables: &Tables) -> Result<Holders, WorkloadError> {
    let step = request.step;
    let Some(hold) = tables.traffic_spec(&step.name).and_then(|spec| spec.hold) else {
        return Ok((Vec::new(), Nanos(0)));
    };
    let one = |client| {
        let part = Part { client, clients: step.clients };
        let stream = |of| Stream::new(request.seed, &step.name, Group::Clients, of).branch(HOLDS);
        single(tables, hold.procedure, part, [client, u32::MAX].map(stream))
    };
    let made: Result<_, String> = (0..step.clients).map(one).collect();
    let made = made.map_err(|reason| WorkloadError::Step(step.name.clone(), reason))?;
    Ok((made, hold.time_ns))
}
