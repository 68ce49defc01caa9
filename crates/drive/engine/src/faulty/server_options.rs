//! Options of the simulated server.

use model::units::{parse_count, parse_size, parse_span};
use model::{Bytes, Nanos, Options};

use super::script::positive;
use crate::error::Result;
use crate::settings_check::refused;

/// Prefix of these options.
const PREFIX: &str = "server.";

/// Every option, for the text of a refusal.
const FORMS: &str = "`server.work = \"SPAN\"`, and with it `server.parallel = N`, \
    `server.debt_per_op = \"SIZE\"`, `server.initial_debt = \"SIZE\"`, \
    `server.pays = \"SIZE/s\"`, and together `server.debt_limit = \"SIZE\"` and \
    `server.slowdown = N`";

/// Most operations that may be served at the same time: more than any test has clients.
const PARALLEL_MAX: u64 = 1024;

/// Capacity and debt of the simulated server.
///
/// Its burst capacity is `parallel / work`; what it can sustain is the lesser of that and
/// `pays_per_s / debt_per_op`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ServerOptions {
    /// Service time of one operation on an idle server.
    pub(super) work: Nanos,
    /// Servers on the one queue.
    pub(super) parallel: usize,
    /// Background work that each operation adds.
    pub(super) debt_per_op: Bytes,
    /// Debt when the engine is opened.
    pub(super) initial_debt: Bytes,
    /// Debt worked off per second, at any load.
    pub(super) pays_per_s: Bytes,
    /// Slowdown above a limit of debt, if any.
    pub(super) throttle: Option<Throttle>,
}

/// Slowdown above a limit of debt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Throttle {
    /// Debt above which operations are slowed down.
    pub(super) above: Bytes,
    /// Factor on the service time above the limit, at least 1.
    pub(super) slowdown: u64,
}

/// Splits `options` into those of the server, if any, and the others.
pub(super) fn read(options: &Options) -> Result<(Option<ServerOptions>, Options)> {
    let (mut own, mut others) = (Options::new(), Options::new());
    for (name, value) in options.iter() {
        let options = if name.starts_with(PREFIX) { &mut own } else { &mut others };
        options.set(name, value);
    }
    if own.is_empty() {
        return Ok((None, others));
    }
    Ok((Some(server(&own)?), others))
}

fn server(own: &Options) -> Result<ServerOptions> {
    let (mut above, mut slowdown) = (None, None);
    let mut server = ServerOptions {
        work: Nanos(0),
        parallel: 1,
        debt_per_op: Bytes(0),
        initial_debt: Bytes(0),
        pays_per_s: Bytes(0),
        throttle: None,
    };
    for (name, value) in own.iter() {
        let refused = |reason: String| refused(name, format!("`{value}`: {reason}"));
        match name.strip_prefix(PREFIX).unwrap_or_default() {
            "work" => server.work = parse_span(value).map_err(refused)?,
            "parallel" => server.parallel = parse_parallel(value).map_err(refused)?,
            "debt_per_op" => server.debt_per_op = parse_size(value).map_err(refused)?,
            "initial_debt" => server.initial_debt = parse_size(value).map_err(refused)?,
            "pays" => server.pays_per_s = parse_rate(value).map_err(refused)?,
            "debt_limit" => above = Some(parse_size(value).map_err(refused)?),
            "slowdown" => slowdown = Some(positive(value).map_err(refused)?),
            _ => return Err(refused(format!("the server has no such option: write {FORMS}"))),
        }
    }
    let missing =
        |option: &str| refused(&format!("{PREFIX}{option}"), format!("is missing: write {FORMS}"));
    if server.work == Nanos(0) {
        return Err(missing("work"));
    }
    server.throttle = match (above, slowdown) {
        (Some(above), Some(slowdown)) => Some(Throttle { above, slowdown }),
        (None, None) => None,
        (Some(_), None) => return Err(missing("slowdown")),
        (None, Some(_)) => return Err(missing("debt_limit")),
    };
    Ok(server)
}

fn parse_parallel(text: &str) -> Result<usize, String> {
    let count = parse_count(text)?;
    match usize::try_from(count) {
        Ok(parallel) if (1..=PARALLEL_MAX).contains(&count) => Ok(parallel),
        _ => Err(format!("write a number from 1 to {PARALLEL_MAX}")),
    }
}

fn parse_rate(text: &str) -> Result<Bytes, String> {
    let size = text.strip_suffix("/s");
    parse_size(size.ok_or_else(|| "not a rate: write 500MiB/s".to_owned())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_option_is_parsed_and_others_pass() {
        let options: Options = [
            ("server.work", "1ms"),
            ("cache", "1"),
            ("server.parallel", "2"),
            ("server.debt_per_op", "1MiB"),
            ("server.initial_debt", "4GiB"),
            ("server.pays", "500MiB/s"),
            ("server.debt_limit", "1GiB"),
            ("server.slowdown", "4"),
            ("servers", "2"),
        ]
        .into_iter()
        .collect();
        let (server, others) = read(&options).unwrap();
        let expected = ServerOptions {
            work: Nanos::from_millis(1),
            parallel: 2,
            debt_per_op: Bytes::MIB,
            initial_debt: Bytes(4 << 30),
            pays_per_s: Bytes(500 << 20),
            throttle: Some(Throttle { above: Bytes::GIB, slowdown: 4 }),
        };
        assert_eq!(server, Some(expected));
        assert_eq!(others, [("cache", "1"), ("servers", "2")].into_iter().collect());
        assert_eq!(read(&others).unwrap(), (None, others));
    }

    #[test]
    fn incomplete_server_is_refused_with_the_remedy() {
        let work = ("server.work", "1ms");
        let cases: [(&[(&str, &str)], &str); 10] = [
            (&[("server.parallel", "2")], "`server.work` refused: is missing: write `server.work"),
            (&[("server.work", "0ms")], "`server.work` refused: is missing"),
            (&[("server.work", "1")], "60s"),
            (&[work, ("server.parallel", "0")], "from 1 to 1024"),
            (&[work, ("server.parallel", "2k")], "from 1 to 1024"),
            (&[work, ("server.pays", "500MiB")], "`500MiB`: not a rate: write 500MiB/s"),
            (&[work, ("server.debt_limit", "1GiB")], "`server.slowdown` refused: is missing"),
            (&[work, ("server.slowdown", "4")], "`server.debt_limit` refused: is missing"),
            (&[work, ("server.slowdown", "0")], "write 1 or more"),
            (&[work, ("server.speed", "9")], "`server.speed` refused: `9`: the server has no such"),
        ];
        for (options, remedy) in cases {
            let error = read(&options.iter().copied().collect()).unwrap_err().to_string();
            assert!(error.contains(remedy), "{options:?}: {error}");
        }
    }
}
