//! Builds the operation generators of a step's clients.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{DataShape, OpKind, Step, StopRule};

use crate::distribution::{self, Access, Permuted, Picker, Sequential, Shuffled, Space, Uniform};
use crate::generator::{Generator, Group, WorkloadError};
use crate::key::{ID_BYTES, length};
use crate::random::Stream;
use crate::request::{Part, Request};
use crate::step::{AccessPattern, Order, WRITER, find};
use crate::stream::{Action, Client, Mixed, first_insert, generator};
use crate::value::{Bodies, FIELD_BYTES_MIN, HEADER};

/// Returns the generators of a step's group, one per client or writer.
///
/// A step that ends by count is divided among its clients: client c of n does the operations from
/// `count * c / n` up to `count * (c + 1) / n`. `fillseq` and `filluniquerandom` divide the rows
/// the same way, so each row is written once, whatever the number of clients.
///
/// # Errors
/// As [`check`].
///
/// # Examples
/// ```
/// use model::{DataShape, Op, Step, StopRule};
/// use workload::{Group, Presence, Request, generators};
///
/// let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
/// let step = Step {
///     clients: 2,
///     distribution: "zipf:0.99".to_owned(),
///     ..Step::new("readrandom", StopRule::Operations(100))
/// };
/// let (presence, group) = (Presence::All, Group::Clients);
/// let request = Request { step: &step, data: &data, seed: 42, presence, group };
/// let mut clients = generators(&request)?;
/// assert_eq!(clients.len(), 2);
/// assert!(matches!(clients[0].next(), Some(Op::Get { key }) if key.len() == 20));
/// # Ok::<(), workload::WorkloadError>(())
/// ```
pub fn generators(request: &Request<'_>) -> Result<Vec<Box<dyn Generator>>, WorkloadError> {
    check(request.step, request.data)?;
    let recipe = find(&request.step.name)?;
    let (pattern, clients) = match request.group {
        Group::Clients => (recipe.clients, request.step.clients),
        Group::Writers => (recipe.has_writer.then_some(WRITER), 1),
    };
    let mix = recipe.mix.filter(|_| request.group == Group::Clients);
    let bodies = Arc::new(Bodies::new(request.data));
    if let Some(mix) = mix {
        // Its operations have kinds and rows of their own.
        let pattern = AccessPattern { action: Action::Get, order: Order::ByDistribution };
        let first = first_insert(request.data.rows, shared_stream(request));
        let one = |client| {
            let part = Part { client, clients };
            let client = client_of(request, pattern, part, &bodies);
            Box::new(Mixed::new(mix, &client, part, first)) as Box<dyn Generator>
        };
        return Ok((0..clients).map(one).collect());
    }
    let Some(pattern) = pattern else { return Ok(Vec::new()) };
    (0..clients)
        .map(|client| {
            let part = Part { client, clients };
            let picker = picker(request, pattern, part)?;
            Ok(generator(picker, &client_of(request, pattern, part, &bodies)))
        })
        .collect()
}

/// Returns the kinds of operation of a step's group; none where it has no client.
///
/// # Errors
/// [`WorkloadError::UnknownStep`].
pub fn kinds(request: &Request<'_>) -> Result<BTreeSet<OpKind>, WorkloadError> {
    Ok(find(&request.step.name)?.kinds(request.group))
}

/// Checks that a step can be executed on rows of this shape.
///
/// # Errors
/// [`WorkloadError::UnknownStep`], or the setting that is out of range.
pub fn check(step: &Step, data: &DataShape) -> Result<(), WorkloadError> {
    let recipe = find(&step.name)?;
    let reads_absent = recipe.clients.is_some_and(|pattern| pattern.action == Action::GetAbsent);
    let action = recipe.clients.map(|pattern| pattern.action);
    let has_part = matches!(action, Some(Action::PartialUpdate | Action::FieldRead));
    let behind_header = length(data.value_bytes).saturating_sub(HEADER);
    let field_bytes = length(step.field_bytes);
    let is_ratio = data.compressible_to > 0.0 && data.compressible_to <= 1.0;
    let id_bytes = u32::try_from(ID_BYTES).unwrap_or(u32::MAX);
    let limits = [
        (data.rows > 0, "rows", "at least 1"),
        (data.key_bytes >= id_bytes, "key_bytes", "at least 8, which hold the row's id"),
        (is_ratio, "compressible_to", "above 0 and at most 1"),
        (step.clients > 0, "clients", "at least 1"),
        (step.range_rows > 0, "range_rows", "at least 1"),
        (step.batch_keys > 0, "batch_keys", "at least 1"),
        (
            field_bytes >= FIELD_BYTES_MIN,
            "field_bytes",
            "at least 8: fewer bytes would resemble damage when values are checked",
        ),
        (
            !has_part || field_bytes <= behind_header,
            "field_bytes",
            "at most the bytes of a value without its header of 16 bytes",
        ),
        (
            action != Some(Action::Append) || length(data.value_bytes) >= HEADER,
            "value_bytes",
            "at least 16, which identify the row",
        ),
        (
            !reads_absent || data.key_bytes > id_bytes,
            "key_bytes",
            "at least 9: an absent key differs from a present key after the row's id",
        ),
        (
            !recipe.has_writer || step.writer_bytes_per_s.is_none_or(|rate| rate.0 > 0),
            "the writer's rate",
            "above 0, or left out for an unlimited writer",
        ),
    ];
    for (holds, what, range) in limits {
        if !holds {
            return Err(WorkloadError::Step(step.name.clone(), format!("{what} must be {range}")));
        }
    }
    distribution::check_distribution(&step.distribution, data.rows)
        .map_err(|reason| WorkloadError::Step(step.name.clone(), reason))
}

/// Returns how a client picks its rows.
fn picker(
    request: &Request<'_>,
    pattern: AccessPattern,
    part: Part,
) -> Result<Picker, WorkloadError> {
    let access = match pattern.action {
        Action::Scan(_) => Access::Range,
        Action::Get
        | Action::GetAbsent
        | Action::MultiGet
        | Action::Put
        | Action::Delete
        | Action::PartialUpdate
        | Action::FieldRead
        | Action::Append
        | Action::ScanSequence => Access::Point,
    };
    let rows = request.data.rows;
    let count = match (pattern.order, request.step.stop) {
        (Order::Ascending | Order::Shuffled, StopRule::Operations(count)) => count.min(rows),
        _ => rows,
    };
    let space = Space { rows, access, first: part.first(count) };
    Ok(match pattern.order {
        Order::ByDistribution => {
            let step = &request.step.name;
            distribution::parse(&request.step.distribution, space)
                .map_err(|reason| WorkloadError::Step(step.clone(), reason))?
        }
        Order::Uniform => Picker::Uniform(Uniform::new(space)),
        Order::Ascending => Picker::Sequential(Sequential::new(space)),
        Order::Shuffled => {
            Picker::Permuted(Permuted::Shuffled(Shuffled::new(space, shared_stream(request))))
        }
    })
}

/// Returns the random numbers that the clients of a group share.
fn shared_stream(request: &Request<'_>) -> Stream {
    Stream::new(request.seed, &request.step.name, request.group, u32::MAX)
}

/// Returns the client that a generator is made from.
fn client_of<'a>(
    request: &Request<'a>,
    pattern: AccessPattern,
    part: Part,
    bodies: &Arc<Bodies>,
) -> Client<'a> {
    let rows = request.data.rows;
    let is_once = matches!(pattern.order, Order::Ascending | Order::Shuffled);
    let operations = match (request.group, request.step.stop) {
        (Group::Writers, _) => u64::MAX,
        (Group::Clients, StopRule::Operations(count)) if is_once => part.share(count.min(rows)),
        (Group::Clients, StopRule::Operations(count)) => part.share(count),
        (Group::Clients, StopRule::Duration(_)) if is_once => part.share(rows),
        (Group::Clients, StopRule::Duration(_)) => u64::MAX,
    };
    Client {
        action: pattern.action,
        stream: Stream::new(request.seed, &request.step.name, request.group, part.client),
        operations,
        data: request.data,
        presence: request.presence,
        bodies: Arc::clone(bodies),
        range_rows: request.step.range_rows,
        batch_keys: request.step.batch_keys,
        field_bytes: request.step.field_bytes,
    }
}
