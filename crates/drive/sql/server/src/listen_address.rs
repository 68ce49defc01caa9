//! The address at which a server listens for clients on other machines.

use std::net::{IpAddr, TcpListener, ToSocketAddrs};

use crate::error::ServerError;

/// An address of this machine, and the name by which clients reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenAddress {
    /// The host name or address to which clients connect.
    pub host: String,
    /// The address at which the server listens.
    pub ip: IpAddr,
}

impl ListenAddress {
    /// Finds the address of this machine that has a name.
    ///
    /// # Errors
    /// When clients on other machines could not reach it, with the remedy.
    pub(crate) fn find(host: &str) -> Result<Self, ServerError> {
        let refuse = |why: &str| {
            ServerError::fatal(format!(
                "clients on other machines cannot reach a server at `{host}`: {why}: set `address` \
                 in [hosts] to an address of a network interface of the server's machine"
            ))
        };
        let found = (host, 0).to_socket_addrs().map_err(|error| refuse(&error.to_string()))?;
        let mut found = found.map(|it| it.ip()).filter(|ip| !ip.is_unspecified());
        let Some(ip) = found.find(|ip| TcpListener::bind((*ip, 0)).is_ok()) else {
            return Err(refuse("no network interface of the server's machine has this address"));
        };
        // Debian maps the name of a machine to 127.0.1.1 on this machine alone.
        let is_name = host != "localhost" && host.parse::<IpAddr>().is_err();
        if is_name && ip.is_loopback() {
            return Err(refuse(&format!("on the server's machine this name means {ip}")));
        }
        Ok(Self { host: host.to_owned(), ip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_this_machine_that_others_reach() {
        for (host, ip) in [("127.0.0.2", "127.0.0.2"), ("localhost", "")] {
            let found = ListenAddress::find(host).unwrap();
            assert!(found.host == host && found.ip.is_loopback(), "{found:?}");
            assert!(ip.is_empty() || found.ip.to_string() == ip, "{found:?}");
        }
        // Source: RFC 5737: a network that no machine has; RFC 6761: a name that no host has.
        for (host, why) in [
            ("192.0.2.1", "no network interface"),
            ("0.0.0.0", "no network interface"),
            ("db1.invalid", "db1.invalid"),
        ] {
            let error = ListenAddress::find(host).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("set `address` in [hosts]"), "{error}");
        }
    }
}
