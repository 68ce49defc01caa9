//! A server that stops.

use std::io::Write;
use std::thread;
use std::time::Duration;

use crate::client::{EventStream, connect, get};
use crate::toy_site::{Running, wait};

#[test]
fn a_stop_ends_open_streams_and_unused_connections_at_once() {
    let server = Running::start();
    let mut streams: Vec<_> =
        (0..50).map(|_| EventStream::open(server.address, "/run/events")).collect();
    for stream in &mut streams {
        stream.head();
        stream.event();
    }
    let unused = connect(server.address);
    let mut used = connect(server.address);
    used.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    wait(Duration::from_millis(200));
    let time = server.stop();
    // Other requests would have 5 s; the stop takes milliseconds on a quiet host.
    assert!(time < Duration::from_secs(3), "{time:?}");
    for stream in &mut streams {
        assert_eq!(stream.event(), "");
    }
    drop((unused, used));
}

#[test]
fn a_page_that_is_being_made_is_sent_before_the_server_ends() {
    let server = Running::start();
    let address = server.address;
    let client = thread::spawn(move || get(address, "/slow", &[]));
    assert!(server.waits_for(|script| script.is_slow));
    server.stop();
    let reply = client.join().unwrap();
    assert_eq!((reply.status, &*reply.body), (200, "slow"));
}
