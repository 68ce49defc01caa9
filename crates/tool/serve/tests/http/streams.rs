//! Streams of events: shared by all who watch, and idle when nothing is watched.

use std::time::Duration;

use crate::client::EventStream;
use crate::toy_site::{Running, event, wait};

/// Opens streams and reads their snapshots.
fn watch(server: &Running, count: usize) -> Vec<EventStream> {
    let mut streams: Vec<_> =
        (0..count).map(|_| EventStream::open(server.address, "/run/events")).collect();
    for stream in &mut streams {
        stream.head();
        assert_eq!(stream.event(), "snapshot {}");
    }
    streams
}

#[test]
fn each_of_200_watchers_gets_one_snapshot_and_every_event() {
    let server = Running::start();
    let mut streams = watch(&server, 200);
    for second in 0..3 {
        let texts: Vec<String> =
            (0..10).map(|number| format!("{{\"n\":{}}}", second * 10 + number)).collect();
        server.script().pending.extend(texts.iter().map(|text| event("step", text)));
        assert!(server.waits_for(|script| script.pending.is_empty()));
        for stream in &mut streams {
            for text in &texts {
                assert_eq!(stream.event(), format!("step {text}"));
            }
        }
    }
    let script = server.script();
    assert_eq!((script.opened, script.dropped), (1, 0));
    // Those who come between two polls share a snapshot.
    assert!(script.snapshots < 50, "{}", script.snapshots);
}

#[test]
fn a_feed_that_is_over_ends_its_streams() {
    let server = Running::start();
    let mut stream = watch(&server, 1).pop().unwrap();
    {
        let mut script = server.script();
        script.pending.push(event("step", "a\nb: \r"));
        script.is_over = true;
    }
    let events = [stream.event(), stream.event(), stream.event()];
    assert_eq!(events, ["step a b:  ", "end {}", ""]);
    let mut late = EventStream::open(server.address, "/run/events");
    late.head();
    assert_eq!([late.event(), late.event(), late.event()], ["snapshot {}", "end {}", ""]);
}

#[test]
fn nothing_is_polled_when_the_last_watcher_has_left() {
    let server = Running::start();
    let (one, other) = (watch(&server, 1), watch(&server, 1));
    assert!(server.waits_for(|script| script.polls > 0));
    drop(one);
    let polls = server.script().polls;
    assert!(server.waits_for(|script| script.polls > polls + 1));
    assert_eq!(server.script().dropped, 0);
    drop(other);
    assert!(server.waits_for(|script| script.dropped == 1));
    let polls = server.script().polls;
    wait(Duration::from_millis(2500));
    assert_eq!(server.script().polls, polls);
    drop(watch(&server, 1));
    assert_eq!(server.script().opened, 2);
}

/// A browser that reads nothing falls behind by more events than the server stores.
///
/// The events of one poll are 13 MB, more than the buffers of a connection: 4 MB in the kernel.
#[test]
fn a_lagging_watcher_gets_a_snapshot_and_goes_on() {
    let server = Running::start();
    let mut stream = watch(&server, 1).pop().unwrap();
    stream.limit_buffer(16 << 10);
    let data = "x".repeat(16 << 10);
    server.script().pending.extend((0..800).map(|_| event("step", &data)));
    assert!(server.waits_for(|script| script.pending.is_empty()));
    // The next poll begins when all events of this one are sent.
    let polls = server.script().polls;
    assert!(server.waits_for(|script| script.polls > polls));
    stream.limit_buffer(1 << 20);
    let mut count = 0;
    let mut next = stream.event();
    while next.starts_with("step x") {
        count += 1;
        next = stream.event();
    }
    assert_eq!(next, "snapshot {}");
    assert!(count < 800, "{count}");
    server.script().pending.push(event("step", "last"));
    assert_eq!(stream.event(), "step last");
}
