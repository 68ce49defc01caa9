//! Panics of the site, and servers that do not start.

use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fs, iter};

use serve::{Access, Answer, Feed, Options, Request, Server, Site, Tls};

use crate::client::{EventStream, get};
use crate::toy_site::{Running, event, options};

/// What the server of the test has logged.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_panic_fails_its_page_only_and_is_logged() {
    let log = |line: &str| LOG.lock().unwrap().push(line.to_owned());
    let server = Running::with(Options { log: Some(log), ..options() });
    let reply = get(server.address, "/panic?a=1", &[]);
    assert_eq!((reply.status, reply.body.contains("secret")), (500, false));
    assert_eq!(get(server.address, "/", &[]).status, 200);
    let log = LOG.lock().unwrap();
    assert!(log[0].contains("\"panic\" failed") && log[0].contains("secret"), "{log:?}");
    assert_eq!(log.len(), 1);
}

#[test]
fn a_panic_of_a_feed_ends_its_streams_and_the_next_feed_is_new() {
    let server = Running::start();
    let mut stream = EventStream::open(server.address, "/run/events");
    stream.head();
    server.script().is_broken = true;
    assert_eq!([stream.event(), stream.event()], ["snapshot {}", ""]);
    drop(stream);
    assert!(server.waits_for(|script| script.dropped == 1));
    let mut next = EventStream::open(server.address, "/run/events");
    next.head();
    server.script().pending.push(event("step", "{}"));
    assert_eq!([next.event(), next.event()], ["snapshot {}", "step {}"]);
}

struct Nothing;

impl Site for Nothing {
    fn answer(&self, _: &Request) -> Answer {
        Answer::NotFound(String::new())
    }

    fn act(&self, request: &Request, _: &str) -> Answer {
        self.answer(request)
    }

    fn feed(&self, _: &Request) -> Option<Box<dyn Feed>> {
        None
    }
}

fn error(options: Options) -> String {
    Server::bind(options, Arc::new(Nothing)).err().unwrap().to_string()
}

#[test]
fn a_server_that_cannot_start_names_the_remedy() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = other.local_addr().unwrap();
    let message = error(Options { listen, ..options() });
    assert!(message.contains(&format!("{listen} is in use: stop the process")), "{message}");
    let message = error(Options { listen: ([0, 0, 0, 0], 0).into(), ..options() });
    assert!(message.contains("other hosts reach 0.0.0.0:0: "), "{message}");
    let access = Access::Token { hash: [0; 32], tls: None };
    let message = error(Options { listen: ([192, 0, 2, 1], 0).into(), access, ..options() });
    assert!(message.contains("name an address of this host"), "{message}");
}

#[test]
fn unusable_certificates_and_keys_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let [certificates, key, other] = ["c.pem", "k.pem", "o.pem"].map(|name| dir.path().join(name));
    let [made, foreign] =
        ["localhost"; 2].map(|name| rcgen::generate_simple_self_signed([name.to_owned()]).unwrap());
    fs::write(&certificates, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    fs::write(&other, foreign.signing_key.serialize_pem()).unwrap();
    let missing = dir.path().join("missing.pem");
    let bind = |certificates: &Path, key: &Path| {
        let tls = Tls { certificates: certificates.to_owned(), key: key.to_owned() };
        let access = Access::Token { hash: [0; 32], tls: Some(tls) };
        Server::bind(Options { access, ..options() }, Arc::new(Nothing))
    };
    assert!(bind(&certificates, &key).is_ok());
    let wrong_certificates = [&missing, &key].map(|path| (path.as_path(), key.as_path()));
    let wrong_keys = [&missing, &certificates, &other];
    let wrong_keys = wrong_keys.map(|path| (certificates.as_path(), path.as_path()));
    let named = iter::repeat_n("certificate", 2).chain(iter::repeat_n("key", 3));
    for ((certificates, key), what) in wrong_certificates.into_iter().chain(wrong_keys).zip(named) {
        let message = bind(certificates, key).err().unwrap().to_string();
        let path = if what == "key" { key } else { certificates };
        let expected = format!("the {what} in {} cannot be used: ", path.display());
        assert!(message.starts_with(&expected), "{message}");
    }
}
