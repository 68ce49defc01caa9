//! Streams of events to browsers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::feeds::{Hub, Joined};
use crate::refusal::Refusal;

/// Time after which a comment shows proxies that a silent stream is open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: &[u8] = b":\n\n";

/// A browser that watches a hub.
struct Watcher {
    hub: Arc<Hub>,
    joined: Joined,
    stopped: watch::Receiver<bool>,
}

/// Returns a stream of events that ends with the feed or the server; `None` without a feed.
pub(crate) async fn open(
    hub: Arc<Hub>,
    stopped: watch::Receiver<bool>,
) -> Result<Option<Response>, Refusal> {
    let Some(joined) = hub.join().await? else { return Ok(None) };
    let watcher = Watcher { hub, joined, stopped };
    let frames = unfold(watcher, async |mut watcher| {
        let frame = watcher.next().await?;
        Some((Ok::<_, Infallible>(frame), watcher))
    });
    // Proxies of nginx would collect events before they pass them on.
    let headers = [("content-type", "text/event-stream"), ("x-accel-buffering", "no")];
    Ok(Some((headers, Body::from_stream(frames)).into_response()))
}

impl Watcher {
    /// Returns the next bytes of the stream; `None` at its end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.joined.first.is_empty() {
            return Some(std::mem::take(&mut self.joined.first));
        }
        let events = self.joined.events.as_mut()?;
        let received = tokio::select! {
            _ = self.stopped.wait_for(|is_stopped| *is_stopped) => return None,
            received = timeout(KEEP_ALIVE, events.recv()) => received,
        };
        match received {
            Ok(Ok(frame)) => Some(frame),
            Ok(Err(RecvError::Closed)) => None,
            Ok(Err(RecvError::Lagged(_))) => {
                self.joined = self.hub.join().await.ok()??;
                Some(std::mem::take(&mut self.joined.first))
            }
            Err(_elapsed) => Some(Bytes::from_static(COMMENT)),
        }
    }
}
