//! Tests of the table `[hosts]`.

use miette::Diagnostic as _;
use model::Hosts;
use reader::error::PlanError;

use crate::checked::Checked;
use crate::experiment::load;
use crate::overrides::Overrides;
use crate::tests::sample::{MACHINE, TestCatalog};

/// An experiment of a server and two client hosts.
const FILE: &str = r#"
[experiment]
name = "roles"
question = "?"

[benchmark]
steps = ["fillseq", "settle", "readrandom"]
rows = "10k"

[factors]
clients = [2, 5]

[hosts]
server = "bench@db1"
clients = ["c1", "c2"]

[[variant]]
name = "a"
engine = "pg@15.10"
"#;

fn checked(replaced: &[(&str, &str)]) -> Result<Checked, PlanError> {
    let text = replaced.iter().fold(FILE.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replacen(old, new, 1)
    });
    load("here/roles.toml", &text, &Overrides::default(), &TestCatalog::default(), MACHINE)
}

/// Returns the message, the text at its place, and the remedy.
fn refused(replaced: &[(&str, &str)]) -> (String, String, String) {
    let error = checked(replaced).expect_err(&format!("{replaced:?}"));
    let label = error.labels().and_then(|mut labels| labels.next());
    let text = replaced.iter().fold(FILE.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    let place = label.map(|at| text[at.offset()..at.offset() + at.len()].to_owned());
    let help = error.help().map(|help| help.to_string());
    (error.to_string(), place.unwrap_or_default(), help.unwrap_or_default())
}

#[test]
fn server_and_clients_have_machines() {
    let hosts = |replaced| checked(replaced).unwrap().experiment.hosts;
    let two = Hosts {
        server: "bench@db1".to_owned(),
        clients: vec!["c1".to_owned(), "c2".to_owned()],
        ..Hosts::default()
    };
    assert_eq!(hosts(&[]), Some(two.clone()));
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let one = format!("clients = \"c1\"\naddress = \"10.0.0.1\"\nssh_config = \"{config}\"");
    let one = hosts(&[("clients = [\"c1\", \"c2\"]", &one)]).unwrap();
    assert_eq!((one.clients, one.address.as_deref()), (vec!["c1".to_owned()], Some("10.0.0.1")));
    assert_eq!(one.ssh_config.as_deref(), Some(config));
}

#[test]
fn wrong_hosts_are_rejected_at_their_line() {
    for (old, new, message, place) in [
        ("server =", "sever =", "unknown key `sever` in [hosts]", "sever"),
        ("server = \"bench@db1\"\n", "", "missing field `server`", "[hosts]"),
        ("clients = [\"c1\", \"c2\"]\n", "", "missing field `clients`", "[hosts]"),
        ("[\"c1\", \"c2\"]", "[]", "no client host is named", "[]"),
        ("[\"c1\", \"c2\"]", "5", "expected a text, or a list of texts, found integer `5`", "5"),
        ("\"c2\"", "\"c1\"", "the client host `c1` is named twice", "[\"c1\", \"c1\"]"),
        ("\"c2\"", "\"-oX\"", "`-oX` is not a destination of ssh", "[\"c1\", \"-oX\"]"),
        ("bench@db1", "d b", "`d b` is not a destination of ssh", "\"d b\""),
        ("bench@db1", "d\\nb", "`d b` is not a destination of ssh", "\"d\\nb\""),
        ("\"c2\"", "\"c\\n2\"", "`c 2` is not a destination of ssh", "[\"c1\", \"c\\n2\"]"),
        ("\"c2\"", "\"me@\"", "`me@` is not a destination of ssh", "[\"c1\", \"me@\"]"),
        ("\"c2\"", "\"a@C1\"", "the client host `a@C1` is named twice", "[\"c1\", \"a@C1\"]"),
    ] {
        let (found, at, _) = refused(&[(old, new)]);
        assert_eq!((found.as_str(), at.as_str()), (message, place), "{new}");
    }
}

#[test]
fn wrong_addresses_and_paths_are_rejected_at_their_line() {
    for (line, message) in [
        ("ssh_config = \"/dev/null\"", "cannot read `/dev/null`: it is not a regular file"),
        (
            "ssh_config = \"no.ssh\"",
            "cannot read `here/no.ssh`: No such file or directory (os error 2)",
        ),
        ("address = \"999.1.1.1\"", "`999.1.1.1` is not the name or address of a host"),
        ("address = \"::\"", "`::` is not the name or address of a host"),
        ("address = \"db1:5432\"", "`db1:5432` is not the name or address of a host"),
        ("address = \"a@db1\"", "`a@db1` is not the name or address of a host"),
    ] {
        let (found, at, _) = refused(&[("server =", &format!("{line}\nserver ="))]);
        assert_eq!((found.as_str(), at.as_str()), (message, line.split(' ').nth(2).unwrap()));
    }
}

#[test]
fn engine_in_the_client_has_no_other_machine() {
    let (message, place, remedy) = refused(&[("pg@15.10", "tree")]);
    assert_eq!(message, "variant a: tree runs in the client, and [hosts] needs a server");
    assert_eq!(place, "\"tree\"");
    assert!(remedy.contains("postgres"), "{remedy}");
    let device = FILE.replace("[benchmark]", "[device]").replace("\"10k\"", "1");
    let device = device.replace("steps = [\"fillseq\", \"settle\", \"readrandom\"]", "");
    let device = device.replace("rows = 1", "").split("[[variant]]").next().unwrap().to_owned();
    let error = load("d", &device, &Overrides::default(), &TestCatalog::default(), MACHINE);
    assert_eq!(error.unwrap_err().to_string(), "[hosts] does not apply to storage");
}

/// Goal: a server that only its own machine reaches is refused. Method: addresses of a running
/// server, with and without `address`.
#[test]
fn clients_must_reach_a_running_server() {
    let dsn = |dsn: &str| format!("pg\"\ndsn = \"{dsn}");
    let refused = |dsn_: &str| refused(&[("pg@15.10", dsn(dsn_).as_str())]).0;
    let socket = refused("postgres://u@%2Ftmp/bench");
    assert!(socket.contains("cannot reach a unix socket"), "{socket}");
    let loopback = refused("postgres://u@127.0.0.1/bench");
    assert!(loopback.contains("cannot reach a loopback address"), "{loopback}");
    let accepted = |host: &str, address: &str| {
        let dsn = dsn(&format!("postgres://u@{host}/bench"));
        let address = format!("{address}server =");
        checked(&[("pg@15.10", dsn.as_str()), ("server =", address.as_str())]).is_ok()
    };
    assert!(accepted("db1", ""));
    assert!(accepted("127.0.0.1", "address = \"::1\"\n"));
    assert!(!accepted("127.0.0.1", "address = \"10.0.0.1\"\n"));
}

#[test]
fn features_of_one_machine_are_rejected() {
    let with = |line: &str| refused(&[("rows = \"10k\"", &format!("rows = \"10k\"\n{line}"))]);
    let (placed, place, remedy) = with("placement = \"split\"");
    assert_eq!(placed, "`placement` needs client and server on one machine");
    assert_eq!(
        (place.as_str(), remedy.as_str()),
        ("\"split\"", "leave out `placement`, or [hosts]")
    );
    let (profiled, place, _) = with("profile = true");
    assert_eq!(profiled, "`profile` needs client and server on one machine");
    assert_eq!(place, "true");
}

/// Goal: what one worker must do is refused on two client hosts, and accepted on one.
#[test]
fn several_client_hosts_share_plain_steps_only() {
    let two = "[\"c1\", \"c2\"]";
    let rows = "rows = \"10k\"";
    let search = "rows = \"10k\"\nload = { sla = \"p99 < 2ms\" }";
    let steps = "steps = [\"fillseq\", \"settle\", \"readrandom\"]";
    let application = "workload = \"ibench-2023\"\nsteps = [\"l.i0\", \"l.x\", \"q100\"]";
    for (replaced, message) in [
        ((rows, search), "step readrandom searches its load, which needs one client host"),
        (("[2, 5]", "\"adaptive\""), "step readrandom searches its load"),
        (("[2, 5]", "[1, 5]"), "step readrandom has 1 client, fewer than the 2 client hosts"),
        ((steps, application), "ibench-2023 needs one client host"),
    ] {
        let (found, place, _) = refused(&[replaced]);
        assert!(found.starts_with(message), "{found}");
        assert!(!place.is_empty(), "{found} has no place");
        let accepted = checked(&[replaced, (two, "\"c1\"")]);
        assert!(accepted.is_ok(), "{:?}", accepted.err());
    }
}
