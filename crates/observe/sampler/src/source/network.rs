//! The counters of the network interface that clients reach, and retransmissions of TCP.

use std::net::IpAddr;

use model::{Metric, Readings, metric};
use nix::ifaddrs::{InterfaceAddress, getifaddrs};

use crate::kernel_file::read;
use crate::targets::{RunTargets, Sampler};

/// Interface of loopback addresses, most of which are in no list.
const LOOPBACK: &str = "lo";
/// Counters of an interface: metric, position in its line.
///
/// Source: Linux, Documentation/filesystems/proc.rst, section 1.4, `/proc/net/dev`: eight columns
/// of what was received, bytes and packets first, then eight of what was sent.
const COUNTERS: [(Metric, usize); 4] = [
    (metric::NETWORK_RECEIVED_BYTES, 0),
    (metric::NETWORK_RECEIVED_PACKETS, 1),
    (metric::NETWORK_SENT_BYTES, 8),
    (metric::NETWORK_SENT_PACKETS, 9),
];

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let interface = interface_of(targets.network?);
    Some(Box::new(move |_| {
        let mut readings = Readings::new();
        let counters = read("/proc/net/dev").zip(interface.as_ref());
        if let Some((text, interface)) = counters {
            add_counters(&mut readings, &text, interface);
        }
        let retransmits = read("/proc/net/snmp").and_then(|text| retransmits(&text));
        readings.set(metric::TCP_RETRANSMITS, retransmits);
        readings
    }))
}

/// Returns whether an address is one of this machine.
pub fn is_own_address(ip: IpAddr) -> bool {
    interface_of(ip).is_some()
}

/// Returns the name of the interface that has an address.
fn interface_of(ip: IpAddr) -> Option<String> {
    if ip.is_loopback() {
        return Some(LOOPBACK.to_owned());
    }
    let has_it = |it: &InterfaceAddress| {
        let address = it.address.as_ref();
        let four = address.and_then(|it| Some(IpAddr::from(it.as_sockaddr_in()?.ip())));
        let six = address.and_then(|it| Some(IpAddr::from(it.as_sockaddr_in6()?.ip())));
        four.or(six) == Some(ip)
    };
    let found = getifaddrs().ok()?.find(has_it)?.interface_name;
    // A second address may have a label: `eth0:1`.
    Some(found.split(':').next().unwrap_or_default().to_owned())
}

/// Adds the readings of an interface in the text of `/proc/net/dev`.
fn add_counters(readings: &mut Readings, text: &str, interface: &str) {
    let mut lines = text.lines().filter_map(|line| line.trim_start().split_once(':'));
    let Some((_, line)) = lines.find(|(name, _)| *name == interface) else { return };
    let fields: Vec<u64> = line.split_ascii_whitespace().map_while(|it| it.parse().ok()).collect();
    for (metric, at) in COUNTERS {
        readings.set(metric, fields.get(at).copied());
    }
}

/// Returns the segments that TCP has sent again, in the text of `/proc/net/snmp`.
///
/// Source: RFC 4022, `tcpRetransSegs`; Linux, Documentation/networking/snmp_counter.rst.
fn retransmits(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    pairs.find(|(name, _)| *name == "RetransSegs")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:  500    5    0    0    0     0          0         0      500     5    0    0    0 0 0 0
  eth0:78901  234    0    0    0     0          0         0    56789   123    0    0    0 0 0 0
";

    #[test]
    fn counters_are_those_of_the_interface() {
        let mut readings = Readings::new();
        add_counters(&mut readings, DEV, "eth0");
        for (metric, value) in [
            (metric::NETWORK_RECEIVED_BYTES, 78_901.0),
            (metric::NETWORK_RECEIVED_PACKETS, 234.0),
            (metric::NETWORK_SENT_BYTES, 56_789.0),
            (metric::NETWORK_SENT_PACKETS, 123.0),
        ] {
            assert_eq!(readings.value(metric), Some(value), "{metric}");
        }
        let mut none = Readings::new();
        add_counters(&mut none, DEV, "eth");
        assert!(none.is_empty(), "{none:?}");
    }

    #[test]
    fn retransmits_are_found_by_name() {
        let text = "Icmp: InMsgs\nIcmp: 1\nTcp: RtoMin InSegs RetransSegs\nTcp: 200 78 31\n";
        assert_eq!(retransmits(text), Some(31));
        assert_eq!(retransmits("Tcp: RtoMin\nTcp: 200\n"), None);
    }

    /// Goal: each address of this machine has its interface. Method: those that it lists.
    #[test]
    fn interface_is_found_by_its_address() {
        let loopback = interface_of("127.0.0.2".parse().unwrap());
        assert_eq!(loopback.as_deref(), Some(LOOPBACK));
        for listed in getifaddrs().unwrap() {
            let Some(ip) = listed.address.as_ref().and_then(|it| Some(it.as_sockaddr_in()?.ip()))
            else {
                continue;
            };
            let found = interface_of(ip.into()).unwrap();
            assert_eq!(Some(&*found), listed.interface_name.split(':').next());
        }
        // Source: RFC 5737: a network that no machine has.
        let (other, own) = ("192.0.2.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        assert!(is_own_address(own) && !is_own_address(other));
    }
}
