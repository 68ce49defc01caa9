//! Makes cuts: starts a store, stops it at a drawn moment, cuts, opens it again.

use std::io;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use load::{Clock as _, SteadyClock};
use model::{AfterCut, CutLevel, CutRecord, Forgotten, Nanos};
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
/// Our choice: in 0.2 s every engine has acknowledged hundreds of changes. Servers sync by a clock,
/// Postgres after 0.6 s and InnoDB after 1 s: the longest load has three such spans, so that most
/// cuts leave what was synced.
const LOAD_MIN: Nanos = Nanos::from_millis(200);
const LOAD_SPREAD: Nanos = Nanos::from_millis(600);
const SERVER_LOAD_SPREAD: Nanos = Nanos::from_millis(2_800);
/// Fewest acknowledged changes of a cut.
const ACKNOWLEDGED_MIN: u64 = 20;
/// Longest wait for acknowledgements or for a sync that can fail, beyond the time of a load.
const DONE_WITHIN: Nanos = Nanos::from_secs(60);
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
    let Range { start: mut number, end } = order.numbers;
    while number < end {
        let of_load = cuts_of_load(order.kind.level);
        let next = end.min((number / of_load + 1) * of_load);
        if let Err(reason) = cutter.cut(number..next, &mut parent) {
            return parent.send(&HostMessage::Failed { number, reason });
        }
        number = next;
    }
    Ok(())
}

/// Returns how many cuts one load serves: a recording has every moment of it.
const fn cuts_of_load(level: CutLevel) -> u32 {
    match level {
        CutLevel::Process | CutLevel::File => 1,
        CutLevel::Block => 10,
    }
}

/// A moment of a load at which it is cut.
struct Moment {
    at: Nanos,
    /// Time from the begin of the load.
    load: Nanos,
    acknowledged: u64,
    syncs: Option<u64>,
    /// What the place has recorded so far.
    position: usize,
}

/// Makes the cuts of one order.
struct Cutter<'a> {
    order: &'a HostOrder,
    /// The kind of server; `None` for an engine in the store's process.
    kind: Option<&'static dyn Kind>,
    clock: SteadyClock,
}

/// A store that is cut.
struct Scene<'a> {
    cutter: &'a Cutter<'a>,
    /// Directory of everything that belongs to it.
    dir: &'a Path,
    place: Place,
    store: StoreOrder,
    draw: Stream,
}

impl Cutter<'_> {
    /// Makes the cuts with these numbers, all of one load.
    ///
    /// # Errors
    /// The reason, when the store failed before.
    fn cut(
        &self,
        numbers: Range<u32>,
        parent: &mut MessageWriter<UnixStream>,
    ) -> Result<(), String> {
        let text = |error: io::Error| format!("{}: {error}", self.order.dir.display());
        let scratch = TempDir::new_in(&self.order.dir).map_err(text)?;
        let dir = scratch.path();
        open_to_servers(dir).map_err(text)?;
        let of_load = cuts_of_load(self.order.kind.level);
        let draw = Stream::fixed(self.order.seed).branch(u64::from(numbers.start / of_load));
        let place = Place::new(self.order.kind, dir).map_err(text)?;
        let acknowledgements = dir.join("acknowledgements");
        let client_dir = dir.join("client");
        for dir in [&acknowledgements, &client_dir] {
            std::fs::create_dir(dir).map_err(text)?;
        }
        let mut server = self.serve(&place.dir)?;
        let store = StoreOrder {
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
        let mut load = StoreProcess::start(&load, dir).map_err(text)?;
        let name = opened(&mut load)?.0;
        parent.send(&HostMessage::Engine { name }).map_err(text)?;
        let mut scene = Scene { cutter: self, dir, place, store, draw };
        let moments = scene.run(&mut load, &numbers)?;
        let forgotten = scene.place.cut(draw.word(2)).map_err(text)?;
        // The server first: its clients' connections end by its death, as in a crash.
        if let Some(server) = &mut server {
            server.kill();
        }
        drop(server);
        load.kill();
        for (number, moment) in numbers.zip(moments) {
            let record = scene.record(number, &moment, &forgotten)?;
            parent.send(&HostMessage::Cut { record: Box::new(record) }).map_err(text)?;
        }
        Ok(())
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

    /// Waits until a time and until something is done, and at most [`DONE_WITHIN`] longer than the
    /// time; returns whether it is done.
    ///
    /// # Errors
    /// Why the store has stopped.
    fn wait(
        &self,
        load: &mut StoreProcess,
        end: Nanos,
        is_done: &dyn Fn() -> bool,
    ) -> Result<bool, String> {
        let latest = end.after(DONE_WITHIN);
        loop {
            let now = self.clock.now();
            if (now >= end && is_done()) || now >= latest {
                return Ok(is_done());
            }
            let left = Duration::from_nanos(end.since(now).0).clamp(Duration::from_millis(1), POLL);
            if let Some(StoreMessage::Failed { reason }) = load.receive_within(left)? {
                return Err(reason);
            }
        }
    }
}

impl Scene<'_> {
    /// Lets the store write until the moments of these cuts; leaves it stopped.
    fn run(&self, load: &mut StoreProcess, numbers: &Range<u32>) -> Result<Vec<Moment>, String> {
        let text = |error: io::Error| format!("{}: {error}", self.dir.display());
        let of_load = cuts_of_load(self.cutter.order.kind.level);
        let lengths = self.draw.branch(1);
        let spread = self.cutter.kind.map_or(LOAD_SPREAD, |_| SERVER_LOAD_SPREAD);
        let length = |at| LOAD_MIN.after(Nanos(below(lengths.word(at), spread.0)));
        let mut lengths: Vec<_> = (0..u64::from(of_load)).map(length).collect();
        lengths.sort_unstable();
        self.place.sync().map_err(text)?;
        let before = self.place.syncs();
        load.send(&Go).map_err(text)?;
        let begin = self.cutter.clock.now();
        let mut moments = Vec::new();
        for number in numbers.clone() {
            load.resume().map_err(text)?;
            self.wait_for_moment(load, begin, lengths[(number % of_load) as usize])?;
            load.freeze().map_err(text)?;
            let at = self.cutter.clock.now();
            moments.push(Moment {
                at,
                load: at.since(begin),
                acknowledged: self.acknowledged(),
                syncs: self.place.syncs().zip(before).map(|(after, before)| after - before),
                position: self.place.position(),
            });
        }
        Ok(moments)
    }

    fn acknowledged(&self) -> u64 {
        acknowledgements::count(&self.store.acknowledgements, self.store.clients)
    }

    /// Waits until the load has run so long and enough changes are acknowledged; on the way a sync
    /// may have to fail, after which the store may stop.
    fn wait_for_moment(
        &self,
        load: &mut StoreProcess,
        begin: Nanos,
        length: Nanos,
    ) -> Result<(), String> {
        let fault = self.cutter.order.kind.fault;
        let first = fault.map_or(length, |_| Nanos(below(self.draw.word(3), length.0)));
        let has_changes = || self.acknowledged() >= ACKNOWLEDGED_MIN;
        if !self.cutter.wait(load, begin.after(first), &has_changes)? {
            return Err(format!("fewer than {ACKNOWLEDGED_MIN} changes were acknowledged"));
        }
        if fault.is_none() {
            return Ok(());
        }
        self.place.fail_fsync();
        let has_failed = || !self.place.is_fsync_to_fail();
        match self.cutter.wait(load, begin.after(length), &has_failed) {
            Ok(true) => Ok(()),
            Ok(false) => Err("it requested no sync of a file, so that none failed".to_owned()),
            // It acknowledges nothing more, which is right.
            Err(_) if has_failed() => Ok(()),
            Err(reason) => Err(reason),
        }
    }

    /// Opens the store as a cut has left it, and returns what it has lost.
    ///
    /// Where it is cheap and nothing was lost, the power fails right after the recovery, too.
    fn record(
        &mut self,
        number: u32,
        moment: &Moment,
        forgotten: &[Forgotten],
    ) -> Result<CutRecord, String> {
        self.store.cut = moment.at;
        let (after, forgotten_again) = self.check(number, moment.position)?;
        let mut record = CutRecord {
            number,
            load: moment.load,
            acknowledged: moment.acknowledged,
            syncs: moment.syncs,
            after,
            is_after_recovery: false,
            forgotten: Vec::new(),
        };
        if record.has_lost() {
            record.forgotten = forgotten.to_vec();
        } else if self.cutter.order.kind.level == CutLevel::File {
            let (after, _) = self.check(number, moment.position)?;
            if after.has_lost() {
                (record.after, record.is_after_recovery) = (after, true);
                record.forgotten = forgotten_again;
            }
        }
        Ok(record)
    }

    /// Opens the store after a cut and compares its rows; then the power fails. Returns what it has
    /// lost, and what was forgotten.
    fn check(
        &mut self,
        number: u32,
        position: usize,
    ) -> Result<(AfterCut, Vec<Forgotten>), String> {
        let text = |error: io::Error| format!("{}: {error}", self.dir.display());
        let seed = self.draw.branch(2).word(u64::from(number));
        self.place.restore(position, seed).map_err(text)?;
        let begin = self.cutter.clock.now();
        let mut server = match self.cutter.serve(&self.place.dir) {
            Ok(server) => server,
            Err(reason) => return Ok((AfterCut::Refused { reason }, Vec::new())),
        };
        self.store.endpoint = server.as_ref().map(|server| server.endpoint.clone());
        let order = Order::Check(Box::new(self.store.clone()));
        let mut process = StoreProcess::start(&order, self.dir).map_err(text)?;
        let compared = opened(&mut process).and_then(|(_, at)| match process.receive()? {
            StoreMessage::Checked { losses } => {
                Ok(AfterCut::Opened { recovery: at.since(begin), losses })
            }
            StoreMessage::Failed { reason } => Err(reason),
            StoreMessage::Opened { .. } => Err("it opened twice".to_owned()),
        });
        let forgotten = self.place.cut(seed).map_err(text)?;
        if let Some(server) = &mut server {
            server.kill();
        }
        Ok((compared.unwrap_or_else(|reason| AfterCut::Refused { reason }), forgotten))
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
