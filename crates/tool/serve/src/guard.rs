//! Host names and origins that requests may have.
//!
//! A page of another site must not read this server through a name that it has bound to this
//! host's address (DNS rebinding), and must not send forms here.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

use crate::refusal::{FOREIGN_HOST, FOREIGN_ORIGIN, Refusal};

/// The names of a server.
#[derive(Debug)]
pub(crate) struct Guard {
    address: IpAddr,
    public_names: Vec<String>,
}

impl Guard {
    /// Returns the guard of an address with these public names; their ports do not matter.
    pub(crate) fn new(address: IpAddr, public_names: &[String]) -> Self {
        let name = |text: &String| {
            text.parse().map_or_else(|_why| text.clone(), |it: Authority| it.host().to_owned())
        };
        Self { address, public_names: public_names.iter().map(name).collect() }
    }

    /// Refuses a request for a host that is not this one.
    ///
    /// The port may be another: that of a tunnel or of a proxy.
    pub(crate) fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let host: Authority = host.parse().map_err(|_why| FOREIGN_HOST)?;
        let is_one = hosts.next().is_none() && uri.authority().is_none_or(|it| *it == host);
        let is_own = !host.as_str().contains('@') && self.is_own(host.host());
        (is_one && is_own).then_some(()).ok_or(FOREIGN_HOST)
    }

    fn is_own(&self, name: &str) -> bool {
        let own = self.public_names.iter().map(String::as_str).chain(["localhost"]);
        let literal = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        // An address cannot be bound to another host, as a name can be.
        let is_address = literal.is_ok_and(|literal| {
            literal.is_loopback() || literal == self.address || self.address.is_unspecified()
        });
        is_address || { own }.any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// Refuses a request that a page of another origin sent.
///
/// Programs other than browsers send neither header. Source: Fetch Metadata Request Headers (W3C).
pub(crate) fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(HOST).map_or(&b""[..], |host| host.as_bytes());
    let is_own = |origin: &str| {
        let authority = origin.split_once("://").map(|(_scheme, authority)| authority);
        authority.is_some_and(|authority| authority.as_bytes().eq_ignore_ascii_case(host))
    };
    let is_valid = |name: &str, is_valid: &dyn Fn(&str) -> bool| {
        headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(is_valid))
    };
    let is_site = |site: &str| ["same-origin", "none"].contains(&site);
    let is_same = is_valid(ORIGIN.as_str(), &is_own) && is_valid("sec-fetch-site", &is_site);
    is_same.then_some(()).ok_or(FOREIGN_ORIGIN)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn is_served(guard: &Guard, hosts: &[&str], uri: &str) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        guard.check_host(&headers, &uri.parse().unwrap()).is_ok()
    }

    #[test]
    fn own_names_are_those_of_loopback_the_address_and_the_public_names() {
        let names = ["Bench.example.org:8443".to_owned(), "10.0.0.9".to_owned()];
        let guard = Guard::new([192, 0, 2, 1].into(), &names);
        let own = [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:80",
            "192.0.2.1:80",
            "bench.example.org",
            "BENCH.example.org:443",
            "10.0.0.9:80",
        ];
        for host in own {
            assert!(is_served(&guard, &[host], "/"), "{host}");
        }
        let foreign = [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "192.0.2.2",
            "[::2]",
            "localhost:port:80",
            "localhost/",
            "0.0.0.0",
            "x.bench.example.org",
            "127.0.0.1.evil.example",
        ];
        for host in foreign {
            assert!(!is_served(&guard, &[host], "/"), "{host}");
        }
        assert!(is_served(&guard, &["localhost"], "http://localhost/a"));
        assert!(!is_served(&guard, &["localhost"], "http://evil.example/"));
        assert!(!is_served(&guard, &["localhost", "evil.example"], "/"));
        assert!(!is_served(&guard, &[], "/"));
    }

    #[test]
    fn an_unspecified_address_has_every_address_and_no_other_name() {
        let guard = Guard::new([0, 0, 0, 0].into(), &[]);
        let hosts = ["192.0.2.7:80", "[2001:db8::1]:80", "bench.example.org"];
        assert_eq!(hosts.map(|host| is_served(&guard, &[host], "/")), [true, true, false]);
    }

    #[test]
    fn origin_is_the_host_of_the_request() {
        let is_own = |pairs: &[(&str, &str)]| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "localhost:8080".parse().unwrap());
            for (name, value) in pairs {
                headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            }
            check_origin(&headers).is_ok()
        };
        for own in ["http://localhost:8080", "https://LOCALHOST:8080"] {
            assert!(is_own(&[("origin", own), ("sec-fetch-site", "same-origin")]), "{own}");
        }
        assert!(is_own(&[]) && is_own(&[("sec-fetch-site", "none")]));
        for foreign in ["null", "", "http://localhost", "http://localhost:80801", "localhost:8080"]
        {
            assert!(!is_own(&[("origin", foreign)]), "{foreign}");
        }
        let own = ("origin", "http://localhost:8080");
        for site in ["cross-site", "same-site", ""] {
            assert!(!is_own(&[own, ("sec-fetch-site", site)]), "{site}");
        }
        assert!(!is_own(&[own, ("origin", "http://evil.example")]));
    }
}
