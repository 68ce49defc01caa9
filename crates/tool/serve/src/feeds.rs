//! Experiments that are watched: one feed for all who watch an address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, broadcast};
use tokio::time::sleep;

use crate::refusal::{FAILED, Refusal};
use crate::request::Request;
use crate::site::{Event, Feed};
use crate::workers::Workers;

/// Time between two polls of a feed, as [`Feed::poll`] states.
const POLL: Duration = Duration::from_secs(1);
/// Events that a slow browser may lag behind. Our choice: minutes of a run.
const BACKLOG: usize = 256;
/// The event after the last event.
const END: &[u8] = b"event: end\ndata: {}\n\n";

/// The feeds that are watched, by request.
pub(crate) struct Feeds {
    pub(crate) workers: Workers,
    hubs: Mutex<BTreeMap<Request, Weak<Hub>>>,
}

impl Feeds {
    pub(crate) fn new(workers: Workers) -> Arc<Self> {
        Arc::new(Self { workers, hubs: Mutex::default() })
    }

    /// Returns the hub of a request, which is shared by all who watch it.
    pub(crate) fn hub(self: &Arc<Self>, request: &Request) -> Arc<Hub> {
        let mut hubs = self.lock();
        if let Some(hub) = hubs.get(request).and_then(Weak::upgrade) {
            return hub;
        }
        let (feeds, own) = (Arc::clone(self), request.clone());
        let hub = Arc::new(Hub { feeds, request: own, channel: OnceCell::new() });
        hubs.insert(request.clone(), Arc::downgrade(&hub));
        hub
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Request, Weak<Hub>>> {
        self.hubs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The feed of one address, while at least one browser watches.
pub(crate) struct Hub {
    feeds: Arc<Feeds>,
    request: Request,
    /// Opened by the first who comes; `None`: the address has no feed.
    channel: OnceCell<Option<Arc<AsyncMutex<Channel>>>>,
}

/// The start of a stream.
pub(crate) struct Joined {
    /// The snapshot, and the end where the feed is over.
    pub(crate) first: Bytes,
    /// The events after the snapshot; `None`: the feed is over.
    pub(crate) events: Option<broadcast::Receiver<Bytes>>,
}

impl Hub {
    /// Returns a snapshot and the events after it; `None`: the address has no feed.
    pub(crate) async fn join(&self) -> Result<Option<Joined>, Refusal> {
        let Some(channel) = self.channel.get_or_try_init(|| self.open()).await? else {
            return Ok(None);
        };
        // Waiting here, and not in a thread, leaves the threads to others.
        let mut channel = Arc::clone(channel).lock_owned().await;
        let joined = self.feeds.workers.run(&self.request, move |_, _| channel.join()).await?;
        joined.ok_or(FAILED).map(Some)
    }

    async fn open(&self) -> Result<Option<Arc<AsyncMutex<Channel>>>, Refusal> {
        let workers = &self.feeds.workers;
        let feed = workers.run(&self.request, |site, request| site.feed(request)).await?;
        Ok(feed.map(|feed| {
            let events = Some(broadcast::Sender::new(BACKLOG));
            let channel = Arc::new(AsyncMutex::new(Channel { feed, snapshot: None, events }));
            tokio::spawn(poll(Arc::downgrade(&channel), workers.clone(), self.request.clone()));
            channel
        }))
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let mut hubs = self.feeds.lock();
        // Another hub may have the address by now.
        if hubs.get(&self.request).is_some_and(|hub| hub.strong_count() == 0) {
            hubs.remove(&self.request);
        }
    }
}

/// A feed with those who receive its events.
struct Channel {
    feed: Box<dyn Feed>,
    /// The snapshot since the last poll.
    snapshot: Option<Bytes>,
    /// `None` when the feed is over or has failed.
    events: Option<broadcast::Sender<Bytes>>,
}

impl Channel {
    /// Returns the start of a stream; `None` if the feed has failed.
    fn join(&mut self) -> Option<Joined> {
        if self.feed.is_over() {
            let first = [&frame(&self.feed.snapshot()), END].concat().into();
            return Some(Joined { first, events: None });
        }
        let events = Some(self.events.as_ref()?.subscribe());
        let feed = &mut self.feed;
        let first = self.snapshot.get_or_insert_with(|| frame(&feed.snapshot())).clone();
        Some(Joined { first, events })
    }

    /// Sends the events since the last poll; returns whether more will follow.
    fn poll(&mut self) -> bool {
        // After a panic of the feed there is no sender, and streams end.
        let Some(events) = self.events.take() else { return false };
        self.snapshot = None;
        let polled = self.feed.poll();
        let is_over = self.feed.is_over();
        let end = is_over.then_some(Bytes::from_static(END));
        for event in polled.iter().map(frame).chain(end) {
            // Without a receiver there is an error, and nothing to do.
            events.send(event).ok();
        }
        self.events = (!is_over).then_some(events);
        !is_over
    }
}

/// Polls a feed until it is over or its last browser has left.
async fn poll(channel: Weak<AsyncMutex<Channel>>, workers: Workers, request: Request) {
    let mut is_running = true;
    while is_running {
        sleep(POLL).await;
        let Some(channel) = channel.upgrade() else { return };
        let mut channel = channel.lock_owned().await;
        is_running = workers.run(&request, move |_, _| channel.poll()).await.unwrap_or(false);
    }
}

/// Returns an event as a stream transports it. Source: HTML, "Server-sent events".
fn frame(event: &Event) -> Bytes {
    // A line break in JSON is a space; in a stream it would end the event.
    let data = event.data.replace(['\r', '\n'], " ");
    format!("event: {}\ndata: {data}\n\n", event.kind).into()
}
