//! The entry of every process of a campaign.

use std::io::BufReader;
use std::os::unix::net::UnixStream;

use runner::{MessageReader, MessageWriter, Registry};

use crate::host::{Kinds, host};
use crate::message::Order;
use crate::store::Store;

/// Executes the order of a parent process: the host's, or a store's.
///
/// # Errors
/// A text when the connection ends or has no order.
pub fn serve(connection: UnixStream, registry: &Registry, kinds: &Kinds) -> Result<(), String> {
    let again = connection.try_clone().map_err(|error| error.to_string())?;
    let mut input = MessageReader::new(BufReader::new(again));
    let output = MessageWriter::new(connection);
    let order = input.receive().map_err(|error| error.to_string())?;
    match order.ok_or("no order received")? {
        Order::Host(order) => host(&order, kinds, output),
        Order::Load(order) => Store::new(&order, output).load(registry, &mut input),
        Order::Check(order) => Store::new(&order, output).check(registry),
    }
    .map_err(|error| error.to_string())
}
