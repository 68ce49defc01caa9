//! A Slurm cluster on the loopback interface: one controller, several machines.
//!
//! It runs without systemd, control groups or privileges, as the account of the test. That may be
//! root: Slurm then starts each job as the account that submits it, which is root as well.

use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::machine::Machine;
use crate::ports::Port;
use crate::programs::{are_here, wait_for};

/// Programs of a cluster, and their Debian packages.
const PROGRAMS: [&str; 6] = ["munged", "slurmctld", "slurmd", "sbatch", "unshare", "setpriv"];
const PACKAGES: &str = "slurmctld slurmd slurm-client munge util-linux";
/// Longest start of a cluster, which takes a second on an idle machine.
const START_MAX: Duration = Duration::from_secs(60);
/// Longest time until the controller writes a change, with a second to write it.
///
/// Source: `SAVE_MAX_WAIT` in `src/slurmctld/state_save.c` of Slurm 22.05.
const SAVE_MAX: Duration = Duration::from_secs(8);
/// Settings that suit every cluster of tests.
///
/// A lost machine is down after 27 s, and `cred_expire` in `AuthInfo` delays its jobs by 6 s more
/// in place of two minutes. A daemon that is stopped still accepts connections: `MessageTimeout`
/// limits how long the controller waits for its answer. The scheduler `backfill` would not write
/// the starts of jobs to the controller's files: a killed controller would start them once more.
const SETTINGS: &str = "\
ClusterName=assay-test
SlurmctldHost=localhost(127.0.0.1)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2,batch_sched_delay=0
JobRequeue=1
KillWait=2
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=5
MailProg=/bin/true
";

/// A Slurm cluster of this test alone, whose daemons end when it is dropped.
///
/// Its machines are named n1, n2 and so on. All of them are this host: they share its files.
#[derive(Debug)]
pub(crate) struct Cluster {
    // Fields are dropped in this order.
    nodes: Vec<Machine>,
    controller: Option<Machine>,
    _munge: Machine,
    _ports: Vec<Port>,
    dir: TempDir,
}

impl Cluster {
    /// Starts a cluster with one machine for each item of `features` and waits until all are idle.
    ///
    /// An item lists the features of its machine, for constraints: `"bench,nvme"`, or `""`.
    /// Returns `None`, and prints why the test is skipped, if this host has no Slurm.
    pub(crate) fn start(features: &[&str]) -> Option<Self> {
        Self::with_prolog(features, "")
    }

    /// Starts a cluster whose machines run a script of the shell before each job; it may be empty.
    pub(crate) fn with_prolog(features: &[&str], prolog: &str) -> Option<Self> {
        if !are_here(&PROGRAMS, PACKAGES) {
            return None;
        }
        let dir = tempfile::Builder::new().prefix("assay-slurm-").tempdir().expect("a directory");
        let ports: Vec<_> = (0..=features.len()).map(|_| Port::claim()).collect();
        let mut text = settings(dir.path(), features, &ports);
        if !prolog.is_empty() {
            let script = dir.path().join("prolog");
            fs::write(&script, format!("#!/bin/sh\n{prolog}\n")).expect("a scratch directory");
            fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("a file");
            writeln!(text, "Prolog={}", script.display()).expect("a string");
        }
        fs::write(dir.path().join("slurm.conf"), text).expect("a scratch directory");
        fs::create_dir(dir.path().join("state")).expect("a scratch directory");
        let munge = start_munge(dir.path());
        let mut cluster =
            Self { nodes: Vec::new(), controller: None, _munge: munge, _ports: ports, dir };
        cluster.start_controller();
        cluster.nodes = (1..=features.len()).map(|node| cluster.started(node)).collect();
        wait_for("all machines are idle", START_MAX, || {
            let states = cluster.command("sinfo").args(["-h", "-N", "-o", "%T"]).output().ok()?;
            let states = String::from_utf8(states.stdout).expect("Slurm writes UTF-8");
            (states.lines().filter(|state| *state == "idle").count() == features.len())
                .then_some(())
        });
        Some(cluster)
    }

    /// Returns the configuration, which programs of Slurm read if `SLURM_CONF` names it.
    pub(crate) fn config(&self) -> PathBuf {
        self.path("slurm.conf")
    }

    /// Returns a path in the directory of the cluster.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns a command, with the cluster in its environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.config()).current_dir(self.dir.path());
        command
    }

    /// Returns what a command prints.
    ///
    /// # Panics
    /// If the command fails, with what it wrote.
    pub(crate) fn output(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().expect("a program of Slurm");
        assert!(output.status.success(), "{program} {args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("Slurm writes UTF-8")
    }

    /// Returns a machine by its number, from 1: number 2 is n2.
    pub(crate) fn node(&mut self, number: usize) -> &mut Machine {
        &mut self.nodes[number - 1]
    }

    /// Starts a machine again that was killed.
    pub(crate) fn restart_node(&mut self, number: usize) {
        self.nodes[number - 1] = self.started(number);
    }

    /// Kills the controller: jobs go on, and commands of Slurm fail.
    ///
    /// The controller forgets what it did since [`Self::wait_until_saved`]. If it forgets that a
    /// job has started, it starts the job again, and closes the machine on which it still runs.
    pub(crate) fn kill_controller(&mut self) {
        self.controller = None;
    }

    /// Waits until the controller has written all changes so far to its files.
    #[expect(clippy::disallowed_methods, reason = "no file shows which changes are written")]
    pub(crate) fn wait_until_saved() {
        thread::sleep(SAVE_MAX);
    }

    /// Starts the controller (again), which knows the jobs of an earlier one.
    pub(crate) fn start_controller(&mut self) {
        let args = ["-D".to_owned(), "-f".to_owned(), self.config().display().to_string()];
        self.controller = Some(Machine::start("slurmctld", &args, &self.path("slurmctld.log")));
    }

    fn started(&self, number: usize) -> Machine {
        let name = format!("n{number}");
        fs::create_dir_all(self.path(&format!("spool/{name}"))).expect("a scratch directory");
        let config = self.config().display().to_string();
        let args = ["-D".to_owned(), "-N".to_owned(), name, "-f".to_owned(), config];
        Machine::start("slurmd", &args, &self.path(&format!("n{number}.log")))
    }
}

impl Drop for Cluster {
    #[expect(clippy::print_stderr, reason = "a failed test prints the logs of its daemons")]
    fn drop(&mut self) {
        if thread::panicking() {
            for machine in self.controller.iter().chain(&self.nodes) {
                eprintln!("{}", machine.log());
            }
        }
    }
}

/// Returns the text of the configuration.
fn settings(dir: &Path, features: &[&str], ports: &[Port]) -> String {
    let account = account();
    let dir = dir.display();
    let mut text = format!(
        "{SETTINGS}SlurmUser={account}\nSlurmdUser={account}\nAuthType=auth/munge\n\
         CredType=cred/munge\nAuthInfo=socket={dir}/munge.socket,cred_expire=10\n\
         StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool/%n\n\
         SlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/%n.pid\n\
         SlurmctldPort={}\n",
        ports[0].number
    );
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    for (node, (features, port)) in features.iter().zip(&ports[1..]).enumerate() {
        let features = match *features {
            "" => String::new(),
            features => format!(" Features={features}"),
        };
        writeln!(
            text,
            "NodeName=n{} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs={cpus} \
             RealMemory=1000{features}",
            node + 1,
            port.number
        )
        .expect("a string");
    }
    text + "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE\n"
}

/// Returns the name of the account of this process.
pub(crate) fn account() -> String {
    let output = Command::new("id").arg("-un").output().expect("id is here");
    String::from_utf8(output.stdout).expect("accounts have names in UTF-8").trim().to_owned()
}

/// Starts the daemon that authenticates the daemons of a cluster.
fn start_munge(dir: &Path) -> Machine {
    let (key, socket) = (dir.join("munge.key"), dir.join("munge.socket"));
    let mut secret = [0_u8; 64];
    let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut secret));
    random.expect("random bytes");
    fs::write(&key, secret).expect("a scratch directory");
    fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).expect("an own file");
    let dir = dir.display();
    let args = [
        "--foreground".to_owned(),
        // Its directory may lie in one that others write.
        "--force".to_owned(),
        format!("--key-file={}", key.display()),
        format!("--socket={}", socket.display()),
        format!("--pid-file={dir}/munged.pid"),
        format!("--seed-file={dir}/munged.seed"),
    ];
    let munge = Machine::start("munged", &args, &socket.with_extension("log"));
    wait_for("munged answers", START_MAX, || socket.exists().then_some(()));
    munge
}
