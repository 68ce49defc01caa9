//! The login: greeting, answer, and the exchange that some ways to log in ask for.

use std::io::{Read, Write};

use model::Endpoint;

use super::failure::Failure;
use super::result::{END, REFUSED, garbled, refusal};
use super::scramble::{native, sealed, sha2};
use super::stream::Packets;

/// Abilities of client and server.
///
/// Source: MySQL's source documentation, "Capabilities Flags".
mod ability {
    pub(super) const FOUND_ROWS: u32 = 1 << 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(super) const DEPRECATE_EOF: u32 = 1 << 24;
}

/// What we can, as far as the server can.
const WANTED: u32 = ability::FOUND_ROWS
    | ability::LONG_FLAG
    | ability::PROTOCOL_41
    | ability::TRANSACTIONS
    | ability::SECURE_CONNECTION
    | ability::MULTI_RESULTS
    | ability::PS_MULTI_RESULTS
    | ability::PLUGIN_AUTH
    | ability::DEPRECATE_EOF;
/// What a server must be able to.
const NEEDED: u32 = ability::PROTOCOL_41 | ability::SECURE_CONNECTION;
/// Version of the greeting.
const GREETING: u8 = 10;
/// Longest packet we say we take: 1 GiB, the protocol's limit.
const PACKET_BYTES_MAX: u32 = 1 << 30;
/// Bytes of a nonce.
const NONCE_BYTES: usize = 20;
/// Packets of one login at most: greeting and answers of any way to log in are fewer.
const PACKETS_MAX: usize = 16;

const NATIVE: &[u8] = b"mysql_native_password";
const SHA2: &[u8] = b"caching_sha2_password";
/// Servers also name it to users they do not have, so that nobody learns who there is.
const SHA256: &[u8] = b"sha256_password";
/// The socket's owner is asked of the kernel: nothing is to be said.
const SOCKET: [&[u8]; 2] = [b"auth_socket", b"unix_socket"];

/// What the login agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Whether an OK packet ends rows, and nothing ends columns.
    pub(super) is_short: bool,
    /// The server's version in its own words.
    pub(super) version: String,
}

/// A greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Greeting {
    version: String,
    abilities: u32,
    collation: u8,
    plugin: Vec<u8>,
    nonce: Vec<u8>,
}

/// Who logs in, and with what.
struct Entry<'a> {
    endpoint: &'a Endpoint,
    is_secure: bool,
    plugin: Vec<u8>,
    nonce: Vec<u8>,
}

/// Logs in over `packets`; `is_secure` says that nobody can listen.
pub(super) fn log_in<S: Read + Write>(
    packets: &mut Packets<S>,
    endpoint: &Endpoint,
    is_secure: bool,
) -> Result<Agreed, Failure> {
    let first = packets.next()?;
    if first.first() == Some(&REFUSED) {
        return Err(refusal(first));
    }
    let greeting = greeting(first)?;
    let Greeting { abilities, plugin, nonce, .. } = greeting;
    if abilities & NEEDED != NEEDED {
        let text = format!("the server ({}) speaks no protocol of 4.1 or newer", greeting.version);
        return Err(Failure::Login(text));
    }
    let mut entry = Entry { endpoint, is_secure, plugin, nonce };
    let mut agreed = WANTED & abilities;
    if !endpoint.database.is_empty() {
        agreed |= ability::CONNECT_WITH_DB;
    }
    answer(packets.reply(), &entry, agreed, greeting.collation);
    packets.send()?;
    entry.finish(packets)?;
    let is_short = agreed & ability::DEPRECATE_EOF != 0;
    Ok(Agreed { is_short, version: greeting.version })
}

/// Reads the greeting.
///
/// Source: MySQL's source documentation, "Protocol::HandshakeV10".
fn greeting(packet: &[u8]) -> Result<Greeting, Failure> {
    match packet.first() {
        Some(&GREETING) => {}
        Some(other) => {
            let text = format!("not a MySQL server, or one of protocol {other}: needs 10");
            return Err(Failure::Login(text));
        }
        None => return Err(garbled("an empty greeting")),
    }
    read_greeting(packet).ok_or_else(|| garbled("the greeting"))
}

fn read_greeting(packet: &[u8]) -> Option<Greeting> {
    let (version, rest) = until_zero(packet.get(1..)?)?;
    // Four bytes are the connection's number.
    let (nonce, rest) = rest.get(4..)?.split_at_checked(8)?;
    let (&[_, low, high], rest) = rest.split_first_chunk::<3>()?;
    let mut greeting = Greeting {
        version: String::from_utf8_lossy(version).into_owned(),
        abilities: u32::from(u16::from_le_bytes([low, high])),
        nonce: nonce.to_vec(),
        ..Greeting::default()
    };
    // Old servers stop here.
    let Some((&[collation, _, _, low, high, nonce_bytes], rest)) = rest.split_first_chunk::<6>()
    else {
        return Some(greeting);
    };
    greeting.collation = collation;
    greeting.abilities |= u32::from(u16::from_le_bytes([low, high])) << 16;
    let rest = rest.get(10..)?;
    let (nonce, rest) = rest.split_at_checked(usize::from(nonce_bytes.max(21)) - 8)?;
    greeting.nonce.extend_from_slice(nonce);
    greeting.nonce.truncate(NONCE_BYTES);
    greeting.plugin = until_zero(rest).map_or(rest, |(plugin, _)| plugin).to_vec();
    Some(greeting)
}

/// Writes the answer to the greeting.
///
/// Text is sent and taken in the server's own character set, so that it need not be converted.
///
/// Source: MySQL's source documentation, "Protocol::HandshakeResponse41".
fn answer(out: &mut Vec<u8>, entry: &Entry<'_>, agreed: u32, collation: u8) {
    out.extend_from_slice(&agreed.to_le_bytes());
    out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    out.push(collation);
    out.extend_from_slice(&[0; 23]);
    out.extend_from_slice(entry.endpoint.user.as_bytes());
    out.push(0);
    let (plugin, said) = match (entry.plugin.as_slice(), entry.said()) {
        (plugin @ (NATIVE | SHA2 | b""), Ok(said)) => (plugin, said),
        // The server then names the way it wants of this user.
        _ => (NATIVE, Vec::new()),
    };
    out.push(u8::try_from(said.len()).expect("a digest is short"));
    out.extend_from_slice(&said);
    if agreed & ability::CONNECT_WITH_DB != 0 {
        out.extend_from_slice(entry.endpoint.database.as_bytes());
        out.push(0);
    }
    if agreed & ability::PLUGIN_AUTH != 0 {
        out.extend_from_slice(plugin);
        out.push(0);
    }
}

impl Entry<'_> {
    fn password(&self) -> &[u8] {
        self.endpoint.password.as_ref().map_or(&[], |password| password.0.as_bytes())
    }

    /// Returns the password as it is said where nobody listens.
    fn open(&self) -> Vec<u8> {
        [self.password(), &[0]].concat()
    }

    /// Returns what the way to log in wants to hear first.
    fn said(&self) -> Result<Vec<u8>, Failure> {
        match self.plugin.as_slice() {
            NATIVE | b"" => Ok(native(self.password(), &self.nonce)),
            SHA2 => Ok(sha2(self.password(), &self.nonce)),
            SHA256 if self.password().is_empty() => Ok(self.open()),
            // Asks for the server's key: to this way a unix socket does not count as secure.
            SHA256 => Ok(vec![1]),
            other if SOCKET.contains(&other) => Ok(Vec::new()),
            other => Err(Failure::Login(format!(
                "the user `{}` logs in by `{}`, which is not spoken here: give it \
                 mysql_native_password or caching_sha2_password",
                self.endpoint.user,
                String::from_utf8_lossy(other)
            ))),
        }
    }

    /// Says what the server asks for, until it is content.
    fn finish<S: Read + Write>(&mut self, packets: &mut Packets<S>) -> Result<(), Failure> {
        for _ in 0..PACKETS_MAX {
            let packet = packets.next()?;
            let said = match packet.split_first() {
                Some((0, _)) => return Ok(()),
                Some((&REFUSED, _)) => return Err(refusal(packet)),
                Some((&END, b"")) => {
                    let text = "the server asks for a password of before 4.1: renew the user's";
                    return Err(Failure::Login(text.to_owned()));
                }
                Some((&END, other)) => {
                    let (plugin, nonce) = until_zero(other).unwrap_or((other, &[]));
                    self.plugin = plugin.to_vec();
                    self.nonce = nonce.get(..NONCE_BYTES).unwrap_or(nonce).to_vec();
                    Some(self.said()?)
                }
                Some((1, more)) if self.plugin == SHA2 => self.sha2_more(more)?,
                Some((1, pem)) if self.plugin == SHA256 => {
                    Some(sealed(self.password(), &self.nonce, pem)?)
                }
                _ => return Err(garbled("a step of the login")),
            };
            if let Some(said) = said {
                packets.reply().extend_from_slice(&said);
                packets.send()?;
            }
        }
        Err(Failure::Login("the login does not come to an end".to_owned()))
    }

    /// Returns what is said once the server has looked for the password in its cache.
    fn sha2_more(&self, more: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match more {
            // It was there.
            [3] => Ok(None),
            [4] if self.is_secure => Ok(Some(self.open())),
            [4] => Ok(Some(vec![2])),
            pem => sealed(self.password(), &self.nonce, pem).map(Some),
        }
    }
}

/// Returns the bytes before the first zero, and those after it.
fn until_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Address, Password};

    use super::*;
    use crate::wire::stream::tests::{Script, scripted};

    const NONCE: &[u8; 20] = b"12345678abcdefghijkl";

    /// A greeting as a server of that version, with these abilities, would say it.
    fn greets(version: &str, abilities: u32, plugin: &str) -> Vec<u8> {
        let [a, b, c, d] = abilities.to_le_bytes();
        let mut packet = vec![10];
        packet.extend_from_slice(version.as_bytes());
        packet.extend_from_slice(b"\0\x07\0\0\0");
        packet.extend_from_slice(&NONCE[..8]);
        packet.extend_from_slice(&[0, a, b, 8, 2, 0, c, d, 21]);
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(&NONCE[8..]);
        packet.push(0);
        packet.extend_from_slice(plugin.as_bytes());
        packet.push(0);
        packet
    }

    fn endpoint(password: Option<&str>) -> Endpoint {
        Endpoint {
            address: Address::Socket(PathBuf::from("/run/s")),
            user: "bench".to_owned(),
            password: password.map(|text| Password(text.to_owned())),
            database: "test".to_owned(),
            is_foreign: false,
        }
    }

    fn enter(
        payloads: &[&[u8]],
        password: Option<&str>,
        is_secure: bool,
    ) -> (Result<Agreed, Failure>, Packets<Script>) {
        let mut packets = scripted(payloads);
        let agreed = log_in(&mut packets, &endpoint(password), is_secure);
        (agreed, packets)
    }

    const OK: &[u8] = b"\0\0\0\x02\0\0\0";
    const OLD: u32 = WANTED & !ability::DEPRECATE_EOF;

    #[test]
    fn abilities_are_those_that_both_have() {
        for (abilities, is_short) in [(OLD, false), (WANTED, true), (u32::MAX, true)] {
            let hello = greets("5.6.24", abilities, "mysql_native_password");
            let (agreed, packets) = enter(&[&hello, OK], None, true);
            let version = "5.6.24".to_owned();
            assert_eq!(agreed, Ok(Agreed { is_short, version }));
            let told = &packets.socket.told[4..];
            let said = u32::from_le_bytes([told[0], told[1], told[2], told[3]]);
            assert_eq!(said, (abilities & WANTED) | ability::CONNECT_WITH_DB);
            assert_eq!(told[8], 8, "the server's own collation");
            assert_eq!(told[32..], *b"bench\0\0test\0mysql_native_password\0");
        }
    }

    #[test]
    fn an_empty_password_needs_no_digest() {
        let hello = greets("8.0.31", WANTED, "mysql_native_password");
        let switch = [b"\xfecaching_sha2_password\0", &NONCE[..], b"\0"].concat();
        let (agreed, packets) = enter(&[&hello, &switch, OK], None, true);
        assert!(agreed.is_ok());
        assert!(packets.socket.told.ends_with(b"\0\0\0\x03"), "an empty packet");
    }

    #[test]
    fn a_password_goes_openly_only_where_nobody_listens() {
        let hello = greets("8.0.31", WANTED, "caching_sha2_password");
        let full: &[u8] = b"\x01\x04";
        let (agreed, packets) = enter(&[&hello, full, OK], Some("hush"), true);
        assert!(agreed.is_ok());
        assert!(packets.socket.told.ends_with(b"hush\0"));
        let (agreed, packets) = enter(&[&hello, full, b"\x01no key"], Some("hush"), false);
        assert!(matches!(agreed, Err(Failure::Login(_))), "{agreed:?}");
        assert!(packets.socket.told.ends_with(b"\x01\0\0\x03\x02"), "asks for the key");
        assert!(!packets.socket.told.windows(4).any(|bytes| bytes == b"hush"));
        let (agreed, _) = enter(&[&hello, b"\x01\x03", OK], Some("hush"), false);
        assert!(agreed.is_ok(), "the server remembers it");
    }

    #[test]
    fn wrong_servers_and_refusals_are_told_apart() {
        let login = |payloads: &[&[u8]]| enter(payloads, None, true).0.unwrap_err().to_string();
        assert!(login(&[b"\x09x"]).contains("protocol 9: needs 10"));
        assert_eq!(login(&[b"\xff\x10\x04Too many"]), "Too many (error 1040)");
        let hello = greets("8.0.31", WANTED, "mysql_native_password");
        let refused = login(&[&hello, b"\xff\x15\x04#28000Access denied"]);
        assert_eq!(refused, "Access denied (error 1045, 28000)");
        let other = login(&[&hello, b"\xfedialog\0"]);
        assert!(other.contains("`bench` logs in by `dialog`, which is not spoken here"), "{other}");
        assert!(login(&[&hello, b"\xfe"]).contains("before 4.1"));
        assert!(login(&[&greets("3.23", 0, "")]).contains("no protocol of 4.1"));
        assert!(login(&[&hello[..20]]).contains("cannot be read"));
    }
}
