//! Routes: what each request passes, and who answers it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, FromRequest, Request as HttpRequest, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{self, Response};
use axum::routing::get;
use axum::{Extension, Router};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::access::Login;
use crate::feeds::Feeds;
use crate::guard::{Guard, check_origin};
use crate::refusal::{BAD_ADDRESS, LONG_ADDRESS, READ_ONLY, Refusal, SLOW_BODY};
use crate::request::Request;
use crate::response::{complete, respond};
use crate::site::Site;
use crate::{assets, event_stream};

/// Longest path with its query. Our choice: a picture of 200 series names each of them.
const ADDRESS_BYTES: usize = 16 << 10;
/// Largest body. Our choice: experiment files have some kilobytes.
const BODY_BYTES: usize = 1 << 20;
/// Time in which a body must arrive; our choice.
const BODY_TIME: Duration = Duration::from_secs(15);
/// The last segment of addresses with events.
const EVENTS: &str = "events";

/// What all requests share.
pub(crate) struct Host {
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) guard: Guard,
    pub(crate) login: Option<Login>,
    pub(crate) may_run: bool,
    /// Becomes `true` when the server stops.
    pub(crate) stopped: watch::Receiver<bool>,
}

/// Returns the routes of a host.
pub(crate) fn router(host: Host) -> Router {
    let host = Arc::new(host);
    Router::new()
        .route("/assets/{name}", get(assets::serve))
        .fallback(get(show).post(act))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .layer(from_fn_with_state(Arc::clone(&host), check))
        .layer(map_response(complete))
        .with_state(host)
}

/// Refuses requests of other sites and without session; adds the [`Request`].
async fn check(
    State(host): State<Arc<Host>>,
    mut http: HttpRequest,
    next: Next,
) -> Result<Response, Refusal> {
    host.guard.check_host(http.headers(), http.uri())?;
    let address = http.uri().path_and_query().map_or("", |address| address.as_str());
    if address.len() > ADDRESS_BYTES {
        return Err(LONG_ADDRESS);
    }
    let request = Request::parse(address, host.may_run).ok_or(BAD_ADDRESS)?;
    if let Some(login) = &host.login
        && let Some(response) = login.check(&request, address, http.headers())?
    {
        return Ok(response);
    }
    let is_post = http.method() == Method::POST;
    if is_post || is_stream(&request) {
        check_origin(http.headers())?;
    }
    if is_post && !host.may_run {
        return Err(READ_ONLY);
    }
    http.extensions_mut().insert(request);
    Ok(next.run(http).await)
}

fn is_stream(request: &Request) -> bool {
    request.path.last().is_some_and(|last| last == EVENTS)
}

/// Answers GET and HEAD.
async fn show(
    State(host): State<Arc<Host>>,
    Extension(request): Extension<Request>,
) -> Result<Response, Refusal> {
    if is_stream(&request) {
        let stream = event_stream::open(host.feeds.hub(&request), host.stopped.clone());
        if let Some(response) = stream.await? {
            return Ok(response);
        }
    }
    host.feeds.workers.run(&request, |site, request| respond(site.answer(request))).await
}

/// Answers POST.
async fn act(
    State(host): State<Arc<Host>>,
    Extension(request): Extension<Request>,
    http: HttpRequest,
) -> response::Result<Response> {
    let text = timeout(BODY_TIME, String::from_request(http, &())).await;
    let text = text.map_err(|_elapsed| SLOW_BODY)??;
    let answer = move |site: &dyn Site, request: &Request| respond(site.act(request, &text));
    Ok(host.feeds.workers.run(&request, answer).await?)
}
