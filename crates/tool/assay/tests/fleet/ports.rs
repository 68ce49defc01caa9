//! Ports of the loopback interface that no other test takes.

use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process;

/// First port, and how many there are: below those that the kernel gives to outgoing connections.
const PORTS: (u16, u16) = (20_000, 12_000);
/// Distance between the first ports that two processes try.
const STRIDE: u32 = 37;

/// A port that is free for a daemon until this value is dropped.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) number: u16,
    /// Holds a name that other processes then cannot hold; the kernel frees it with the process.
    _claim: UnixListener,
}

impl Port {
    /// Claims a free port.
    pub(crate) fn claim() -> Self {
        let (first, count) = PORTS;
        let start = u16::try_from(process::id() * STRIDE % u32::from(count)).expect("a remainder");
        let numbers = (0..count).map(|step| first + (start + step) % count);
        numbers.filter_map(Self::claimed).next().expect("one of thousands of ports is free")
    }

    fn claimed(number: u16) -> Option<Self> {
        let name = SocketAddr::from_abstract_name(format!("assay-test-port-{number}")).ok()?;
        let claim = UnixListener::bind_addr(&name).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Self { number, _claim: claim })
    }
}
