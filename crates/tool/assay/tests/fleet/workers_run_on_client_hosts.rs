//! Workers on client hosts, relayed over the connection of a block: nothing is lost or left.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fleet::{Fleet, Order, Outcome, RemoteBlock, RemoteHost, Request, RunLimits, Transport};
use model::{Bytes, Hosts, Nanos};

use crate::fixture::{Fixture, SOON, ended};
use crate::programs::wait_for;
use crate::sshd::SshHosts;

/// A program in the place of Assay, of which the machines get a copy.
///
/// The block requests two workers of `c1` and `c2`, and one of a host without an address. It ends
/// the first worker after its answer, and itself when all have ended.
const PROGRAM: &str = r#"#!/bin/sh
send() { printf '%s\n' "$1"; }
if [ "$1" = worker ]; then
    send 'assay-worker 1'
    send $$
    while read -r line; do
        send "got $line"
        [ "$line" != fail ] || { echo 'no luck' >&2; exit 3; }
    done
    exit 0
fi
send 'assay-block 2'
send $$
read -r run
[ ! -e "$HOME/lives" ] || {
    (while send '"Lives"'; do sleep 0.2; done) &
    echo begins >"$HOME/lives"
    while read -r request; do :; done
    kill $!
    send '{"Ends":{"kind":"stopped"}}'
    exit
}
send '{"Begins":{"machine":"db1","fingerprint":"x"}}'
for worker in 0 1 2; do send '{"StartClient":{"host":'$worker',"worker":'$worker'}}'; done
send '{"ToClient":{"worker":0,"line":"\"one\" two\n"}}'
send '{"ToClient":{"worker":0,"line":"three\n"}}'
send '{"ToClient":{"worker":1,"line":"fail\n"}}'
ended=0
while read -r request; do
    printf '%s\n' "$request" >>"$HOME/requests"
    case $request in
        *three*) [ -e "$HOME/stays" ] || send '{"EndClient":{"worker":0}}' ;;
        *ClientEnded*) ended=$((ended + 1)) ;;
    esac
    [ $ended -lt 3 ] || { send '{"Ends":{"kind":"complete"}}'; exit; }
done
"#;

/// A block on `db1` with the program above.
struct Relay {
    config: PathBuf,
    /// Home directory on the machine.
    home: PathBuf,
    fleet: Fleet,
    connection: Mutex<Option<ChildStdin>>,
    is_stopped: AtomicBool,
    _fixture: Fixture,
}

impl Relay {
    fn new() -> Option<(SshHosts, Self)> {
        let hosts = SshHosts::start(&["db1", "c1", "c2"])?;
        let fixture = Fixture::new(1, "20ms");
        let measured = ended(fixture.run(None, &[]).spawn().expect("Assay starts"), SOON);
        assert_eq!(measured.code, Some(0), "{}", measured.err);
        let (mut manifest, _) = fixture.records();
        manifest.plan.experiment.hosts = Some(Hosts {
            server: "db1".to_owned(),
            address: None,
            clients: ["c1", "c2", "nowhere.invalid"].map(str::to_owned).to_vec(),
            ssh_config: Some(hosts.config().display().to_string()),
        });
        let program = fixture.path("program");
        fs::write(&program, PROGRAM).expect("a scratch directory");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a scratch directory");
        let fleet = Fleet::at(fixture.path("fleet"));
        fleet.create(&program).expect("a scratch directory");
        let (watchdog, disk_floor) = (Nanos::from_secs(60), Bytes(0));
        let order = Order {
            manifest,
            builds: None,
            limits: RunLimits { watchdog, disk_floor, snapshot_limit: None },
            data_dir: None,
            cache_dir: None,
            address: Some("127.0.0.1".to_owned()),
        };
        fleet.write_order(&order).expect("a scratch directory");
        let (connection, is_stopped) = (Mutex::new(None), AtomicBool::new(false));
        let (config, home) = (hosts.config(), hosts.home("db1"));
        let relay = Self { config, home, fleet, connection, is_stopped, _fixture: fixture };
        Some((hosts, relay))
    }

    fn run(&self) -> Outcome {
        let config = Some(self.config.clone());
        let server = Transport::Ssh { host: RemoteHost::at("db1"), config };
        let block = RemoteBlock {
            fleet: &self.fleet,
            block: 1,
            program_sha256: &fleet::sha256_of(&self.fleet.program()).expect("a file"),
            excluded: &[],
            now: runner::now_utc,
            passwords: &BTreeMap::new(),
            connection: &self.connection,
            is_stopped: &self.is_stopped,
        };
        server.run(block).expect("a scratch directory")
    }

    fn requests(&self) -> Vec<Request> {
        let text = fs::read_to_string(self.home.join("requests")).unwrap_or_default();
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the lines and the end of a worker.
    fn of_worker(&self, number: u32) -> Vec<String> {
        let text = |request| match request {
            Request::FromClient { worker, line } if worker == number => Some(line),
            Request::ClientEnded { worker, reason } if worker == number => Some(reason),
            Request::FromClient { .. }
            | Request::ClientEnded { .. }
            | Request::Lives
            | Request::Run { .. }
            | Request::Builds { .. } => None,
        };
        self.requests().into_iter().filter_map(text).collect()
    }
}

fn wait_until_alone(mut hosts: SshHosts) {
    wait_for("no process but the servers", SOON, || {
        (0..3).all(|number| hosts.host(number).processes().len() <= 1).then_some(())
    });
}

/// Goal: each worker gets its lines in order, also those sent before it begins; why it ended is
/// reported; the submitter shows signs of life.
#[test]
fn lines_of_workers_are_relayed() {
    let Some((hosts, relay)) = Relay::new() else { return };
    assert_eq!(relay.run(), Outcome::Complete);
    let first = ["got \"one\" two\n", "got three\n", "it ended with exit code 0"];
    assert_eq!(relay.of_worker(0), first);
    assert_eq!(relay.of_worker(1), ["got fail\n", "it ended with exit code 3 (no luck)"]);
    let [absent] = &relay.of_worker(2)[..] else { panic!("{:?}", relay.requests()) };
    assert!(absent.starts_with("it ended before Assay began there (ssh: "), "{absent}");
    assert!(absent.contains("nowhere.invalid"), "{absent}");
    assert!(relay.requests().iter().any(|request| matches!(request, Request::Lives)));
    wait_until_alone(hosts);
    let logs = fs::read_dir(relay.fleet.path()).unwrap().flatten();
    assert!(!logs.into_iter().any(|it| it.file_name().to_string_lossy().starts_with("client-")));
}

/// Goal: workers end with the connection to the machine of the server.
#[test]
fn workers_end_with_the_block() {
    let Some((hosts, relay)) = Relay::new() else { return };
    fs::write(relay.home.join("stays"), "").unwrap();
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| relay.run());
        wait_for("a worker that waits", SOON, || (relay.of_worker(0).len() == 2).then_some(()));
        relay.is_stopped.store(true, Ordering::Relaxed);
        drop(relay.connection.lock().unwrap().take());
        run.join().unwrap()
    });
    let reason = "it ended before the block did".to_owned();
    assert_eq!(outcome, Outcome::Failed { reason });
    wait_until_alone(hosts);
}

/// Goal: a stop ends a block whose connection was in use when all connections ended.
#[test]
fn a_stop_ends_a_block_whose_connection_stays() {
    let Some((hosts, relay)) = Relay::new() else { return };
    let lives = relay.home.join("lives");
    fs::write(&lives, "").unwrap();
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| relay.run());
        let has_begun = || fs::read(&lives).is_ok_and(|text| !text.is_empty()).then_some(());
        wait_for("the block runs", SOON, has_begun);
        relay.is_stopped.store(true, Ordering::Relaxed);
        wait_for("the block ends", SOON, || run.is_finished().then_some(()));
        run.join().unwrap()
    });
    assert_eq!(outcome, Outcome::Stopped);
    wait_until_alone(hosts);
}

/// Goal: the loss of a client host ends the connection to its worker, and not the block.
#[test]
fn lost_client_host_is_reported() {
    let Some((mut hosts, relay)) = Relay::new() else { return };
    fs::write(relay.home.join("stays"), "").unwrap();
    let outcome = thread::scope(|scope| {
        let run = scope.spawn(|| relay.run());
        wait_for("a worker that waits", SOON, || (relay.of_worker(0).len() == 2).then_some(()));
        hosts.host(1).kill();
        run.join().unwrap()
    });
    assert_eq!(outcome, Outcome::Complete);
    let [_, _, reason] = &relay.of_worker(0)[..] else { panic!("{:?}", relay.requests()) };
    assert!(reason.starts_with("the connection ended"), "{reason}");
}

/// Goal: the address of the server is the one that ssh uses.
#[test]
fn address_of_the_server_is_that_of_ssh() {
    let Some(hosts) = SshHosts::start(&["db1"]) else { return };
    let address = |name| Transport::address(name, Some(&hosts.config()));
    assert_eq!(address("db1").unwrap(), "127.0.0.1");
    assert_eq!(address("me@db2.example").unwrap(), "db2.example");
    let error = Transport::address("db1", Some(&hosts.home("db1").join("no file")))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("ssh -G db1 failed: it printed no host name ("), "{error}");
}

/// Goal: a worker begins with its greeting, ends with its input, and needs the whole machine.
#[test]
fn worker_of_a_stream_needs_the_whole_machine() {
    let fixture = Fixture::new(1, "20ms");
    let command = fixture.assay(None, &["worker", "--stream"]);
    let mut masked = Command::new("taskset");
    masked.args(["--cpu-list", "0"]).arg(command.get_program()).args(command.get_args());
    masked.current_dir(fixture.path("")).stdin(Stdio::null());
    for (mut command, is_refused) in [(command, false), (masked, true)] {
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let (hello, pid) = text.trim_end().split_once('\n').unwrap();
        assert!(hello == "assay-worker 1" && pid.parse::<u32>().is_ok(), "{text}");
        let refusal = String::from_utf8_lossy(&output.stderr);
        let is_whole = thread::available_parallelism().unwrap().get() == 1;
        let has_refused = refusal.contains("this process may use 1 of the ");
        assert_eq!(has_refused, is_refused && !is_whole, "{refusal}");
        assert!(!output.status.success());
    }
}
