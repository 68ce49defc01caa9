//! Parsers of the values of settings.

use std::net::IpAddr;
use std::str::FromStr;

use model::client_host::repeated_host;
use model::limits::{
    CLIENTS_MAX, COMPRESSIBLE_TO_MIN, KEY_BYTES_MIN, LEVELS_MAX, MEMORY_MIN, VALUE_BYTES_MAX,
    is_destination,
};
use model::setting::{parse_short_size, parse_whole};
use model::units::parse_size;
use model::{Bytes, Expected, in_line};
use reader::error::PlanError;
use reader::place::Place;

/// Label of the place of a quantity that is zero.
const ABOVE_ZERO: &str = "must be more than zero";

/// Returns any text.
pub(crate) fn text(text: &str) -> Result<String, PlanError> {
    Ok(text.to_owned())
}

/// Parses one of the names of a type.
pub(crate) fn named<T: FromStr<Err = String>>(text: &str) -> Result<T, PlanError> {
    Ok(text.parse()?)
}

/// Checks that a quantity is not zero; `what` names it in the message.
pub(crate) fn above_zero<T: PartialEq + Default>(what: &str, value: T) -> Result<T, PlanError> {
    if value != T::default() {
        return Ok(value);
    }
    let error = PlanError::new(format!("{what} is zero: nothing would be measured"));
    Err(error.at(Place::Unwritten, ABOVE_ZERO).remedy("give more than zero"))
}

/// Parses a number of clients.
pub(crate) fn client_count(text: &str) -> Result<u32, PlanError> {
    check_clients(parse_whole(text)?)
}

/// Checks a number of clients.
fn check_clients(clients: u32) -> Result<u32, PlanError> {
    if clients > CLIENTS_MAX {
        let error = PlanError::new(format!("{clients} client threads are too many"));
        return Err(error.remedy(format!("at most {CLIENTS_MAX}")));
    }
    above_zero("the number of clients", clients)
}

/// Levels of the factor `clients`, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Levels {
    /// Numbers of clients.
    Listed(Vec<u32>),
    /// The numbers that suit the CPUs.
    Sweep,
    /// A search for the best number.
    Adaptive,
}

/// Parses levels of clients.
pub(crate) fn levels(text: &str) -> Result<Levels, PlanError> {
    let levels = text.split(',').map(str::trim).filter(|one| !text.is_empty() || !one.is_empty());
    let listed: Option<Vec<u32>> = levels.map(|level| parse_whole(level).ok()).collect();
    let listed = match (listed, text.trim()) {
        (Some(listed), _) => listed,
        (None, "sweep") => return Ok(Levels::Sweep),
        (None, "adaptive") => return Ok(Levels::Adaptive),
        (None, word) => {
            let otherwise = "write counts such as 1,2,4, or sweep, or adaptive";
            return Err(PlanError::new(format!("unknown levels of clients `{word}`")).meant(
                word,
                ["sweep", "adaptive"],
                otherwise,
            ));
        }
    };
    if listed.is_empty() {
        return Err(PlanError::new("the factor `clients` has no level")
            .at(Place::Unwritten, "for instance [1, 2]"));
    }
    if listed.len() > LEVELS_MAX {
        return Err(PlanError::new(format!("{} levels of clients are too many", listed.len()))
            .remedy(format!("at most {LEVELS_MAX}")));
    }
    for (index, &level) in listed.iter().enumerate() {
        check_clients(level)?;
        if listed[..index].contains(&level) {
            let why = format!("the factor `clients` has the level {level} twice");
            return Err(PlanError::new(why)
                .remedy("name each level once; `repetitions` sets how often each is run"));
        }
    }
    Ok(Levels::Listed(listed))
}

/// Parses the size of a key.
pub(crate) fn key_bytes(text: &str) -> Result<u32, PlanError> {
    let bytes = parse_short_size(text)?;
    let least = KEY_BYTES_MIN;
    let why = format!("keys of {bytes} bytes are too short for a row number: at least {least}");
    if bytes < KEY_BYTES_MIN { Err(why.into()) } else { Ok(bytes) }
}

/// Parses the size of a value.
pub(crate) fn value_bytes(text: &str) -> Result<u32, PlanError> {
    let bytes = parse_short_size(text)?;
    let why = format!("values of {bytes} bytes are too large: at most {VALUE_BYTES_MAX}");
    if bytes > VALUE_BYTES_MAX { Err(why.into()) } else { Ok(bytes) }
}

/// Parses the compressed size of a value, as a share.
pub(crate) fn compressible_to(text: &str) -> Result<f64, PlanError> {
    match text.parse() {
        Ok(share) if (COMPRESSIBLE_TO_MIN..=1.0).contains(&share) => Ok(share),
        _ => {
            Err(format!("`{text}` is not a share of a value's size: write 0.01 to 1, such as 0.5")
                .into())
        }
    }
}

/// Parses a cap on memory.
pub(crate) fn memory(text: &str) -> Result<Bytes, PlanError> {
    let bytes = above_zero("the memory", parse_size(text)?)?;
    let why = format!("a cap of `{text}` is too small for a worker: give 4MiB or more");
    if bytes < MEMORY_MIN { Err(why.into()) } else { Ok(bytes) }
}

/// Parses a seed.
pub(crate) fn seed(text: &str) -> Result<u64, PlanError> {
    text.parse().map_err(|_invalid| format!("`{text}` is not a whole number below 2^64").into())
}

/// Parses a published number, above zero; `what` names it in the message.
pub(crate) fn comparable(what: &str, text: &str) -> Result<f64, PlanError> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err(PlanError::new(format!("{what} of {text} cannot be compared"))
            .at(Place::Unwritten, ABOVE_ZERO)
            .remedy("write a number above zero, as published")),
    }
}

/// Returns a text without the spaces around it, which must not be empty.
pub(crate) fn filled(why: &str, remedy: &str, text: &str) -> Result<String, PlanError> {
    match text.trim() {
        "" => Err(PlanError::new(why).at(Place::Unwritten, "empty").remedy(remedy)),
        text => Ok(text.to_owned()),
    }
}

/// Keywords for a published direction without a number.
pub(crate) const EXPECTED: [(&str, Expected); 5] = [
    ("higher", Expected::Higher),
    ("lower", Expected::Lower),
    ("same", Expected::Same),
    ("not higher", Expected::NotHigher),
    ("not lower", Expected::NotLower),
];

/// Parses a published direction.
pub(crate) fn expected(text: &str) -> Result<Expected, PlanError> {
    let found = EXPECTED.iter().find(|(name, _)| *name == text);
    found.map(|(_, expected)| *expected).ok_or_else(|| {
        PlanError::new(format!("`{text}` is not a known expectation")).meant(
            text,
            EXPECTED.map(|(name, _)| name),
            "write \"higher\", \"lower\", \"same\", \"not higher\" or \"not lower\"; a number goes \
             into `ratio`",
        )
    })
}

/// Parses a list of names without repetition; `key` names it in messages.
pub(crate) fn distinct<T: FromStr<Err = String> + PartialEq>(
    key: &str,
    text: &str,
) -> Result<Vec<T>, PlanError> {
    let all: Vec<T> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    let is_twice = |(index, one): (usize, &T)| all[..index].contains(one);
    match all.iter().enumerate().any(is_twice) {
        true => Err(format!("`{key}` names a value twice").into()),
        false if all.is_empty() => Err(format!("`{key}` is empty").into()),
        false => Ok(all),
    }
}

/// Parses a destination of ssh.
pub(crate) fn destination(text: &str) -> Result<String, PlanError> {
    if is_destination(text) {
        return Ok(text.to_owned());
    }
    let text = in_line(text);
    Err(PlanError::new(format!("`{text}` is not a destination of ssh"))
        .remedy("write a host of the ssh configuration, user@address, or slurm:CLASS"))
}

/// Parses destinations of ssh, one a line, none of them twice.
pub(crate) fn destinations(text: &str) -> Result<String, PlanError> {
    if text.is_empty() {
        let error = PlanError::new("no client host is named");
        return Err(error.remedy("name the hosts of the clients, such as [\"c1\", \"c2\"]"));
    }
    let names: Vec<&str> = text.split('\n').collect();
    names.iter().try_for_each(|name| destination(name).map(drop))?;
    match repeated_host(&names) {
        Some(name) => Err(PlanError::new(format!("the client host `{name}` is named twice"))
            .remedy("name each host once: two workers on one host disturb each other")),
        None => Ok(text.to_owned()),
    }
}

/// Parses the address at which clients reach a server.
pub(crate) fn address(text: &str) -> Result<String, PlanError> {
    let is_address = match text.parse::<IpAddr>() {
        Ok(address) => !address.is_unspecified(),
        // A port follows a colon; numbers alone are an address with an error.
        Err(_) => {
            let is_number = |sign: char| sign.is_ascii_digit() || sign == '.';
            is_destination(text) && !text.contains([':', '@']) && !text.chars().all(is_number)
        }
    };
    if is_address {
        return Ok(text.to_owned());
    }
    let text = in_line(text);
    Err(PlanError::new(format!("`{text}` is not the name or address of a host"))
        .remedy("write a name such as db1.lan, or an IP address, without user and port"))
}
