//! Login: greeting, handshake response and authentication exchange.

use std::io::{self, Read, Write};

use model::Endpoint;

use super::authenticator::{
    Authenticator, Channel, NATIVE, NONCE_BYTES, Progress, SHA2, has_ascii_names, until_zero,
};
use super::failure::Failure;
use super::packets::Packets;
use super::result::{ERR_HEADER, error_packet, malformed};

/// Capability flags of client and server.
///
/// Source: MySQL's source documentation, "Capabilities Flags".
mod capability {
    pub(super) const FOUND_ROWS: u32 = 1 << 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const SSL: u32 = 1 << 11;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(super) const DEPRECATE_EOF: u32 = 1 << 24;
}

/// Capabilities of this client, used as far as the server has them.
const WANTED: u32 = capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::DEPRECATE_EOF;
/// Capabilities that a server must have.
const NEEDED: u32 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION;
/// Version of the greeting.
const GREETING: u8 = 10;
/// Longest packet accepted: 1 GiB, the protocol's limit.
const PACKET_BYTES_MAX: u32 = 1 << 30;
/// Number of the collation `utf8mb4_general_ci`.
/// Source: MySQL's source documentation, "Character Set".
const UTF8MB4: u8 = 45;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Greeting {
    version: String,
    /// The connection's number.
    number: u32,
    capabilities: u32,
    collation: u8,
    plugin: Vec<u8>,
    nonce: Vec<u8>,
}

/// Logs in over `packets`; returns the connection's number.
///
/// `is_secure` permits a clear-text password, and so does encryption, which `encrypt` begins. A key
/// that any server could have sent encrypts the password of a foreign one only where permitted.
pub(super) fn log_in<S: Read + Write>(
    packets: &mut Packets<S>,
    endpoint: &Endpoint,
    is_secure: bool,
    encrypt: impl FnOnce(&mut S) -> io::Result<()>,
) -> Result<u32, Failure> {
    let first = packets.next()?;
    if first.first() == Some(&ERR_HEADER) {
        return Err(error_packet(first));
    }
    let mut greeting = greeting(first)?;
    if !has_ascii_names(endpoint) {
        // Otherwise the server's own, so that text is not converted.
        greeting.collation = UTF8MB4;
    }
    let Greeting { version, number, capabilities, plugin, nonce, .. } = greeting;
    if capabilities & NEEDED != NEEDED {
        let text = format!(
            "the server ({version}) does not speak protocol 4.1 or newer: name another server in \
             the dsn"
        );
        return Err(Failure::Rejected(text));
    }
    let mut negotiated = WANTED & capabilities;
    if !endpoint.database.is_empty() {
        negotiated |= capability::CONNECT_WITH_DB;
    }
    let is_encrypted = endpoint.address.is_encrypted();
    if is_encrypted {
        let address = &endpoint.address;
        if capabilities & capability::SSL == 0 {
            let remedy = "set up TLS on the server (ssl_cert, ssl_key), or leave encryption out \
                          of the dsn";
            let text = format!("the server at {address} has no TLS: {remedy}");
            return Err(Failure::Rejected(text));
        }
        negotiated |= capability::SSL;
        request_tls(packets, negotiated, greeting.collation)?;
        let failed = |error| Failure::Rejected(format!("TLS with {address}: {error}"));
        encrypt(&mut packets.socket).map_err(failed)?;
    }
    let channel = match (is_encrypted, is_secure) {
        (true, _) => Channel::Encrypted,
        (false, true) => Channel::Unix,
        (false, false) if capabilities & capability::SSL != 0 => Channel::Encryptable,
        (false, false) => Channel::Plain,
    };
    let mut auth = Authenticator {
        endpoint,
        channel,
        version: &version,
        plugin,
        nonce,
        progress: Progress::default(),
    };
    answer(packets.reply(), &mut auth, negotiated, greeting.collation);
    packets.send()?;
    auth.finish(packets)?;
    packets.deprecates_eof = negotiated & capability::DEPRECATE_EOF != 0;
    Ok(number)
}

/// Reads the greeting.
///
/// Source: MySQL's source documentation, "Protocol::HandshakeV10".
fn greeting(packet: &[u8]) -> Result<Greeting, Failure> {
    match packet.first() {
        Some(&GREETING) => {}
        Some(other) => {
            let text = format!(
                "the program that answers is not a MySQL server, or has version {other} of its \
                 protocol: name a server of version 10 in the dsn"
            );
            return Err(Failure::Rejected(text));
        }
        None => return Err(malformed("an empty greeting")),
    }
    read_greeting(packet).ok_or_else(|| malformed("the greeting"))
}

fn read_greeting(packet: &[u8]) -> Option<Greeting> {
    let (version, rest) = until_zero(packet.get(1..)?)?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let (nonce, rest) = rest.split_at_checked(8)?;
    let (&[_, low, high], rest) = rest.split_first_chunk::<3>()?;
    let mut greeting = Greeting {
        version: String::from_utf8_lossy(version).into_owned(),
        number: u32::from_le_bytes(*number),
        capabilities: u32::from(u16::from_le_bytes([low, high])),
        nonce: nonce.to_vec(),
        ..Greeting::default()
    };
    // Old servers stop here.
    let Some((&[collation, _, _, low, high, nonce_bytes], rest)) = rest.split_first_chunk::<6>()
    else {
        return Some(greeting);
    };
    greeting.collation = collation;
    greeting.capabilities |= u32::from(u16::from_le_bytes([low, high])) << 16;
    let rest = rest.get(10..)?;
    let (nonce, rest) = rest.split_at_checked(usize::from(nonce_bytes.max(21)) - 8)?;
    greeting.nonce.extend_from_slice(nonce);
    greeting.nonce.truncate(NONCE_BYTES);
    greeting.plugin = until_zero(rest).map_or(rest, |(plugin, _)| plugin).to_vec();
    Some(greeting)
}

/// Requests TLS; nothing that came unencrypted is left to be taken for a later answer.
///
/// Source: MySQL's source documentation, "Protocol::SSLRequest".
fn request_tls<S: Read + Write>(
    packets: &mut Packets<S>,
    negotiated: u32,
    collation: u8,
) -> Result<(), Failure> {
    if !packets.received.is_empty() {
        return Err(malformed("what follows the greeting"));
    }
    client(packets.reply(), negotiated, collation);
    Ok(packets.send()?)
}

/// Writes what the client is capable of.
fn client(out: &mut Vec<u8>, negotiated: u32, collation: u8) {
    out.extend_from_slice(&negotiated.to_le_bytes());
    out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    out.push(collation);
    out.extend_from_slice(&[0; 23]);
}

/// Writes the response to the greeting.
///
/// Source: MySQL's source documentation, "Protocol::HandshakeResponse41".
fn answer(out: &mut Vec<u8>, auth: &mut Authenticator<'_>, negotiated: u32, collation: u8) {
    client(out, negotiated, collation);
    out.extend_from_slice(auth.endpoint.user.as_bytes());
    out.push(0);
    let is_digest = matches!(auth.plugin.as_slice(), NATIVE | SHA2 | b"");
    let response = is_digest.then(|| auth.response()).and_then(Result::ok).unwrap_or_default();
    // The server requests the user's own method afterwards.
    let plugin = if is_digest { auth.plugin.as_slice() } else { NATIVE };
    out.push(u8::try_from(response.len()).expect("a digest is short"));
    out.extend_from_slice(&response);
    if negotiated & capability::CONNECT_WITH_DB != 0 {
        out.extend_from_slice(auth.endpoint.database.as_bytes());
        out.push(0);
    }
    if negotiated & capability::PLUGIN_AUTH != 0 {
        out.extend_from_slice(plugin);
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Address, Password, Tls};

    use super::*;
    use crate::wire::packets::HEADER_BYTES;
    use crate::wire::packets::tests::{Script, scripted};

    const NONCE: &[u8; 20] = b"12345678abcdefghijkl";

    /// The greeting of a server with that version and these capabilities.
    fn greeting_from(version: &str, capabilities: u32, plugin: &str) -> Vec<u8> {
        let [a, b, c, d] = capabilities.to_le_bytes();
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
            login: model::LoginOptions::default(),
        }
    }

    fn log_in_with(
        payloads: &[&[u8]],
        password: Option<&str>,
        is_secure: bool,
    ) -> (Result<(), Failure>, Packets<Script>) {
        let mut packets = scripted(payloads);
        let negotiated = log_in(&mut packets, &endpoint(password), is_secure, |_| Ok(()));
        (negotiated.map(drop), packets)
    }

    const OK: &[u8] = b"\0\0\0\x02\0\0\0";
    const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";
    const OLD: u32 = WANTED & !capability::DEPRECATE_EOF;

    #[test]
    fn capabilities_are_the_common_subset() {
        for (capabilities, deprecates_eof) in [(OLD, false), (WANTED, true), (u32::MAX, true)] {
            let hello = greeting_from("5.6.24", capabilities, "mysql_native_password");
            let (negotiated, packets) = log_in_with(&[&hello, OK], None, true);
            assert_eq!(negotiated, Ok(()));
            assert_eq!(packets.deprecates_eof, deprecates_eof);
            let written = &packets.socket.written[4..];
            let flags = u32::from_le_bytes([written[0], written[1], written[2], written[3]]);
            assert_eq!(flags, (capabilities & WANTED) | capability::CONNECT_WITH_DB);
            assert_eq!(written[8], 8, "the server's own collation");
            assert_eq!(written[32..], *b"bench\0\0test\0mysql_native_password\0");
        }
    }

    /// Goal: a server whose own character set is another one reads the names as they were written.
    #[test]
    fn names_beyond_ascii_are_declared_as_utf_8() {
        let names = [("\u{dc}", "test"), ("bench", "d b/\u{dc}")];
        for (user, database) in names.map(|(user, name)| (user.to_owned(), name.to_owned())) {
            let hello = greeting_from("5.6.24", WANTED, "mysql_native_password");
            let mut packets = scripted(&[&hello, DENIED]);
            let endpoint = Endpoint { user, database, ..endpoint(None) };
            let error = log_in(&mut packets, &endpoint, true, |_| Ok(())).unwrap_err().to_string();
            assert_eq!(packets.socket.written[4 + 8], 45, "utf8mb4_general_ci");
            let remedy = "skip-character-set-client-handshake";
            assert!(error.contains("as utf8mb4") && error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn an_empty_password_needs_no_digest() {
        let hello = greeting_from("8.0.31", WANTED, "mysql_native_password");
        let switch = [b"\xfecaching_sha2_password\0", &NONCE[..], b"\0"].concat();
        let (negotiated, packets) = log_in_with(&[&hello, &switch, OK], None, true);
        assert!(negotiated.is_ok());
        assert!(packets.socket.written.ends_with(b"\0\0\0\x03"), "an empty packet");
    }

    #[test]
    fn clear_text_password_needs_a_secure_transport() {
        let hello = greeting_from("8.0.31", WANTED, "caching_sha2_password");
        let full: &[u8] = b"\x01\x04";
        let (negotiated, packets) = log_in_with(&[&hello, full, OK], Some("hush"), true);
        assert!(negotiated.is_ok());
        assert!(packets.socket.written.ends_with(b"hush\0"));
        let (negotiated, packets) =
            log_in_with(&[&hello, full, b"\x01no key"], Some("hush"), false);
        assert!(matches!(negotiated, Err(Failure::Rejected(_))), "{negotiated:?}");
        assert!(packets.socket.written.ends_with(b"\x01\0\0\x03\x02"), "requests the key");
        assert!(!packets.socket.written.windows(4).any(|bytes| bytes == b"hush"));
        let (negotiated, _) = log_in_with(&[&hello, b"\x01\x03", OK], Some("hush"), false);
        assert!(negotiated.is_ok(), "a cache hit");
    }

    /// Goal: a foreign server learns the password by none of the requests that it may send.
    #[test]
    fn no_password_is_sent_that_another_could_read() {
        let requests: [&[&[u8]]; 6] = [
            &[b"\x01\x04", b"\x01-----BEGIN PUBLIC KEY-----"],
            &[b"\x01-----BEGIN PUBLIC KEY-----"],
            &[b"\xfesha256_password\x0012345678abcdefghijkl\0", b"\x01-----BEGIN PUBLIC KEY-----"],
            &[b"\xfemysql_clear_password\0"],
            &[b"\xfedialog\0\x04Password: "],
            &[b"\xfemysql_old_password\0"],
        ];
        let address = Address::tcp("db", 3306);
        let foreign = Endpoint { address, is_foreign: true, ..endpoint(Some("hush")) };
        let hello = greeting_from("8.0.31", WANTED, "caching_sha2_password");
        for (number, request) in requests.into_iter().enumerate() {
            let mut packets = scripted(&[&[&hello[..]], request].concat());
            let error = log_in(&mut packets, &foreign, false, |_| Ok(())).unwrap_err().to_string();
            let remedy = match number {
                0..3 => "get-server-public-key=1",
                3..5 => "in clear text, and the connection is not encrypted: add ssl-mode=REQUIRED",
                _ => "logs in by `mysql_old_password`, which is not supported",
            };
            assert!(error.contains(remedy), "{error}");
            let written = &packets.socket.written;
            assert!(!written.windows(4).any(|bytes| bytes == b"hush"));
            // The response of the handshake, a request of the key: no RSA block of 128 or more.
            assert!(written.len() < 200, "{} bytes", written.len());
        }
        let Address::Tcp { host, port, .. } = foreign.address else { panic!("it is tcp") };
        let address = Address::Tcp { host, port, tls: Tls::Waived };
        let waived = Endpoint { address, is_foreign: true, ..endpoint(Some("hush")) };
        let mut packets = scripted(&[&[&hello[..]], requests[1]].concat());
        let error = log_in(&mut packets, &waived, false, |_| Ok(())).unwrap_err().to_string();
        assert!(!error.contains("get-server-public-key"), "the key is read: {error}");
    }

    #[test]
    fn the_password_is_sent_after_the_encryption_has_begun() {
        let address = Address::Tcp { host: "db".to_owned(), port: 3306, tls: Tls::Unverified };
        let endpoint = Endpoint { address, ..endpoint(Some("hush")) };
        let full: &[u8] = b"\x01\x04";
        let log_in = |capabilities, comes_alone: bool, request: &[u8]| {
            let hello = greeting_from("8.0.31", capabilities, "caching_sha2_password");
            let mut packets = scripted(&[&hello, request, OK]);
            packets.socket.most = if comes_alone { hello.len() + HEADER_BYTES } else { 0 };
            let mut plain = Vec::new();
            let logged_in = super::log_in(&mut packets, &endpoint, false, |socket| {
                plain = std::mem::take(&mut socket.written);
                Ok(())
            });
            (logged_in, plain, packets)
        };
        let (logged_in, _, packets) = log_in(WANTED, true, full);
        let refused = logged_in.unwrap_err().to_string();
        assert!(refused.starts_with("the server at db:3306 has no TLS: set up TLS"), "{refused}");
        assert!(packets.socket.written.is_empty());
        for request in [full, b"\xfesha256_password\0abcdefghijklmnopqrst\0"] {
            let (logged_in, plain, packets) = log_in(WANTED | capability::SSL, true, request);
            assert_eq!(logged_in, Ok(7));
            assert_eq!((plain.len(), plain[3]), (HEADER_BYTES + 32, 2), "the request alone");
            assert!(packets.socket.written.ends_with(b"hush\0"), "encrypted, it may be clear");
        }
        // As if answers had been put behind the greeting.
        let (logged_in, plain, _) = log_in(WANTED | capability::SSL, false, full);
        assert!(logged_in.unwrap_err().to_string().contains("what follows the greeting"));
        assert!(plain.is_empty());
    }

    /// Goal: of several methods the first that is spoken here is taken, in any order.
    #[test]
    fn of_several_methods_one_that_is_spoken_is_taken() {
        let hello = greeting_from("5.5.5-10.11.6-MariaDB", WANTED, "mysql_native_password");
        let kerberos: &[u8] = b"\xfeauth_gssapi_client\0principal";
        let native = [b"\xfemysql_native_password\0", &NONCE[..], b"\0"].concat();
        let signed = [b"\xfeclient_ed25519\0", &[7; 32][..]].concat();
        for (methods, bytes) in [
            (vec![kerberos, &native], 4 + 20),
            (vec![kerberos, &signed], 4 + 64),
            (vec![&native, kerberos, &signed], 4 + 64),
        ] {
            let script = [&[&hello[..]], &methods[..], &[OK]].concat();
            let (logged_in, packets) = log_in_with(&script, Some("hush"), false);
            assert_eq!(logged_in, Ok(()));
            let written = &packets.socket.written;
            let last = &written[written.len() - bytes..];
            assert_eq!(usize::from(last[0]), bytes - 4, "a whole packet");
        }
        let denied = |methods: &[&[u8]]| {
            let script = [&[&hello[..]], methods, &[DENIED]].concat();
            log_in_with(&script, Some("hush"), false).0.unwrap_err().to_string()
        };
        let text = denied(&[kerberos]);
        assert!(text.contains("`auth_gssapi_client`, which is not supported"), "{text}");
        assert!(text.contains("mysql_native_password"), "{text}");
        assert!(denied(&[kerberos, &native]).contains("Access denied (error 1045, 28000)"));
    }

    /// Goal: PAM and directories get the password over a secure transport, once.
    #[test]
    fn a_dialog_gets_the_password_once() {
        let hello = greeting_from("10.11.6-MariaDB", WANTED, "mysql_native_password");
        let dialog: &[u8] = b"\xfedialog\0\x04Password: ";
        for method in [&b"\xfemysql_clear_password\0"[..], dialog] {
            let script: [&[u8]; 3] = [&hello, method, OK];
            let (logged_in, packets) = log_in_with(&script, Some("hush"), true);
            assert_eq!(logged_in, Ok(()));
            assert!(packets.socket.written.ends_with(b"\x05\0\0\x03hush\0"));
        }
        for question in [&b"\x02One-time code: "[..], b"\x05Again: "] {
            let (logged_in, _) = log_in_with(&[&hello, dialog, question], Some("hush"), true);
            let text = logged_in.unwrap_err().to_string();
            assert!(text.contains("requires an answer to `"), "{text}");
        }
    }

    /// Goal: the signature comes after the salt, and has a nonce of the client.
    #[test]
    fn parsec_is_answered_in_two_steps() {
        let hello = greeting_from("11.8.2-MariaDB", WANTED, "mysql_native_password");
        let switch = [b"\xfeparsec\0", &[7; 32][..]].concat();
        for salt in [&b"P\0salt of 18 bytes.."[..], b"\x01P\0salt of 18 bytes.."] {
            let script = [&hello, &switch, salt, OK];
            let (logged_in, packets) = log_in_with(&script, Some("hush"), false);
            assert_eq!(logged_in, Ok(()));
            let written = &packets.socket.written;
            assert_eq!(written[written.len() - 100..][..4], *b"\x60\0\0\x04");
        }
    }

    #[test]
    fn wrong_servers_and_rejections_are_distinguished() {
        let login =
            |payloads: &[&[u8]]| log_in_with(payloads, None, true).0.unwrap_err().to_string();
        assert!(login(&[b"\x09x"]).contains("version 9 of its protocol: name a server"));
        assert_eq!(login(&[b"\xff\x10\x04Too many"]), "Too many (error 1040)");
        let hello = greeting_from("8.0.31", WANTED, "mysql_native_password");
        let refused = login(&[&hello, b"\xff\x15\x04#28000Access denied"]);
        assert_eq!(refused, "Access denied (error 1045, 28000)");
        let other = login(&[&hello, b"\xfeauthentication_kerberos_client\0", DENIED]);
        assert!(other.contains("`bench` logs in by `authentication_kerberos_client`"), "{other}");
        assert!(other.contains("give the account a password by caching_sha2_password"), "{other}");
        assert!(login(&[&hello, b"\x02dialog\0"]).contains("several factors"));
        assert!(login(&[&hello, b"\xfe"]).contains("pre-4.1"));
        assert!(login(&[&greeting_from("3.23", 0, "")]).contains("does not speak protocol 4.1"));
        assert!(login(&[&hello[..20]]).contains("cannot be read"));
    }
}
