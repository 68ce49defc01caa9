//! A campaign: the host of its cuts, started and observed by the parent.

use std::io::BufReader;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use model::{CutCampaign, CutKind, CutRecord, Variant};
use runner::{ConnectionError, Library, MessageReader, MessageWriter};

use crate::error::CutError;
use crate::message::{HostMessage, HostOrder, Order};
use crate::namespace::host_command;

/// Longest time until a request to stop is noticed.
const STOP_POLL: Duration = Duration::from_millis(100);

/// How cuts are made on this machine.
pub struct Conditions<'a> {
    /// This program, which serves `cuts`.
    pub program: &'a Path,
    /// Directory for the files of cuts; each removes its own.
    pub dir: &'a Path,
    /// Account of servers, if named.
    pub server_user: Option<&'a str>,
    /// Whether to stop; what was cut until then is returned.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// The cuts of one variant.
pub struct CampaignRequest<'a> {
    /// The variant.
    pub variant: &'a Variant,
    /// Its build; `None` for a linked engine.
    pub library: Option<&'a Library>,
    /// How the crashes are made.
    pub kind: CutKind,
    /// Clients of the load, >= 1.
    pub clients: u32,
    /// Seed of loads and cuts.
    pub seed: u64,
    /// Numbers of the cuts.
    pub numbers: Range<u32>,
}

impl CampaignRequest<'_> {
    /// Returns the campaign before its first cut.
    pub fn begun(&self) -> CutCampaign {
        CutCampaign {
            variant: self.variant.name.clone(),
            engine: self.variant.build.to_string(),
            claimed: self.variant.settings.durability,
            kind: self.kind,
            clients: self.clients,
            seed: self.seed,
            cuts: Vec::new(),
            calibrators: Vec::new(),
        }
    }
}

/// Makes the cuts and adds them to a campaign; `on_cut` returns whether to go on after each.
///
/// # Errors
/// The campaign has the cuts before an error.
/// [`CutError::Store`] when the store failed before a cut, [`CutError::Host`] when the process that
/// makes them ended.
pub fn run_campaign(
    request: &CampaignRequest<'_>,
    conditions: &Conditions<'_>,
    campaign: &mut CutCampaign,
    on_cut: &mut dyn FnMut(&CutRecord) -> bool,
) -> Result<(), CutError> {
    let mut host = Host::start(request, conditions)?;
    let (messages, received) = sync_channel(16);
    let socket = host.socket.try_clone();
    let socket = socket.map_err(CutError::during("a connection is not copied"))?;
    let mut input = MessageReader::new(BufReader::new(socket));
    let reader = move || {
        loop {
            let message: Result<Option<HostMessage>, ConnectionError> = input.receive();
            let is_last = !matches!(message, Ok(Some(_)));
            if messages.send(message).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(reader).map_err(CutError::during("a thread does not start"))?;
    let wanted = request.numbers.len();
    while campaign.cuts.len() < wanted && !(conditions.is_cancelled)() {
        match received.recv_timeout(STOP_POLL) {
            Ok(Ok(Some(HostMessage::Engine { name }))) => campaign.engine = name,
            Ok(Ok(Some(HostMessage::Cut { record }))) => {
                let goes_on = on_cut(&record);
                campaign.cuts.push(*record);
                if !goes_on {
                    break;
                }
            }
            Ok(Ok(Some(HostMessage::Failed { number, reason }))) => {
                return Err(CutError::Store(number, reason));
            }
            Ok(Err(error)) => return Err(CutError::Host(error.to_string())),
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => return Err(host.ended()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(())
}

/// The process that makes the cuts; killed with all it started when dropped.
struct Host {
    process: Child,
    /// The connection, open as long as the host may run.
    socket: UnixStream,
}

impl Host {
    fn start(request: &CampaignRequest<'_>, conditions: &Conditions<'_>) -> Result<Self, CutError> {
        let failed = CutError::during("the process that makes the cuts does not start");
        let start = || {
            let (socket, theirs) = UnixStream::pair()?;
            let process = host_command(request.kind.level, conditions.program)
                .arg("cuts")
                .stdin(OwnedFd::from(theirs))
                .stdout(Stdio::null())
                .spawn()?;
            MessageWriter::new(socket.try_clone()?).send(&Order::Host(Box::new(HostOrder {
                variant: request.variant.clone(),
                library: request.library.cloned(),
                kind: request.kind,
                clients: request.clients,
                seed: request.seed,
                numbers: request.numbers.clone(),
                dir: conditions.dir.to_owned(),
                server_user: conditions.server_user.map(str::to_owned),
            })))?;
            Ok(Self { process, socket })
        };
        start().map_err(failed)
    }

    /// Returns how it ended.
    fn ended(&mut self) -> CutError {
        match self.process.wait() {
            Ok(status) => CutError::Host(status.to_string()),
            Err(error) => CutError::Host(error.to_string()),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The kernel kills what it started, and ends the mounts, with the first of its namespace.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
