//! Addresses and bodies that are too large, or lead out of the site.

use std::io::{Read, Write};

use serve::Options;

use crate::client::{connect, exchange, get, post};
use crate::toy_site::{Running, options};

#[test]
fn no_address_leads_out_of_its_directory() {
    let server = Running::start();
    let wrong = [
        "/..",
        "/../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/a",
        "/a/./b",
        "/a//b",
        "/%00",
        "/a%5c..%5cb",
        "/%ff",
        "/?a=%00",
        "/?%ff",
        "/assets/..%2fapp.js",
    ];
    for target in wrong {
        assert_eq!(get(server.address, target, &[]).status, 400, "{target}");
    }
    assert_eq!(get(server.address, "/a%20b", &[]).body, "nothing at a b");
    let value = get(server.address, "/value?b=1&a=%3Cb%3E+%26&a=2", &[]);
    assert_eq!(value.body, "<b> &");
}

#[test]
fn large_addresses_heads_and_bodies_are_refused() {
    let server = Running::with(Options { may_run: true, ..options() });
    let long = |bytes| format!("/value?a={}", "x".repeat(bytes));
    assert_eq!(get(server.address, &long(16_000), &[]).body.len(), 16_000);
    assert_eq!(get(server.address, &long(20_000), &[]).status, 414);
    for bytes in [100_000, 1_000_000] {
        assert!([414, 431].contains(&get(server.address, &long(bytes), &[]).status), "{bytes}");
    }
    let header = format!("X-A: {}", "x".repeat(100_000));
    assert_eq!(get(server.address, "/", &[&header]).status, 431);
    let body = "x".repeat(1 << 20);
    assert_eq!(post(server.address, "/", &[], &body).body.len(), body.len() + "done: ".len());
    assert_eq!(post(server.address, "/", &[], &format!("{body}x")).status, 413);
    assert_eq!(get(server.address, "/", &[]).status, 200);
}

#[test]
fn what_is_no_request_ends_only_its_connection() {
    let server = Running::start();
    let idle: Vec<_> = (0..100).map(|_| connect(server.address)).collect();
    for text in ["GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{1}\u{2}\r\n\r\n"] {
        assert_eq!(exchange(connect(server.address), text).status, 400, "{text:?}");
    }
    assert_eq!(get(server.address, "/", &[]).status, 200);
    drop(idle);
}

#[test]
fn a_client_that_sends_its_request_slowly_is_disconnected() {
    let server = Running::start();
    let mut slow = connect(server.address);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX").unwrap();
    let mut reply = Vec::new();
    slow.read_to_end(&mut reply).unwrap();
    assert!(reply.is_empty());
}
