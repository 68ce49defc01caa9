//! Encrypted connections.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serve::{Access, Options, Tls, token};

use crate::client::{connect, exchange, request};
use crate::toy_site::{Running, options};

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

fn encrypt(config: &Arc<ClientConfig>, address: SocketAddr) -> Encrypted {
    let session = ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap());
    StreamOwned::new(session.unwrap(), connect(address))
}

#[test]
fn an_encrypted_session_has_a_secure_cookie_and_waits_for_no_slow_handshake() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let [certificates, key] = ["c.pem", "k.pem"].map(|name| dir.path().join(name));
    fs::write(&certificates, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let token = token().unwrap();
    let access = Access::Token { hash: token.hash, tls: Some(Tls { certificates, key }) };
    let server = Running::with(Options { access, ..options() });

    let slow: Vec<_> = (0..20).map(|_| connect(server.address)).collect();
    let open = format!("GET /?token={}", token.text);
    let reply = exchange(encrypt(&config, server.address), &request(&open, &[], ""));
    assert_eq!((reply.status, reply.header("location")), (303, Some("./")));
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let page = request("GET /", &[&cookie], "");
    assert_eq!(exchange(encrypt(&config, server.address), &page).body, "the root");
    let time = server.stop();
    assert!(time.as_secs() < 3, "{time:?}");
    drop(slow);
}
