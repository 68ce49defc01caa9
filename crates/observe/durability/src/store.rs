//! The children that open a store: one writes to it, the other compares its rows.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::thread;

use engine::{Engine, EngineError, Maintenance, OpenSpec, Rows, Session};
use load::{Clock as _, SteadyClock};
use model::{Direction, Losses, Op};
use runner::{MessageReader, MessageWriter, Registry};

use crate::acknowledgements::{self, Writer};
use crate::history::{History, parse_key};
use crate::message::{DATA, Go, StoreMessage, StoreOrder};
use crate::oracle::{self, Acknowledged};

/// Rows read at once.
const PAGE_ROWS: u32 = 1_000;

/// A store of an order.
pub(crate) struct Store<'a> {
    order: &'a StoreOrder,
    clock: SteadyClock,
    output: Mutex<MessageWriter<UnixStream>>,
}

impl<'a> Store<'a> {
    pub(crate) fn new(order: &'a StoreOrder, output: MessageWriter<UnixStream>) -> Self {
        Self { order, clock: SteadyClock::kernel(), output: Mutex::new(output) }
    }

    fn send(&self, message: &StoreMessage) -> std::io::Result<()> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).send(message)
    }

    /// Opens the store, and reports it or why not.
    fn open(
        &self,
        registry: &Registry,
        prepare: impl FnOnce(&dyn Engine) -> Result<(), EngineError>,
    ) -> std::io::Result<Option<Box<dyn Engine>>> {
        let variant = &self.order.variant;
        let spec = OpenSpec {
            dir: self.order.dir.clone(),
            settings: variant.settings.clone(),
            options: variant.options.clone(),
            data: DATA,
            endpoint: self.order.endpoint.clone(),
            application: None,
        };
        let driver = registry(&variant.build.engine, self.order.library.as_ref());
        let opened = driver.and_then(|driver| {
            let engine = driver.open(&spec)?;
            prepare(&*engine)?;
            Ok(engine)
        });
        match opened {
            Ok(engine) => {
                let identity = engine.identity();
                let engine_name = format!("{} {}", identity.engine, identity.version);
                let at = self.clock.now();
                self.send(&StoreMessage::Opened { engine: engine_name, at })?;
                Ok(Some(engine))
            }
            Err(error) => {
                self.send(&StoreMessage::Failed { reason: error.to_string() })?;
                Ok(None)
            }
        }
    }

    /// Writes until this process is killed.
    pub(crate) fn load(
        &self,
        registry: &Registry,
        input: &mut MessageReader<BufReader<UnixStream>>,
    ) -> std::io::Result<()> {
        // What opening wrote, tables of a server among it, is not what the cuts are about.
        let flush = |engine: &dyn Engine| engine.maintain(Maintenance::Flush).map(drop);
        let Some(engine) = self.open(registry, flush)? else { return Ok(()) };
        let Ok(Some(Go)) = input.receive() else { return Ok(()) };
        thread::scope(|scope| {
            for client in 0..self.order.clients {
                let engine = &*engine;
                let write = move || {
                    let Err(reason) = self.write_changes(engine, client);
                    // The host reads one such message, and may have ended.
                    self.send(&StoreMessage::Failed { reason }).ok();
                    wait_for_kill();
                };
                thread::Builder::new().spawn_scoped(scope, write)?;
            }
            Ok(())
        })
    }

    /// Writes the changes of a client, one after the other, until one fails.
    fn write_changes(
        &self,
        engine: &dyn Engine,
        client: u32,
    ) -> Result<std::convert::Infallible, String> {
        let text = |error: EngineError| error.to_string();
        let mut session = engine.session().map_err(text)?;
        let dir = &self.order.acknowledgements;
        let unrecorded = |error: std::io::Error| {
            format!("no acknowledgement can be recorded in {}: {error}", dir.display())
        };
        let mut writer = Writer::create(dir, client).map_err(unrecorded)?;
        let history = History::new(self.order.seed, client, &DATA);
        let (mut key, mut value, mut rows) = (Vec::new(), Vec::new(), Rows::new());
        let mut n = 0;
        loop {
            let change = history.change(n);
            history.write_key(change.slot, &mut key);
            let op = if change.is_delete {
                Op::Delete { key: &key }
            } else {
                history.write_value(n, &mut value);
                Op::Put { key: &key, value: &value }
            };
            rows.clear(false);
            session.execute(&op, &mut rows).map_err(text)?;
            writer.add(self.clock.now()).map_err(unrecorded)?;
            n += 1;
        }
    }

    /// Compares the rows with what was acknowledged.
    pub(crate) fn check(&self, registry: &Registry) -> std::io::Result<()> {
        let Some(engine) = self.open(registry, |_| Ok(()))? else { return Ok(()) };
        let checked = engine.session().and_then(|mut session| read_rows(&mut *session));
        match checked {
            Ok(rows) => {
                let losses = self.losses(rows)?;
                self.send(&StoreMessage::Checked { losses })?;
                wait_for_kill()
            }
            Err(error) => {
                let reason = format!("its rows cannot be read: {error}");
                self.send(&StoreMessage::Failed { reason })
            }
        }
    }

    fn losses(&self, mut rows: ClientRows) -> std::io::Result<Losses> {
        let mut sum = Losses { is_everything: true, ..Losses::default() };
        for client in 0..self.order.clients {
            let mut times = acknowledgements::read(&self.order.acknowledgements, client)?;
            times.retain(|at| *at <= self.order.cut);
            let history = History::new(self.order.seed, client, &DATA);
            let of_client = rows.remove(&Some(client)).unwrap_or_default();
            let acknowledged = Acknowledged { history, times: &times, cut: self.order.cut };
            oracle::add(&mut sum, acknowledged.losses(&of_client));
        }
        sum.never_written += rows.values().map(|rows| rows.len() as u64).sum::<u64>();
        Ok(sum)
    }
}

/// Waits until this process is killed: a close would write what a crash loses.
fn wait_for_kill() -> ! {
    loop {
        thread::park();
    }
}

/// Rows by client; those with a key that no client has are without one.
type ClientRows = BTreeMap<Option<u32>, oracle::Rows>;

/// Reads every row.
fn read_rows(session: &mut dyn Session) -> Result<ClientRows, EngineError> {
    let mut found = ClientRows::new();
    let mut rows = Rows::new();
    let mut start = vec![0; DATA.key_bytes as usize];
    loop {
        rows.clear(true);
        let direction = Direction::Forward;
        session.execute(&Op::Scan { start: &start, limit: PAGE_ROWS, direction }, &mut rows)?;
        let mut last = None;
        for (key, value) in rows.stored() {
            let parsed = parse_key(key);
            let of_client = found.entry(parsed.map(|(client, _)| client)).or_default();
            let slot = parsed.map_or(of_client.len() as u64, |(_, slot)| slot);
            of_client.insert(slot, value.to_vec());
            last = Some(key.to_vec());
        }
        match last {
            Some(key) if rows.count() == u64::from(PAGE_ROWS) => start = successor(key),
            Some(_) | None => return Ok(found),
        }
    }
}

/// Returns the next key of the same length.
fn successor(mut key: Vec<u8>) -> Vec<u8> {
    for byte in key.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    key
}
