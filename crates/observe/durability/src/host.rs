//! Makes cuts: starts a store, stops it at a drawn moment, cuts, opens it again.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use load::{Clock as _, SteadyClock};
use model::{AfterCut, CutRecord, Nanos};
use runner::{Library, MessageWriter};
use server::{Kind, READY_WITHIN, Running, ServerPlacement, Start};
use tempfile::TempDir;
use workload::random::{Stream, below};

use crate::acknowledgements;
use crate::children::StoreProcess;
use crate::message::{Go, HostMessage, HostOrder, Order, StoreMessage, StoreOrder};
use crate::place::Place;

/// Shortest time of a load, and how much longer the longest is.
///
/// Our choice: in 0.2 s every engine has acknowledged hundreds of changes, and 0.8 s are longer
/// than what the servers of Assay leave unsynced by their own settings (0.6 s with Postgres).
const LOAD_MIN: Nanos = Nanos::from_millis(200);
const LOAD_SPREAD: Nanos = Nanos::from_millis(600);
/// Fewest acknowledged changes of a cut, and the longest wait for them.
const ACKNOWLEDGED_MIN: u64 = 20;
const ACKNOWLEDGED_WITHIN: Nanos = Nanos::from_secs(60);
/// Longest pause between two counts of the acknowledgements.
const POLL: Duration = Duration::from_millis(20);

/// Finds the kind of server of an engine; `None` for a library.
pub type Kinds = dyn Fn(&str) -> Option<&'static dyn Kind> + Sync;

/// Makes the cuts of an order, and reports each.
///
/// # Errors
/// When the parent is gone.
pub(crate) fn host(
    order: &HostOrder,
    kinds: &Kinds,
    mut parent: MessageWriter<UnixStream>,
) -> io::Result<()> {
    let kind = kinds(&order.variant.build.engine);
    let cutter = Cutter { order, kind, clock: SteadyClock::kernel() };
    let (first, end) = order.numbers;
    for number in first..end {
        match cutter.cut(number) {
            Ok(cut) => {
                if number == first {
                    parent.send(&HostMessage::Engine { name: cut.engine })?;
                }
                parent.send(&HostMessage::Cut { record: Box::new(cut.record) })?;
            }
            Err(reason) => return parent.send(&HostMessage::Failed { number, reason }),
        }
    }
    Ok(())
}

/// A cut that was made.
struct Cut {
    /// Engine and version, as the store reports them.
    engine: String,
    record: CutRecord,
}

/// Makes the cuts of one order.
struct Cutter<'a> {
    order: &'a HostOrder,
    /// The kind of server; `None` for an engine in the store's process.
    kind: Option<&'static dyn Kind>,
    clock: SteadyClock,
}

impl Cutter<'_> {
    /// Makes one cut.
    ///
    /// # Errors
    /// The reason, when the store failed before.
    fn cut(&self, number: u32) -> Result<Cut, String> {
        let text = |error: io::Error| format!("{}: {error}", self.order.dir.display());
        let scratch = TempDir::new_in(&self.order.dir).map_err(text)?;
        let scratch = scratch.path();
        open_to_servers(scratch).map_err(text)?;
        let draw = Stream::fixed(self.order.seed).branch(u64::from(number));
        let mut place = Place::new(self.order.kind, scratch).map_err(text)?;
        let acknowledgements = scratch.join("acknowledgements");
        let client_dir = scratch.join("client");
        for dir in [&acknowledgements, &client_dir] {
            std::fs::create_dir(dir).map_err(text)?;
        }
        let mut server = self.serve(&place.dir)?;
        let mut store = StoreOrder {
            variant: self.order.variant.clone(),
            library: self.order.library.clone(),
            dir: if self.kind.is_some() { client_dir } else { place.dir.clone() },
            endpoint: server.as_ref().map(|server| server.endpoint.clone()),
            clients: self.order.clients,
            seed: draw.word(0),
            acknowledgements,
            cut: Nanos(0),
        };
        let load = Order::Load(Box::new(store.clone()));
        let mut load = StoreProcess::start(&load, scratch).map_err(text)?;
        let engine = opened(&mut load)?.0;
        place.sync().map_err(text)?;
        let before = place.syncs();
        load.send(&Go).map_err(text)?;
        let begin = self.clock.now();
        let length = LOAD_MIN.after(Nanos(below(draw.word(1), LOAD_SPREAD.0)));
        self.wait_for_load(&mut load, &store, begin.after(length))?;
        load.freeze().map_err(text)?;
        store.cut = self.clock.now();
        let syncs = place.syncs().zip(before).map(|(after, before)| after - before);
        let forgotten = place.cut(draw.word(2)).map_err(text)?;
        // The server first: its clients' connections end by its death, as in a crash.
        if let Some(server) = &mut server {
            server.kill();
        }
        drop(server);
        load.kill();
        place.restore().map_err(text)?;
        let acknowledged = acknowledgements::count(&store.acknowledgements, store.clients);
        let after = self.check(&place, store.clone(), scratch);
        let mut record = CutRecord {
            number,
            load: store.cut.since(begin),
            acknowledged,
            syncs,
            after,
            forgotten: Vec::new(),
        };
        if record.has_lost() {
            record.forgotten = forgotten;
        }
        Ok(Cut { engine, record })
    }

    /// Starts the server of the store on its data; `None` without one.
    fn serve(&self, dir: &Path) -> Result<Option<Running>, String> {
        let Some(kind) = self.kind else { return Ok(None) };
        let variant = &self.order.variant;
        let library = self.order.library.as_ref();
        let library = library.ok_or_else(|| format!("{} needs a version", variant.build.engine))?;
        let Library { path, sha256, .. } = library;
        let start = Start {
            kind,
            program: path,
            fingerprint: sha256,
            dir,
            settings: &variant.settings,
            options: &variant.options,
            address: None,
            user: self.order.server_user.as_deref(),
            placement: ServerPlacement::default(),
            templates: Some(&self.order.dir.join("templates")),
            ready_within: READY_WITHIN,
        };
        Running::start(&start, &|| false).map(Some).map_err(|error| error.to_string())
    }

    /// Waits until the load has run so long and enough changes are acknowledged.
    fn wait_for_load(
        &self,
        load: &mut StoreProcess,
        store: &StoreOrder,
        end: Nanos,
    ) -> Result<(), String> {
        let latest = end.after(ACKNOWLEDGED_WITHIN);
        loop {
            let now = self.clock.now();
            let count = || acknowledgements::count(&store.acknowledgements, store.clients);
            if now >= end && count() >= ACKNOWLEDGED_MIN {
                return Ok(());
            }
            if now >= latest {
                return Err(format!("fewer than {ACKNOWLEDGED_MIN} changes were acknowledged"));
            }
            let left = Duration::from_nanos(end.since(now).0).clamp(Duration::from_millis(1), POLL);
            if let Some(StoreMessage::Failed { reason }) = load.receive_within(left)? {
                return Err(reason);
            }
        }
    }

    /// Opens the store after the cut and compares its rows.
    fn check(&self, place: &Place, mut store: StoreOrder, dir: &Path) -> AfterCut {
        let begin = self.clock.now();
        let server = match self.serve(&place.dir) {
            Ok(server) => server,
            Err(reason) => return AfterCut::Refused { reason },
        };
        store.endpoint = server.as_ref().map(|server| server.endpoint.clone());
        let checked = StoreProcess::start(&Order::Check(Box::new(store)), dir)
            .map_err(|error| error.to_string())
            .and_then(|mut check| {
                let (_, at) = opened(&mut check)?;
                match check.receive()? {
                    StoreMessage::Checked { losses } => {
                        Ok(AfterCut::Opened { recovery: at.since(begin), losses })
                    }
                    StoreMessage::Failed { reason } => Err(reason),
                    StoreMessage::Opened { .. } => Err("it opened twice".to_owned()),
                }
            });
        checked.unwrap_or_else(|reason| AfterCut::Refused { reason })
    }
}

/// Waits until a store is open; returns engine and version, and when.
fn opened(store: &mut StoreProcess) -> Result<(String, Nanos), String> {
    match store.receive()? {
        StoreMessage::Opened { engine, at } => Ok((engine, at)),
        StoreMessage::Failed { reason } => Err(reason),
        StoreMessage::Checked { .. } => Err("it was compared before it was open".to_owned()),
    }
}

/// Lets accounts of servers pass a directory.
fn open_to_servers(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))
}
