//! Faults of a running server: suspended, stopped, started again, replaced by its standby.
//!
//! No function waits for the server: the caller has clients to watch meanwhile.

use std::time::Duration;

use rustix::process::Signal;

use crate::error::ServerError;
use crate::launch;
use crate::network::Network;
use crate::process::{ProcessIdentity, descendants, kill_all};
use crate::running::{PROBE_WITHIN, READY_WITHIN, Running};
use crate::{shared, site, standby};

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
        self.record_process()
    }

    /// Returns the network that joins it and its clients alone.
    pub fn network(&self) -> Option<&Network> {
        self.serving.1.network.as_deref()
    }

    /// Cuts the network between it and its clients, or joins them again; nothing without one.
    ///
    /// # Errors
    /// When the link cannot be changed.
    pub fn set_network(&self, is_up: bool) -> Result<(), ServerError> {
        self.network().map_or(Ok(()), |network| network.set_link(is_up))
    }

    /// Returns whether its standby has taken its place.
    pub fn is_promoted(&self) -> bool {
        self.is_promoted
    }

    /// Kills its processes; its standby takes its place, and [`Running::is_ready`] promotes it.
    ///
    /// # Errors
    /// Without a standby that runs.
    pub fn fail_over(&mut self) -> Result<(), ServerError> {
        let lacks = || ServerError::fatal("the server has no standby that runs".to_owned());
        let mut standby = self.standby.take().ok_or_else(lacks)?;
        let child = standby.child.take().ok_or_else(lacks)?;
        if let Some(server) = ProcessIdentity::of(self.child.id()) {
            // Stopped before the scan, so that it starts no other process after it.
            server.signal(Signal::STOP);
            kill_all(&[vec![server], descendants(server.pid)].concat());
            self.child.wait().ok();
            shared::remove_segments(Some(&[server]), self.user.uid);
        }
        self.files.push(std::mem::replace(&mut self.site.log, standby.log.clone()));
        self.files.extend(standby.serve.files.iter().map(|(path, _)| path.clone()));
        self.site.data.set_file_name(standby::DATA);
        (self.child, self.probed, self.serving.0) = (child, standby.endpoint, standby.serve);
        self.is_promoted = true;
        self.record_process()
    }

    /// Records its process in the note for clean-up.
    pub(crate) fn record_process(&mut self) -> Result<(), ServerError> {
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

    /// Returns whether it answers again, and takes writes; its answer is awaited for two seconds.
    ///
    /// # Errors
    /// When it has ended: its message.
    pub fn is_ready(&mut self) -> Result<bool, ServerError> {
        if self.death().is_some() {
            return Err(self.kind.startup_error(&site::tail(&self.site.log)).into());
        }
        let mut endpoint = self.probed.clone();
        endpoint.login.timeout_ms = u32::try_from(PROBE_WITHIN.as_millis()).ok();
        let answer = match self.is_promoted {
            true => self.kind.promote(&endpoint),
            false => self.kind.probe(&endpoint),
        };
        if answer.is_err() {
            return Ok(false);
        }
        launch::remove_secrets(&self.serving.0)?;
        self.private_dir.record_shared_memory()?;
        Ok(true)
    }
}
