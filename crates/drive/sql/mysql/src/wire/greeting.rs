//! Whether what answers first is a greeting of this protocol.

use driver_sql::{Contact, PeerProtocol, Socket};
use model::Endpoint;

use super::failure::{ErrorPacket, Failure};
use super::packets::{HEADER_BYTES, Packets};
use super::result::ERR_HEADER;

/// Versions of the greeting: the one spoken here, and the one before it.
const VERSIONS: [u8; 2] = [10, 9];
/// Longest greeting, bytes: far more than versions, nonces and names need.
const GREETING_BYTES_MAX: usize = 4096;

/// Awaits the greeting, and names what sends something else or nothing on a first contact.
pub(super) fn await_greeting(
    packets: &mut Packets<Socket>,
    endpoint: &Endpoint,
    contact: Contact,
) -> Result<(), Failure> {
    let Packets { socket, received, .. } = packets;
    let first = contact.first(endpoint);
    PeerProtocol::Mysql.read_first::<ErrorPacket>(socket, received, HEADER_BYTES + 1, first)?;
    if is_greeting(received.unread()) {
        socket.expect_slow_steps();
        return Ok(());
    }
    let text = PeerProtocol::Mysql.describe(&endpoint.address, received.unread(), None);
    Err(Failure::Unreachable(text))
}

/// Returns whether bytes begin a greeting, or an error in its place.
///
/// Source: MySQL's source documentation, "Protocol::Packet", "Protocol::Handshake".
fn is_greeting(bytes: &[u8]) -> bool {
    let &[low, middle, high, number, first, ..] = bytes else { return false };
    let length = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
    let begins = VERSIONS.contains(&first) || first == ERR_HEADER;
    number == 0 && begins && (1..=GREETING_BYTES_MAX).contains(&length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_distinguished_from_other_protocols() {
        for greeting in [&b"\x4a\0\0\0\x0a8.0.31"[..], b"\x10\0\0\0\xff\x69\x04"] {
            assert!(is_greeting(greeting), "{greeting:?}");
        }
        for other in [&b"SSH-2.0-x"[..], b"\x05\0\0\0\x0b\x08", b"HTTP/1.1", b"\x15\x03\x01\0\x02"]
        {
            assert!(!is_greeting(other), "{other:?}");
        }
    }
}
