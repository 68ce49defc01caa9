//! Threads in which the site works.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::refusal::{FAILED, Refusal};
use crate::request::Request;
use crate::site::Site;

/// Runs the site in threads that may block.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) site: Arc<dyn Site>,
    /// Receives the messages of panics.
    pub(crate) log: Option<fn(&str)>,
}

impl Workers {
    /// Runs work for a request; a panic refuses the request and is logged.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        request: &Request,
        work: impl FnOnce(&dyn Site, &Request) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (site, own) = (Arc::clone(&self.site), request.clone());
        spawn_blocking(move || work(&*site, &own)).await.map_err(|panic| {
            if let Some(log) = self.log {
                log(&format!("the page {:?} failed: {panic}", request.path.join("/")));
            }
            FAILED
        })
    }
}
