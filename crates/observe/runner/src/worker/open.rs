//! Opens the engine of an order, or reports why it is refused.

use std::io::Write;
use std::sync::Arc;

use engine::{ApplicationSetup, Driver, Engine, EngineError, OpenSpec};
use model::{DataShape, Options};

use super::parent_link::Worker;
use crate::message::{Library, Message, Order};

/// Finds an engine's driver by name and, if any, its library.
pub type Registry = dyn Fn(&str, Option<&Library>) -> Result<Box<dyn Driver>, EngineError> + Sync;

/// An open engine, and whether its answers can be checked.
pub(super) type Opened = (Box<dyn Engine>, bool);

/// Returns the refusal of keys or values longer than the engine takes.
fn length_refusal(driver: &dyn Driver, data: &DataShape) -> Option<Message> {
    let can = driver.capabilities();
    let lengths = [
        ("key", data.key_bytes, can.key_bytes_max),
        ("value", data.value_bytes, can.value_bytes_max),
    ];
    let found = lengths.into_iter().find(|(_, bytes, most)| most.is_some_and(|most| *bytes > most));
    let (what, bytes, most) = found?;
    let (most, identity) = (most.unwrap_or_default(), driver.identity());
    let (engine, version) = (identity.engine, identity.version);
    Some(Message::TooLong {
        word: format!("{what}_bytes"),
        reason: format!("{what}s of {bytes} bytes: {engine} {version} takes at most {most}"),
        remedy: format!("set `{what}_bytes` to {most} or less, or leave this variant out"),
    })
}

/// Returns why a step that reads ranges downwards cannot be run.
fn reverse_scan_refusal(driver: &dyn Driver, step: &str) -> Option<String> {
    let can = driver.capabilities();
    if engine::scans_in_reverse(&can) {
        return None;
    }
    let why = can.why_not(engine::REVERSE_SCANS).unwrap_or_default();
    let engine = driver.identity().engine;
    Some(format!("step `{step}`: {engine}: {why}; leave the step or this variant out"))
}

/// Returns why a step with pipelined clients cannot be run.
fn pipeline_refusal(driver: &dyn Driver, step: &str) -> Option<String> {
    let why = driver.capabilities().why_not(engine::PIPELINING).map(str::to_owned);
    let engine = driver.identity().engine;
    why.map(|why| {
        format!("step `{step}` has a pipeline, and {engine} takes none: {why}; leave it out")
    })
}

/// Returns the message of an engine's error; `known` are the options it has.
fn refusal(error: EngineError, known: impl FnOnce() -> Vec<String>) -> Message {
    if let EngineError::Option { option, reason } = error {
        // Most drivers name them in the reason.
        let known = if reason.contains("known: ") { Vec::new() } else { known() };
        Message::Refused { option: Some(option), reason, known }
    } else {
        Message::Refused { option: None, reason: error.to_string(), known: Vec::new() }
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

/// Returns the order's application, if any.
pub(super) fn application_setup(order: &Order) -> Option<ApplicationSetup> {
    let application = Arc::new(order.application.clone()?);
    Some(ApplicationSetup { application, clients: order.clients_max })
}

impl<W: Write + Send> Worker<'_, W> {
    /// Opens the engine; `None` when it refused, which is then reported.
    pub(super) fn open(
        &self,
        order: &Order,
        registry: &Registry,
    ) -> Result<Option<Opened>, String> {
        let spec = OpenSpec {
            endpoint: order.endpoint.clone(),
            application: application_setup(order),
            dir: order.dir.clone(),
            settings: order.variant.settings.clone(),
            options: order.variant.options.clone(),
            data: order.data,
        };
        let driver = match registry(&order.variant.build.engine, order.library.as_ref()) {
            Ok(driver) => driver,
            Err(error) => return self.refuse(refusal(error, Vec::new)),
        };
        if let Some(refusal) = length_refusal(driver.as_ref(), &order.data) {
            return self.refuse(refusal);
        }
        if let Some(reason) =
            order.downwards.as_deref().and_then(|it| reverse_scan_refusal(&*driver, it))
        {
            return self.refuse(refusal(EngineError::Unsupported(reason), Vec::new));
        }
        if let Some(reason) =
            order.pipelined.as_deref().and_then(|it| pipeline_refusal(&*driver, it))
        {
            return self.refuse(refusal(EngineError::Unsupported(reason), Vec::new));
        }
        let opened = driver.open(&spec).and_then(|engine| {
            let mut identity = engine.identity();
            identity.facts.insert("malloc".to_owned(), self.heap.to_string());
            let effective_options = engine.effective_options()?;
            let keep = engine.own_files();
            Ok((engine, Message::Opened { identity, effective_options, keep }))
        });
        match opened {
            Ok((engine, message)) => {
                self.send(&message)?;
                Ok(Some((engine, engine::gives_answers(&driver.capabilities()))))
            }
            Err(error) => self.refuse(refusal(error, || option_names(driver.as_ref(), &spec))),
        }
    }

    /// Reports that the engine is not opened, and why.
    fn refuse(&self, refusal: Message) -> Result<Option<Opened>, String> {
        self.send(&refusal).map(|()| None)
    }
}
