//! One connection, from its first byte to its end.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Time in which a client must agree on keys, and send the head of a request. Our choice.
///
/// An unused connection is closed after this time.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Time after which a connection is closed whose client takes no data, in milliseconds. Our choice.
const SEND_MS: u32 = 60_000;
/// Bytes of a request's head; beyond it hyper refuses the request. Four times an address.
const HEAD_BYTES: usize = 64 << 10;

/// Serves a connection until it ends, or the server stops and its last request is answered.
pub(crate) async fn serve(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    // Without these options events are later, and connections of clients that vanished stay open.
    stream.set_nodelay(true).ok();
    set_tcp_user_timeout(&stream, SEND_MS).ok();
    let Some(acceptor) = acceptor else { return answer(stream, router, stopped).await };
    let encrypted = tokio::select! {
        _ = stopped.wait_for(|is_stopped| *is_stopped) => return,
        encrypted = timeout(HEAD_TIME, acceptor.accept(stream)) => encrypted,
    };
    if let Ok(Ok(stream)) = encrypted {
        answer(stream, router, stopped).await;
    }
}

/// Answers the requests of a connection. Its errors are those of the client.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    http.max_header_size(HEAD_BYTES).max_buf_size(HEAD_BYTES);
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|is_stopped| *is_stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    connection.await.ok();
}
