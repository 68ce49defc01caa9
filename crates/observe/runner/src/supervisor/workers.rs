//! The worker of a run on this host, or its workers on client hosts.

use std::time::Duration;

use model::{ClientHost, CpuCount, Nanos};

use super::process::{Ended, Process, WorkerEvent};
use super::worker_group::{GroupEvent, Lost, WorkerGroup};
use crate::connection::ConnectionError;
use crate::message::{Command, Message};

/// What executes the order of a run.
pub(crate) enum Workers<'a> {
    /// A child process.
    Here(Box<Process>),
    /// Processes on client hosts.
    Elsewhere(Box<WorkerGroup<'a>>),
}

/// An event of the workers of a run.
pub(crate) enum RunEvent {
    /// A message.
    Message(Box<Message>),
    /// The messages cannot be trusted; no further one is read.
    Broken(String),
    /// No message within the timeout.
    Silence,
    /// A client host is lost.
    Lost(Lost),
    /// The end of the messages; `is_torn` when the last one breaks off.
    End { is_torn: bool },
}

impl Workers<'_> {
    /// Returns the worker's process; `None` if the workers run on other hosts.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Here(process) => Some(process.pid()),
            Self::Elsewhere(_) => None,
        }
    }

    /// Returns the CPUs of the client hosts; `None` for a worker on this host.
    pub(crate) fn cpus_elsewhere(&self) -> Option<CpuCount> {
        match self {
            Self::Here(_) => None,
            Self::Elsewhere(group) => Some(group.cpus()),
        }
    }

    /// Returns the time since the last call in which clocks of client hosts were compared.
    pub(crate) const fn take_compared(&mut self) -> Nanos {
        match self {
            Self::Here(_) => Nanos(0),
            Self::Elsewhere(group) => group.take_compared(),
        }
    }

    /// Sends a command; a worker that no longer reads is noticed by the end of its messages.
    pub(crate) fn send(&mut self, command: &Command) {
        match self {
            Self::Here(process) => process.send(command),
            Self::Elsewhere(group) => group.send(command),
        }
    }

    /// Waits for the next event, at most `limit`.
    pub(crate) fn receive(&mut self, limit: Duration) -> RunEvent {
        match self {
            Self::Here(process) => match process.receive(limit) {
                WorkerEvent::Message(message) => RunEvent::Message(message),
                WorkerEvent::Broken(error) => RunEvent::Broken(ConnectionError::to_string(&error)),
                WorkerEvent::Silence => RunEvent::Silence,
                WorkerEvent::End { is_torn } => RunEvent::End { is_torn },
            },
            Self::Elsewhere(group) => match group.receive(limit) {
                GroupEvent::Message(message) => RunEvent::Message(message),
                GroupEvent::Broken(reason) => RunEvent::Broken(reason),
                GroupEvent::Silence => RunEvent::Silence,
                GroupEvent::Lost(lost) => RunEvent::Lost(lost),
                GroupEvent::End => RunEvent::End { is_torn: false },
            },
        }
    }

    /// Kills the workers.
    pub(crate) fn kill(&mut self) {
        match self {
            Self::Here(process) => process.kill(),
            Self::Elsewhere(group) => group.kill(),
        }
    }

    /// Waits for the end; returns how it ended, and the client hosts.
    pub(crate) fn ended(&mut self) -> (Ended, Vec<ClientHost>) {
        match self {
            Self::Here(process) => (process.ended(), Vec::new()),
            Self::Elsewhere(group) => (Ended::elsewhere(), group.close()),
        }
    }
}
