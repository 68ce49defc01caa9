//! Faults of a running server: suspended, stopped, and started again on its data.
//!
//! No function waits for the server: the caller has clients to watch meanwhile.

use std::time::Duration;

use rustix::process::Signal;

use crate::error::ServerError;
use crate::launch;
use crate::process::ProcessIdentity;
use crate::running::{PROBE_WITHIN, READY_WITHIN, Running};
use crate::site;

impl Running {
    /// Stops every process of it with SIGSTOP.
    pub fn suspend(&self) {
        self.signal_all(Signal::STOP);
        // Processes may have started others before they were stopped.
        self.signal_all(Signal::STOP);
    }

    /// Lets every process of it go on with SIGCONT.
    pub fn resume(&self) {
        self.signal_all(Signal::CONT);
    }

    fn signal_all(&self, signal: Signal) {
        self.private_dir.note.processes().iter().for_each(|process| process.signal(signal));
    }

    /// Requests a clean stop, of which [`Running::death`] reports the end.
    pub fn request_stop(&self) {
        if let Some(server) = ProcessIdentity::of(self.child.id()) {
            server.signal(self.stop_signal());
        }
    }

    /// Kills what is left of it and starts it again: same data, address and password.
    ///
    /// The server dies with the thread that calls this.
    ///
    /// # Errors
    /// When no process can be started.
    pub fn start_again(&mut self) -> Result<(), ServerError> {
        self.kill();
        let (task, placement) = &self.serving;
        self.child = launch::serve(task, &self.user, placement, &self.site.log)?;
        self.ended = None;
        match ProcessIdentity::of(self.child.id()) {
            Some(server) => self.private_dir.record_server(server),
            None => Ok(()),
        }
    }

    /// Checks that it has not been awaited for longer than a start may take.
    ///
    /// # Errors
    /// [`ServerError::NotReady`] with the end of its log.
    pub fn check_wait(&mut self, waited: Duration) -> Result<(), ServerError> {
        if waited <= READY_WITHIN {
            return Ok(());
        }
        let last = self.death().map(|death| death.last_log_lines.clone());
        Err(ServerError::NotReady(READY_WITHIN.as_secs(), last.unwrap_or_default()))
    }

    /// Returns whether it answers again; its answer is awaited for two seconds.
    ///
    /// # Errors
    /// When it has ended: its message.
    pub fn is_ready(&mut self) -> Result<bool, ServerError> {
        if self.death().is_some() {
            return Err(self.kind.startup_error(&site::tail(&self.site.log)).into());
        }
        let mut endpoint = self.endpoint.clone();
        endpoint.login.timeout_ms = u32::try_from(PROBE_WITHIN.as_millis()).ok();
        if self.kind.probe(&endpoint).is_err() {
            return Ok(false);
        }
        launch::remove_secrets(&self.serving.0)?;
        self.private_dir.record_shared_memory()?;
        Ok(true)
    }
}
