//! Parses the fault script: which fault, at which operations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::units::{parse_count, parse_size, parse_span};
use model::{Bytes, Options};
use rustix::process::Signal;

use super::lie::Lie;
use crate::error::{EngineError, Result};
use crate::settings_check::refused;

/// Name of the option that holds a fault; `fault.NAME` does too.
const FAULT: &str = "fault";

/// Accepted forms, for the text of a refusal.
const FORMS: &str = "`refuse open`, `stall SPAN`, `slow SPAN`, `burn SPAN`, `hang`, \
    `fail [conflict|deadlock|constraint|lost|timeout|fatal]`, \
    `lie [value|truncate|drop|reverse|ignore|forget]`, \
    `die [abort|segv|kill]` or `eat SIZE`, then `at N`, `every N` or `from N`";

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    RefuseOpen,
    Stall(Duration),
    Slow(Duration),
    Burn(Duration),
    Hang,
    Fail(EngineError),
    Lie(Lie),
    /// Ends the process: by this signal, or else it aborts.
    Die(Option<Signal>),
    Eat(Bytes),
}

/// The operations a fault applies to, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    At(u64),
    Every(u64),
    From(u64),
}

impl When {
    /// Returns whether it includes operation `number`.
    pub(super) const fn is_due(self, number: u64) -> bool {
        match self {
            Self::At(at) => number == at,
            Self::Every(period) => number.is_multiple_of(period),
            Self::From(first) => number >= first,
        }
    }
}

/// One line of the script.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) action: Action,
    pub(super) when: When,
    /// Times it was due but did not apply to the operation.
    pending: AtomicU64,
}

impl Fault {
    /// Returns the lie, if the fault is one.
    pub(super) const fn lie(&self) -> Option<Lie> {
        if let Action::Lie(lie) = self.action { Some(lie) } else { None }
    }

    /// Counts operation `number` and returns whether the fault is due or pending.
    pub(super) fn is_pending(&self, number: u64) -> bool {
        if self.when.is_due(number) {
            self.pending.fetch_add(1, Ordering::Relaxed);
        }
        self.pending.load(Ordering::Relaxed) > 0
    }

    /// Takes one pending time; returns `false` when another client was first.
    pub(super) fn take(&self) -> bool {
        let less = |pending: u64| pending.checked_sub(1);
        self.pending.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Restores a time that was taken and did not apply.
    pub(super) fn restore(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }
}

/// Splits `options` into the script and those of the wrapped engine.
pub(super) fn read(options: &Options) -> Result<(Vec<Fault>, Options)> {
    let (mut script, mut others) = (Vec::new(), Options::new());
    for (name, value) in options.iter() {
        if name != FAULT && !name.starts_with("fault.") {
            others.set(name, value);
            continue;
        }
        let (action, when) =
            parse(value).map_err(|reason| refused(name, format!("`{value}`: {reason}")))?;
        script.push(Fault { action, when, pending: AtomicU64::new(0) });
    }
    Ok((script, others))
}

/// Parses one fault, as the module's table describes it.
fn parse(text: &str) -> Result<(Action, When), String> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let (tokens, when) = match tokens.as_slice() {
        [tokens @ .., "at", number] => (tokens, Some(When::At(positive(number)?))),
        [tokens @ .., "every", number] => (tokens, Some(When::Every(positive(number)?))),
        [tokens @ .., "from", number] => (tokens, Some(When::From(positive(number)?))),
        tokens => (tokens, None),
    };
    let action = action(tokens)?;
    if action == Action::RefuseOpen && when.is_some() {
        return Err("`refuse open` has no number: write `refuse open` alone".to_owned());
    }
    Ok((action, when.unwrap_or(When::From(1))))
}

/// Parses a count that is not zero.
pub(super) fn positive(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("write 1 or more".to_owned()),
        number => Ok(number),
    }
}

fn action(tokens: &[&str]) -> Result<Action, String> {
    let span = |text: &str| Ok::<_, String>(Duration::from_nanos(parse_span(text)?.0));
    let failure = "faulty: injected failure".to_owned();
    Ok(match tokens {
        ["refuse", "open"] => Action::RefuseOpen,
        ["stall", text] => Action::Stall(span(text)?),
        ["slow", text] => Action::Slow(span(text)?),
        ["burn", text] => Action::Burn(span(text)?),
        ["hang"] => Action::Hang,
        ["fail", "conflict"] => Action::Fail(EngineError::Conflict(failure)),
        ["fail", "deadlock"] => Action::Fail(EngineError::Deadlock(failure)),
        ["fail", "constraint"] => Action::Fail(EngineError::Constraint(failure)),
        ["fail", "lost"] => Action::Fail(EngineError::LostConnection(failure)),
        ["fail"] | ["fail", "timeout"] => Action::Fail(EngineError::Timeout(failure)),
        ["fail", "fatal"] => Action::Fail(EngineError::Fatal(failure)),
        ["lie"] | ["lie", "value"] => Action::Lie(Lie::Value),
        ["lie", "truncate"] => Action::Lie(Lie::Truncate),
        ["lie", "drop"] => Action::Lie(Lie::Drop),
        ["lie", "reverse"] => Action::Lie(Lie::Reverse),
        ["lie", "ignore"] => Action::Lie(Lie::Ignore),
        ["lie", "forget"] => Action::Lie(Lie::Forget),
        ["die"] | ["die", "abort"] => Action::Die(None),
        ["die", "segv"] => Action::Die(Some(Signal::SEGV)),
        ["die", "kill"] => Action::Die(Some(Signal::KILL)),
        ["eat", text] => Action::Eat(parse_size(text)?),
        _ => return Err(format!("not a fault: write {FORMS}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_parsed() {
        use When::{At, Every, From};
        let span = |ms| Duration::from_millis(ms);
        let failure = || "faulty: injected failure".to_owned();
        let cases = [
            ("refuse open", Action::RefuseOpen, From(1)),
            ("stall 1s at 5000", Action::Stall(span(1_000)), At(5_000)),
            ("stall 3ms every 2k", Action::Stall(span(3)), Every(2_000)),
            ("slow 20us", Action::Slow(Duration::from_micros(20)), From(1)),
            ("burn 20us every 2", Action::Burn(Duration::from_micros(20)), Every(2)),
            ("hang at 7", Action::Hang, At(7)),
            ("fail every 1000", Action::Fail(EngineError::Timeout(failure())), Every(1_000)),
            ("fail conflict from 9", Action::Fail(EngineError::Conflict(failure())), From(9)),
            ("fail deadlock", Action::Fail(EngineError::Deadlock(failure())), From(1)),
            ("fail constraint", Action::Fail(EngineError::Constraint(failure())), From(1)),
            ("fail lost at 5", Action::Fail(EngineError::LostConnection(failure())), At(5)),
            ("fail fatal at 1", Action::Fail(EngineError::Fatal(failure())), At(1)),
            ("lie at 700", Action::Lie(Lie::Value), At(700)),
            ("lie truncate at 700", Action::Lie(Lie::Truncate), At(700)),
            ("lie drop", Action::Lie(Lie::Drop), From(1)),
            ("lie reverse", Action::Lie(Lie::Reverse), From(1)),
            ("lie ignore", Action::Lie(Lie::Ignore), From(1)),
            ("lie forget", Action::Lie(Lie::Forget), From(1)),
            ("die at 3", Action::Die(None), At(3)),
            ("die segv at 900", Action::Die(Some(Signal::SEGV)), At(900)),
            ("die kill at 900", Action::Die(Some(Signal::KILL)), At(900)),
            ("eat 1GiB at 4", Action::Eat(Bytes::GIB), At(4)),
        ];
        for (text, action, when) in cases {
            assert_eq!(parse(text), Ok((action, when)), "{text}");
        }
    }

    #[test]
    fn unknown_fault_is_refused_with_the_remedy() {
        let cases = [
            ("", "`stall SPAN`"),
            ("stal 1s", "`stall SPAN`"),
            ("stall", "`stall SPAN`"),
            ("slow 1 ms", "`slow SPAN`"),
            ("stall 1", "60s"),
            ("stall long at 3", "duration"),
            ("lie sideways", "`lie [value|"),
            ("die at", "`die [abort"),
            ("die at 0", "1 or more"),
            ("die at soon", "count"),
            ("eat 3 elephants at 3", "`eat SIZE`"),
            ("eat 3elephants", "64KiB"),
            ("refuse open at 3", "`refuse open` alone"),
        ];
        for (text, remedy) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.contains(remedy), "{text}: {error}");
        }
    }

    #[test]
    fn refusal_names_the_option_and_other_options_pass() {
        let options: Options = [("fault.9", "explode"), ("x", "1")].into_iter().collect();
        let error = read(&options).unwrap_err().to_string();
        assert!(error.starts_with("option `fault.9` refused: `explode`: not a fault"), "{error}");
        let options: Options =
            [("cache", "1"), ("fault", "hang at 3"), ("faults", "2")].into_iter().collect();
        let (script, others) = read(&options).unwrap();
        assert_eq!(script.len(), 1);
        assert_eq!(others, [("cache", "1"), ("faults", "2")].into_iter().collect());
    }

    #[test]
    fn fault_that_did_not_apply_stays_pending_once_per_due_time() {
        let fault = |when| Fault { action: Action::Hang, when, pending: AtomicU64::new(0) };
        let every = fault(When::Every(10));
        let due: Vec<u64> = (1..=30).filter(|&n| every.is_pending(n) && n != 10).collect();
        assert_eq!(due[0], 11);
        assert!(every.take() && every.take() && every.take() && !every.take());
        let at = fault(When::At(3));
        assert!(
            !at.is_pending(2)
                && at.is_pending(3)
                && at.is_pending(4)
                && at.take()
                && !at.is_pending(5)
        );
    }
}
