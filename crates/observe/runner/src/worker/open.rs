//! Opens the engine of an order, or reports why it is refused.

use std::io::Write;

use engine::settings_check::check_durability;
use engine::{Driver, Engine, EngineError, OpenSpec, Refusal, Way};
use model::{Capabilities, DurabilityRecord, OpKind, Options};
use sampler::OpenFiles;

use super::application::{application_setup, check_calls};
use super::parent_link::Worker;
use crate::message::{Library, Message, Opened, Order};
use crate::needs::{beyond_limits, unsupported};

/// Note on a server that Assay has not started.
const FOREIGN_DATA: &str = "the file system of the server's data is not known";

/// Finds an engine's driver by name and, if any, its library.
pub type Registry = dyn Fn(&str, Option<&Library>) -> Result<Box<dyn Driver>, EngineError> + Sync;

/// An open engine, and whether its answers can be checked.
pub(super) type OpenEngine = (Box<dyn Engine>, bool);

/// Returns how an engine does each kind of operation that it may have no way of its own for.
fn ways<'k>(
    engine: &dyn Engine,
    can: &Capabilities,
    kinds: impl Iterator<Item = &'k OpKind>,
) -> Vec<(String, String)> {
    let way = |kind: &OpKind| {
        let feature = kind.native()?;
        let usual = if can.has(feature) { Way::Native } else { Way::ReadModifyWrite };
        let way = engine.way(*kind).unwrap_or(usual);
        Some((kind.name().to_owned(), way.name().to_owned()))
    };
    kinds.filter_map(way).collect()
}

/// Reads back what the durability class rests on, and checks the class claimed.
///
/// The file system of the data is recorded and not refused: lint blocks it before the run, unless
/// it is waived.
fn durability(
    engine: &dyn Engine,
    order: &Order,
    before: &OpenFiles,
) -> Result<DurabilityRecord, EngineError> {
    let mut had = engine.durability()?;
    if order.server.is_none() {
        had.bases.extend(before.weak_places_since(&order.dir));
    }
    check_durability(order.variant.settings.durability, &had)?;
    if order.server.as_ref().is_some_and(|server| server.endpoint.is_foreign) {
        had.note(FOREIGN_DATA);
    } else if order.member.is_none() {
        let of_server = order.server.as_ref().map(|_| order.dir.join(server::DATA));
        had.bases.extend(sampler::storage_basis(of_server.as_ref().unwrap_or(&order.dir)));
    }
    Ok(had)
}

/// Returns what the engine of an order is opened with.
pub(super) fn open_spec(order: &Order) -> OpenSpec {
    OpenSpec {
        endpoint: order.server.as_ref().map(|server| server.endpoint.clone()),
        application: application_setup(order),
        dir: order.dir.clone(),
        settings: order.variant.settings.clone(),
        options: order.variant.options.clone(),
        data: order.data,
    }
}

/// Returns the names of an engine's options; none when it does not list them.
fn option_names(driver: &dyn Driver, spec: &OpenSpec) -> Vec<String> {
    let dir = spec.dir.join("without-options");
    let spec = OpenSpec { dir, options: Options::new(), ..spec.clone() };
    let Ok(()) = std::fs::create_dir(&spec.dir) else { return Vec::new() };
    let Ok(engine) = driver.open(&spec) else { return Vec::new() };
    let options = engine.effective_options().unwrap_or_default();
    let names = options.iter().map(|(name, _)| name.to_owned()).collect();
    // It holds no data.
    drop(engine.close());
    names
}

impl<W: Write + Send> Worker<'_, W> {
    /// Opens the engine; `None` when it refused, which is then reported.
    pub(super) fn open(&self, order: &Order, registry: &Registry) -> Option<OpenEngine> {
        let spec = open_spec(order);
        let driver = match registry(&order.variant.build.engine, order.library.as_ref()) {
            Ok(driver) => driver,
            Err(error) => return self.refuse(error.into()),
        };
        let refusal = unsupported(driver.as_ref(), &order.data, &order.needs);
        // A server is another process, which was checked before it was started.
        let beyond = || {
            let needs = order.needs.of_system(driver.as_ref(), &spec);
            order.server.is_none().then(|| beyond_limits(needs, &order.dir)).flatten()
        };
        if let Some(refusal) = refusal.or_else(beyond) {
            return self.refuse(refusal);
        }
        let files = OpenFiles::now();
        let opened = driver.open_shared(&spec, &self.lock_waits).and_then(|engine| {
            engine.check_clients(order.needs.sessions)?;
            let mut identity = engine.identity();
            identity.facts.insert("malloc".to_owned(), self.heap.to_string());
            identity.facts.extend(ways(&*engine, &driver.capabilities(), order.kinds.keys()));
            let effective_options = engine.effective_options()?;
            let durability = Box::new(durability(&*engine, order, &files)?);
            let keep = engine.own_files();
            let immutable = driver.immutable_files().iter().map(|end| (*end).to_owned()).collect();
            let data_set = engine.server().and_then(|server| server.data_set());
            let opened = Message::Opened(Box::new(Opened {
                identity,
                effective_options,
                durability,
                keep,
                immutable,
                data_set,
            }));
            Ok((engine, opened))
        });
        match opened {
            Ok((engine, message)) => {
                self.send(&message);
                if let Err(error) = check_calls(engine.as_ref(), order) {
                    return self.refuse(error.into());
                }
                Some((engine, engine::gives_answers(&driver.capabilities())))
            }
            Err(error) => {
                let mut refusal = error.into();
                // Some drivers do not list them.
                if let Refusal::Option { known, .. } = &mut refusal
                    && known.is_empty()
                {
                    *known = option_names(driver.as_ref(), &spec);
                }
                self.refuse(refusal)
            }
        }
    }

    /// Reads back what the durability class rests on; returns `false` after a step that weakened
    /// it, which is reported.
    pub(super) fn keeps_durability(&self, engine: &dyn Engine, order: &Order) -> bool {
        // A server that does not answer fails the next operation, or the close.
        let Ok(had) = engine.durability() else { return true };
        let checked = check_durability(order.variant.settings.durability, &had);
        let Err(error) = checked else { return true };
        self.send(&Message::Violated { reason: format!("after the step: {error}") });
        false
    }

    /// Reports that the engine is not opened, and why.
    fn refuse(&self, refusal: Refusal) -> Option<OpenEngine> {
        self.send(&Message::Refused { refusal });
        None
    }
}
