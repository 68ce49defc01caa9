//! Checks of identity, refusals, maintenance and state.

use model::capability::{COMPRESSION, DIRECT_IO};
use model::{Capabilities, Direction, Durability, Op, OpKind};

use super::answers::{kinds, same_answer, same_rows};
use super::client::{Client, describe};
use super::stream::{SEED, Stream};
use super::subject::{Subject, close, fresh_dir, open_oracle, with_client};
use crate::error::EngineError;
use crate::traits::{Engine, Maintenance, OpenSpec};

/// An option that no engine has.
const OPTION: &str = "assay_no_such_option";

/// The engine reports name, version and configuration.
pub(super) fn identity_is_reported(subject: &Subject<'_>) -> Result<(), String> {
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    reports_itself(&*engine)?;
    let (before, after) = (subject.driver.identity(), engine.identity());
    if before.engine != after.engine {
        let (before, after) = (before.engine, after.engine);
        return Err(format!("expected the name `{before}` after opening, got `{after}`"));
    }
    let needed = [OpKind::Get, OpKind::Put];
    if !needed.into_iter().all(|kind| subject.can(kind)) {
        return Err("expected get and put to be offered, got one of them or none".to_owned());
    }
    if subject.capabilities.durability.is_empty() {
        return Err("expected a durability class to be offered, got none".to_owned());
    }
    close(engine)
}

/// Checks that the open engine reports name, version and options.
pub(super) fn reports_itself(engine: &dyn Engine) -> Result<(), String> {
    let identity = engine.identity();
    if identity.engine.is_empty() || identity.version.is_empty() {
        return Err(format!("expected a name and a version, got {identity:?}"));
    }
    engine.effective_options().map(drop).map_err(|error| format!("its options: {error}"))
}

/// Unsupported settings and unknown options are errors, never silent defaults.
pub(super) fn wrong_requests_are_refused(subject: &Subject<'_>) -> Result<(), String> {
    let dir = fresh_dir()?;
    let open = |spec: &OpenSpec| match subject.driver.open(spec) {
        Ok(engine) => close(engine).map(|()| None),
        Err(error) => Ok(Some(error)),
    };
    let mut spec = subject.spec(&dir.path().join("absent"));
    open(&spec)?
        .ok_or("open of a directory that does not exist: expected a failure, got an open engine")?;
    spec = subject.spec(dir.path());
    for (what, spec) in lacking(&subject.capabilities, &spec) {
        open(&spec)?.ok_or(format!(
            "open with {what}, which is not offered: expected a failure, got an open engine"
        ))?;
    }
    spec.options.set(OPTION, "1");
    let found = open(&spec)?;
    let named = found.as_ref().and_then(EngineError::refused_option);
    if !named.is_some_and(|name| name.contains(OPTION)) {
        let got = found.map_or("an open engine".to_owned(), |error| format!("{error:?}"));
        return Err(format!(
            "open with the unknown option `{OPTION}`: expected the failure ASSAY_BAD_OPTION with \
             the option's name, got {got}"
        ));
    }
    operations_not_offered_are_refused(subject)
}

/// Returns `good` with each unsupported setting, and that setting's name.
fn lacking(capabilities: &Capabilities, good: &OpenSpec) -> Vec<(String, OpenSpec)> {
    let set = |change: &dyn Fn(&mut OpenSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        spec
    };
    let classes = Durability::ALL.into_iter().filter(|it| !capabilities.durability.contains(it));
    let classes = classes.map(|class| {
        (format!("durability `{class}`"), set(&|spec| spec.settings.durability = class))
    });
    let mut wrong: Vec<_> = classes.collect();
    if !capabilities.has(DIRECT_IO) {
        wrong.push(("direct_io".to_owned(), set(&|spec| spec.settings.direct_io = true)));
    }
    if !capabilities.has(COMPRESSION) {
        let zstd = || Some("zstd".to_owned());
        wrong.push((
            "compression `zstd`".to_owned(),
            set(&|spec| spec.settings.compression = zstd()),
        ));
    }
    wrong
}

fn operations_not_offered_are_refused(subject: &Subject<'_>) -> Result<(), String> {
    with_client(subject, |_, client| {
        let scan = |direction| Op::Scan { start: b"k", limit: 1, direction };
        let ops = [
            (Op::Delete { key: b"k" }, subject.can(OpKind::Delete)),
            (scan(Direction::Forward), subject.directions().contains(&Direction::Forward)),
            (scan(Direction::Reverse), subject.directions().contains(&Direction::Reverse)),
            (Op::MultiGet { keys: &[b"k"] }, subject.can(OpKind::MultiGet)),
            (Op::ScanSequence { from: 0, limit: 1 }, subject.can(OpKind::ScanSequence)),
        ];
        for (op, _) in ops.iter().filter(|(_, is_offered)| !is_offered) {
            match client.attempt(op) {
                Err(EngineError::Unsupported(_)) => {}
                other => {
                    let op = describe(op);
                    return Err(format!(
                        "{op}, which is not offered: expected the failure Unsupported \
                     (ASSAY_UNSUPPORTED), got {other:?}"
                    ));
                }
            }
        }
        Ok(())
    })
}

/// Flush and both compactions preserve every row.
pub(super) fn maintenance_preserves_rows(subject: &Subject<'_>) -> Result<(), String> {
    let (dir, oracle_dir) = (fresh_dir()?, fresh_dir()?);
    let engine = subject.open(dir.path())?;
    let oracle_engine = open_oracle(oracle_dir.path())?;
    let (mut client, mut oracle) = (Client::new(&*engine)?, Client::new(&*oracle_engine)?);
    let writes: Vec<OpKind> = kinds(subject).into_iter().filter(|kind| kind.is_write()).collect();
    let mut stream = Stream::new(SEED, writes, subject);
    let works = [Maintenance::Flush, Maintenance::CompactLevel0, Maintenance::CompactAll];
    for work in works.into_iter().cycle().take(6) {
        for _ in 0..subject.scaled(300) {
            same_answer(&stream.next(), &mut client, &mut oracle)?;
        }
        engine.maintain(work).map_err(|error| format!("{work:?} failed: {error}"))?;
        engine.state().map_err(|error| format!("state failed after {work:?}: {error}"))?;
        same_rows(subject, &mut client, &mut oracle)
            .map_err(|reason| format!("after {work:?}: {reason}"))?;
    }
    drop(client);
    close(engine)
}
