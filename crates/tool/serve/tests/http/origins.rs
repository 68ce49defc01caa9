//! Foreign hosts and origins are refused.

use serve::Options;

use crate::client::{EventStream, get, post};
use crate::toy_site::{Running, options};

#[test]
fn foreign_host_is_misdirected() {
    let server = Running::start();
    let own = format!("Host: {}", server.address);
    for host in [&own, "Host: localhost:9000", "Host: [::1]", "Host: bench.example.org"] {
        assert_eq!(get(server.address, "/", &[host]).status, 200, "{host}");
    }
    for host in ["Host: evil.example", "Host: localhost.evil.example", "Host: 192.0.2.1", "Host:"] {
        for target in ["/", "/assets/app.js", "/run/events", "/%"] {
            let reply = get(server.address, target, &[host]);
            assert_eq!(reply.status, 421, "{host} {target}");
            assert!(!reply.body.contains("evil"));
        }
    }
    assert_eq!(get(server.address, "http://evil.example/", &[]).status, 421);
    assert_eq!(server.script().opened, 0);
}

#[test]
fn pages_of_other_origins_send_no_forms_and_read_no_events() {
    let server = Running::with(Options { may_run: true, ..options() });
    let own = ["Host: localhost:80", "Origin: http://localhost:80", "Sec-Fetch-Site: same-origin"];
    assert_eq!(post(server.address, "/", &own, "a").body, "done: a");
    assert_eq!(post(server.address, "/", &[], "a").status, 200);
    let foreign = [
        "Origin: http://evil.example",
        "Origin: http://localhost:8081",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ];
    for header in foreign {
        assert_eq!(post(server.address, "/", &[header], "a").status, 403, "{header}");
        assert_eq!(get(server.address, "/run/events", &[header]).status, 403, "{header}");
        // A link of another site leads to a page.
        assert_eq!(get(server.address, "/", &[header]).status, 200, "{header}");
    }
    assert_eq!(server.script().opened, 0);
    EventStream::open(server.address, "/run/events").head();
}

#[test]
fn runs_are_refused_unless_the_user_allowed_them() {
    let server = Running::start();
    let reply = post(server.address, "/", &[], "a");
    assert_eq!(reply.status, 403);
    assert!(reply.body.contains("--allow-run"), "{}", reply.body);
}
