//! Machines that are reached over OpenSSH, on the loopback interface.

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::cluster::account;
use crate::machine::Machine;
use crate::ports::Port;
use crate::programs::{are_here, wait_for};

/// Programs of an ssh server and its client, and their Debian packages.
const PROGRAMS: [&str; 5] = ["sshd", "ssh", "ssh-keygen", "unshare", "setpriv"];
const PACKAGES: &str = "openssh-server openssh-client util-linux";
/// Directory without which a server that root starts refuses to start.
const PRIVILEGE_DIR: &str = "/run/sshd";
/// Longest start of a server, which takes 0.1 s on an idle machine.
const START_MAX: Duration = Duration::from_secs(120);

/// Servers of OpenSSH, each with its processes in one machine; they end when this is dropped.
///
/// Each machine has a separate home directory of the account of the test, and a port. They share
/// the files of this host.
#[derive(Debug)]
pub(crate) struct SshHosts {
    // Fields are dropped in this order.
    hosts: Vec<Machine>,
    _ports: Vec<Port>,
    dir: TempDir,
}

impl SshHosts {
    /// Starts a server for each name, by which the client's configuration finds it.
    ///
    /// A file `.bashrc` in [`Self::home`] is read by each command if the account's shell is bash.
    /// Returns `None`, and prints why the test is skipped, if this host has no OpenSSH server.
    pub(crate) fn start(names: &[&str]) -> Option<Self> {
        if !are_here(&PROGRAMS, PACKAGES) {
            return None;
        }
        let dir = tempfile::Builder::new().prefix("assay-sshd-").tempdir().expect("a directory");
        if rustix::process::getuid().is_root() {
            let made = fs::create_dir(PRIVILEGE_DIR);
            let is_there =
                made.map_or_else(|error| error.kind() == ErrorKind::AlreadyExists, |()| true);
            assert!(is_there, "{PRIVILEGE_DIR} cannot be made");
        }
        make_key(&dir.path().join("client"));
        let ports: Vec<_> = names.iter().map(|_| Port::claim()).collect();
        let started = names.iter().zip(&ports).map(|(name, port)| server(dir.path(), name, port));
        let hosts = started.collect();
        let entries = names.iter().zip(&ports).map(|(name, port)| entry(dir.path(), name, port));
        fs::write(dir.path().join("ssh_config"), entries.collect::<String>())
            .expect("a scratch directory");
        Some(Self { hosts, _ports: ports, dir })
    }

    /// Returns the client's configuration: `ssh -F CONFIG NAME` reaches a machine.
    pub(crate) fn config(&self) -> PathBuf {
        self.dir.path().join("ssh_config")
    }

    /// Returns the home directory on a machine.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        home(self.dir.path(), name)
    }

    /// Returns the command that executes a command of the shell on a machine.
    pub(crate) fn ssh(&self, name: &str, command: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F").arg(self.config()).args([name, command]);
        ssh
    }

    /// Returns a machine by its number in the order of the names, from 0.
    pub(crate) fn host(&mut self, number: usize) -> &mut Machine {
        &mut self.hosts[number]
    }
}

fn home(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("home-{name}"))
}

/// Starts a server and waits until it accepts connections.
fn server(dir: &Path, name: &str, port: &Port) -> Machine {
    fs::create_dir(home(dir, name)).expect("a scratch directory");
    let key = dir.join(format!("host-{name}"));
    make_key(&key);
    // The directory may lie in one that others write: hence no strict modes.
    let text = format!(
        "ListenAddress 127.0.0.1:{}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
         StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n\
         MaxStartups 100\nMaxSessions 100\nSetEnv HOME={}\nSubsystem sftp internal-sftp\n",
        port.number,
        key.display(),
        dir.join("client.pub").display(),
        home(dir, name).display(),
    );
    let config = dir.join(format!("sshd_config-{name}"));
    fs::write(&config, text).expect("a scratch directory");
    let args = ["-D", "-e", "-f"].map(str::to_owned).into_iter();
    let args: Vec<_> = args.chain([config.display().to_string()]).collect();
    let machine = Machine::start("sshd", &args, &dir.join(format!("{name}.log")));
    wait_for("sshd accepts connections", START_MAX, || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port.number)).ok()
    });
    machine
}

/// Returns the lines of the client's configuration about a machine, whose key becomes known.
fn entry(dir: &Path, name: &str, port: &Port) -> String {
    let key = fs::read_to_string(dir.join(format!("host-{name}.pub"))).expect("a key");
    let known = dir.join(format!("known-{name}"));
    fs::write(&known, format!("{name} {key}")).expect("a scratch directory");
    format!(
        "Host {name}\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n  \
         IdentitiesOnly yes\n  UserKnownHostsFile {}\n  HostKeyAlias {name}\n  \
         StrictHostKeyChecking yes\n  BatchMode yes\n",
        port.number,
        account(),
        dir.join("client").display(),
        known.display(),
    )
}

fn make_key(path: &Path) {
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "assay-test", "-f"]).arg(path);
    assert!(keygen.status().expect("ssh-keygen is here").success());
}
