//! File of hosts: machines that are reached over OpenSSH.

use std::collections::BTreeSet;
use std::path::PathBuf;

use model::limits::{NAME_BYTES_MAX, check_name, is_destination};
use reader::error::{Errors, PlanError, Source, refuse};
use reader::syntax::{Fields, Node, parse, text};

/// Keys of the file.
const KEYS: [&str; 2] = ["ssh_config", "host"];
/// Keys of a host.
const HOST_KEYS: [&str; 3] = ["name", "ssh", "data_dir"];

/// Machines that are reached over OpenSSH.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Configuration of OpenSSH's client; its default one if absent.
    pub ssh_config: Option<PathBuf>,
    /// The machines, in the order of the file.
    pub hosts: Vec<RemoteHost>,
}

/// A machine that is reached over OpenSSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteHost {
    /// Name in records and messages.
    pub name: String,
    /// Destination as OpenSSH's client takes it: a host of its configuration, or `user@address`.
    pub ssh: String,
    /// Directory there for the data of running engines; `assay-data` in the cache if absent.
    pub data_dir: Option<PathBuf>,
}

impl RemoteHost {
    /// Returns the machine of a destination of ssh, which names a directory there.
    pub fn at(ssh: &str) -> Self {
        let host = ssh.rsplit('@').next().unwrap_or(ssh);
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
        let name = host.chars().map(|sign| if is_plain(sign) { sign } else { '-' }).collect();
        Self { name, ssh: ssh.to_owned(), data_dir: None }
    }
}

/// Reads a file of hosts.
///
/// # Errors
/// What is wrong in the file, with its place.
pub fn read_hosts(source: &Source) -> Result<Hosts, PlanError> {
    checked(source).map_err(|error| error.within(source))
}

fn checked(source: &Source) -> Result<Hosts, PlanError> {
    let root = parse(source)?;
    let file = Fields::of(&root, "the file of hosts", &KEYS)?;
    let ssh_config = file.get("ssh_config").map(text).transpose()?;
    let (mut hosts, mut names, mut errors) = (Vec::new(), BTreeSet::new(), Errors::default());
    for node in file.list("host")? {
        let Some(host) = errors.ok(host(node)) else { continue };
        if !names.insert(host.name.clone()) {
            let error = format!("two hosts are named `{}`", host.name);
            errors.push(PlanError::here(node.span(), error).remedy("give each its own name"));
        }
        if hosts.iter().any(|one: &RemoteHost| one.ssh == host.ssh) {
            let error = format!("two hosts are reached as `{}`", host.ssh);
            let remedy = "name each machine once: two blocks on one machine disturb each other";
            errors.push(PlanError::here(node.span(), error).remedy(remedy));
        }
        hosts.push(host);
    }
    if hosts.is_empty() && errors.is_empty() {
        errors.push(
            PlanError::new("the file names no host")
                .remedy("add a table for each machine: [[host]] with name = \"c1\""),
        );
    }
    let ssh_config = ssh_config.map(|path| PathBuf::from(path.get_ref()));
    errors.result(Hosts { ssh_config, hosts })
}

fn host(node: &Node<'_>) -> Result<RemoteHost, PlanError> {
    let fields = Fields::of(node, "a host", &HOST_KEYS)?;
    let name = fields.text("name")?;
    check_name("the host's name", name.get_ref(), NAME_BYTES_MAX)
        .map_err(|message| PlanError::here(name.span(), message))?;
    let ssh = fields.get("ssh").map(text).transpose()?;
    if let Some(wrong) = ssh.as_ref().filter(|ssh| !is_destination(ssh.get_ref())) {
        return refuse(
            wrong.span(),
            format!("`{}` is not a destination of ssh", wrong.get_ref()),
            "write a host of the ssh configuration, or user@address",
        );
    }
    Ok(RemoteHost {
        name: (*name.get_ref()).to_owned(),
        ssh: (*ssh.as_ref().unwrap_or(&name).get_ref()).to_owned(),
        data_dir: fields.get("data_dir").map(text).transpose()?.map(|dir| dir.get_ref().into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Hosts, String> {
        read_hosts(&Source::new("hosts.toml", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn hosts_have_names_and_destinations() {
        let hosts = read(
            "ssh_config = \"my ssh\"\n[[host]]\nname = \"c1\"\n[[host]]\nname = \"c2\"\n\
             ssh = \"bench@10.0.0.2\"\ndata_dir = \"/mnt/n v$me\"\n",
        );
        let hosts = hosts.unwrap();
        assert_eq!(hosts.ssh_config, Some("my ssh".into()));
        let [one, two] = &hosts.hosts[..] else { panic!("two hosts") };
        assert_eq!((one.name.as_str(), one.ssh.as_str(), &one.data_dir), ("c1", "c1", &None));
        assert_eq!(
            (two.ssh.as_str(), &two.data_dir),
            ("bench@10.0.0.2", &Some("/mnt/n v$me".into()))
        );
    }

    #[test]
    fn name_of_a_destination_is_the_name_of_a_directory() {
        for (ssh, name) in [("db1", "db1"), ("me@10.0.0.1", "10.0.0.1"), ("fe80::1%e", "fe80--1-e")]
        {
            let host = RemoteHost::at(ssh);
            assert_eq!((host.ssh.as_str(), host.name.as_str()), (ssh, name));
        }
    }

    #[test]
    fn wrong_files_are_refused() {
        for (text, message) in [
            ("", "the file names no host"),
            ("[[host]]\nname = \"a\"\n[[host]]\nname = \"a\"\n", "two hosts are named `a`"),
            ("[[host]]\nname = \"a\"\nssh = \"-oProxyCommand=x\"\n", "`-oProxyCommand=x` is not a"),
            (
                "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\nssh = \"a\"\n",
                "two hosts are reached as `a`",
            ),
            ("[[host]]\nname = \"a\"\nssh = \"a b\"\n", "`a b` is not a destination of ssh"),
            ("[[host]]\nnames = \"a\"\n", "unknown key `names` in a host"),
            ("[[host]]\nname = \"../a\"\n", "the host's name"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
