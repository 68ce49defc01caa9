//! The host and the port of an address.

use std::net::Ipv6Addr;

use reader::error::PlanError;

use super::text::{check_expanded, decoded, wrong};

/// A host and a port, as far as they are stated.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
}

impl Place {
    /// Reads `host:port`, as it stands between the user and the database.
    pub(super) fn parse(text: &str) -> Result<Self, PlanError> {
        let (name, number) = text.split_once(':').unwrap_or((text, ""));
        check_expanded(name, "host")?;
        check_expanded(number, "port")?;
        if name.contains('(') {
            return Err(wrong("the host is a list of keys, as in MySQL's Connector/J")
                .remedy("write the host and the port alone: mysql://user@host:port/database"));
        }
        if text.contains(',') {
            return Err(several(text));
        }
        if let Some(inside) = text.strip_prefix('[') {
            let Some((host, rest)) = inside.split_once(']') else {
                return Err(wrong("the `[` before the host has no `]`")
                    .remedy("write an IPv6 address in brackets, as in [::1]:5432"));
            };
            let port = match rest.strip_prefix(':') {
                Some(port) => self::port(port)?,
                None if rest.is_empty() => None,
                None => return Err(wrong("only a port may follow the `]` of the host")),
            };
            return Ok(Self { host: Some(ipv6(&host.replace("%25", "%"))?), port });
        }
        if text.contains("::") || text.parse::<Ipv6Addr>().is_ok() {
            return Err(wrong("an IPv6 address stands without brackets")
                .remedy("write the IPv6 address in brackets, as in [::1]:5432"));
        }
        let port = port(number)?;
        Ok(Self { host: host(&decoded(name, "host")?)?, port })
    }
}

/// Returns the port of a text; `None` for an empty one.
///
/// # Errors
/// They do not repeat the text: it may be a password whose `@` was forgotten.
pub(super) fn port(text: &str) -> Result<Option<u16>, PlanError> {
    if text.is_empty() {
        return Ok(None);
    }
    let why = match text.parse::<u64>() {
        Ok(0) => "the port is 0",
        Ok(number) => match u16::try_from(number) {
            Ok(port) => return Ok(Some(port)),
            Err(_too_high) => "the port is above 65535",
        },
        Err(_) if text.bytes().all(|byte| byte.is_ascii_digit()) => "the port is above 65535",
        Err(_) => "the port is not a number",
    };
    Err(wrong(why).remedy("write a port from 1 to 65535, or leave the port out"))
}

/// Checks the decoded name of a host, which may be the directory of a socket; `None` if empty.
pub(super) fn host(name: &str) -> Result<Option<String>, PlanError> {
    if name.is_empty() || name.starts_with('/') {
        return Ok(Some(name.to_owned()).filter(|name| !name.is_empty()));
    }
    if name.contains(',') {
        return Err(several(name));
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    if bare.contains(':') {
        return ipv6(bare).map(Some);
    }
    let is_sign = |sign: char| sign.is_alphanumeric() || "._-".contains(sign);
    match name.chars().find(|sign| !is_sign(*sign)) {
        None => Ok(Some(name.to_owned())),
        Some(sign) if sign.is_whitespace() => Err(wrong("the host has a space in it")),
        Some(sign) => Err(wrong(format!("the host has a `{sign}` in it"))),
    }
}

/// Checks an IPv6 address, which may have a zone.
fn ipv6(text: &str) -> Result<String, PlanError> {
    let (address, zone) = text.split_once('%').unwrap_or((text, "0"));
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    if address.parse::<Ipv6Addr>().is_err() || zone.is_empty() || !zone.chars().all(is_sign) {
        return Err(wrong("the host is not an IPv6 address")
            .remedy("write an IPv6 address in brackets, as in [fe80::1] or [fe80::1%25eth0]"));
    }
    Ok(text.to_owned())
}

/// Returns the error of several hosts, which it names.
fn several(hosts: &str) -> PlanError {
    let name = |host: &str| match host.strip_prefix('[') {
        Some(inside) => format!("[{}]", inside.split(']').next().unwrap_or_default()),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    let names: Vec<_> = hosts.split(',').map(name).collect();
    wrong(format!("the address names several hosts: {}", names.join(", ")))
        .remedy("name one of them: a run measures one server")
}
