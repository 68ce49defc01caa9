//! Every response has the headers that protect the reader.

use serve::has_scripts;

use crate::client::{EventStream, connect, exchange, get, request};
use crate::toy_site::{Running, event};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

fn check(head: &str) {
    let expected = [
        format!("content-security-policy: {POLICY}\r\n"),
        "x-content-type-options: nosniff\r\n".to_owned(),
        "referrer-policy: same-origin\r\n".to_owned(),
        "cross-origin-opener-policy: same-origin\r\n".to_owned(),
        "cross-origin-resource-policy: same-origin\r\n".to_owned(),
    ];
    for line in expected {
        assert!(head.contains(&line), "{line} {head}");
    }
}

#[test]
fn every_kind_of_answer_has_the_security_headers() {
    let server = Running::start();
    let answers = [
        ("GET /", 200),
        ("HEAD /", 200),
        ("GET /file", 200),
        ("GET /moved/a", 303),
        ("GET /invalid", 400),
        ("GET /..%2fetc/passwd", 400),
        ("POST /", 403),
        ("GET /nothing", 404),
        ("GET /assets/nothing", 404),
        ("DELETE /", 405),
        ("OPTIONS *", 400),
        ("DELETE /assets/app.js", 405),
        ("POST /assets/app.js", 403),
        ("GET /panic", 500),
        ("GET /badly-moved", 500),
        ("GET /nothing/events", 404),
    ];
    for (line, status) in answers {
        let reply = exchange(connect(server.address), &request(line, &[], ""));
        assert_eq!(reply.status, status, "{line}: {}", reply.head);
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{line}");
        check(&reply.head);
    }
    server.script().pending.push(event("step", "{}"));
    let head = EventStream::open(server.address, "/run/events").head();
    check(&head);
    let expected =
        ["text/event-stream\r\n", "x-accel-buffering: no\r\n", "cache-control: no-store"];
    assert!(expected.iter().all(|text| head.contains(text)), "{head}");
}

#[test]
fn answers_have_their_type_and_place() {
    let server = Running::start();
    let page = get(server.address, "/", &[]);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.body, "the root");
    let head = exchange(connect(server.address), &request("HEAD /", &[], ""));
    assert_eq!((head.header("content-length"), &*head.body), (Some("8"), ""));
    let file = get(server.address, "/file", &[]);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let name = "attachment; filename=\"a_____.csv\"";
    assert_eq!(file.header("content-disposition"), Some(name));
    let moved = |path| get(server.address, path, &[]).header("location").unwrap().to_owned();
    assert_eq!(["/moved", "/moved/", "/moved/a/b"].map(moved), ["./", "../", "../../"]);
    let allowed = exchange(connect(server.address), &request("PUT /", &[], ""));
    assert_eq!(allowed.header("allow"), Some("GET,HEAD,POST"));
    let script = get(server.address, "/assets/app.js", &[]);
    assert_eq!(script.status, if has_scripts() { 200 } else { 404 });
}
