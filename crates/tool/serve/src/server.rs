//! The server: its socket and its event loop.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use tokio::time::{self, timeout};
use tokio_rustls::TlsAcceptor;

use crate::access::Login;
use crate::connection;
use crate::error::ServeError;
use crate::feeds::Feeds;
use crate::guard::Guard;
use crate::options::{Access, Options};
use crate::routes::{Host, router};
use crate::site::Site;
use crate::tls;
use crate::workers::Workers;

/// Connections at once. Our choice: most hosts allow a process 1,024 open files.
const CONNECTIONS: u32 = 900;
/// Threads that make pages, and the time after which an unused one ends. Our choice: a running
/// benchmark needs the CPUs.
const THREADS: usize = 4;
const THREAD_IDLE: Duration = Duration::from_secs(1);
/// Time between two checks whether to stop, and between attempts to accept after an error.
const CHECK: Duration = Duration::from_millis(200);
/// Time that requests have to end when the server stops; our choice.
const GRACE: Duration = Duration::from_secs(5);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Listens for a site; connections wait until [`Server::run`].
    ///
    /// # Errors
    /// When the address or a certificate cannot be used, or the address needs a token.
    pub fn bind(options: Options, site: Arc<dyn Site>) -> Result<Self, ServeError> {
        let Options { listen, public_names, access, may_run, log } = options;
        let failed = |error| ServeError::listen(listen, error);
        let acceptor = match &access {
            Access::Loopback if !listen.ip().is_loopback() => {
                return Err(ServeError::Exposed(listen));
            }
            Access::Token { tls: Some(tls), .. } => Some(tls::acceptor(tls)?),
            Access::Token { tls: None, .. } | Access::Loopback => None,
        };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let login = match access {
            Access::Token { hash, .. } => {
                Some(Login::new(hash, address.port(), acceptor.is_some()))
            }
            Access::Loopback => None,
        };
        let (stop, stopped) = watch::channel(false);
        let feeds = Feeds::new(Workers { site, log });
        let guard = Guard::new(address.ip(), &public_names);
        let router = router(Host { feeds, guard, login, may_run, stopped });
        Ok(Self { listener, address, acceptor, router, stop })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `is_stopped`, which is checked five times a second.
    ///
    /// Then streams end at once, and other requests have 5 s to end.
    ///
    /// # Errors
    /// When the event loop does not start.
    pub fn run(self, is_stopped: &dyn Fn() -> bool) -> Result<(), ServeError> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS)
            .thread_keep_alive(THREAD_IDLE)
            .build()
            .map_err(ServeError::EventLoop)?;
        let served = runtime.block_on(self.serve(is_stopped));
        // A page that is still being made has no reader any more.
        runtime.shutdown_background();
        served.map_err(ServeError::EventLoop)
    }

    async fn serve(self, is_stopped: &dyn Fn() -> bool) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let connections = Arc::new(Semaphore::new(CONNECTIONS as usize));
        let mut clock = time::interval(CHECK);
        while !is_stopped() {
            let accepted = tokio::select! {
                _ = clock.tick() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _peer)) = accepted else {
                // Too many open files, or a client that left: both pass.
                time::sleep(CHECK).await;
                continue;
            };
            // Beyond the limit a connection is closed, so that the browser shows an error.
            let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
            let (acceptor, router) = (self.acceptor.clone(), self.router.clone());
            let served = connection::serve(stream, acceptor, router, self.stop.subscribe());
            tokio::spawn(async move {
                served.await;
                drop(permit);
            });
        }
        drop(listener);
        self.stop.send_replace(true);
        timeout(GRACE, connections.acquire_many(CONNECTIONS)).await.ok();
        Ok(())
    }
}
