//! `[hosts]` names the machines of server and clients: `assay plan` shows what each runs.

use crate::workspace::Workspace;

/// Point reads of a server by clients on two machines.
const FILE: &str = "[experiment]\nname = \"roles\"\nquestion = \"Which?\"\n\
    [benchmark]\nsteps = [\"fillseq\", \"settle\", \"readrandom\"]\nrows = \"1k\"\n\
    [factors]\nclients = [2, 5]\n\
    [hosts]\nserver = \"bench@db1\"\naddress = \"10.0.0.1\"\nclients = [\"c1\", \"c2\"]\n\
    [[variant]]\nname = \"a\"\nengine = \"postgres@15.10\"\n";

#[test]
fn plan_lists_hosts_with_their_clients_and_steps() {
    let workspace = Workspace::new();
    workspace.write("roles.toml", FILE);
    let plan = workspace.assay(&["plan", "roles.toml"]);
    assert_eq!((plan.code, plan.err.as_str()), (0, ""));
    for line in [
        "hosts     server on bench@db1 (address 10.0.0.1), clients on c1, c2",
        "shares    clients 2: 1 on c1, 1 on c2, in readrandom",
        "shares    clients 5: 3 on c1, 2 on c2, in readrandom",
        "first     only c1 runs fillseq, settle",
    ] {
        assert!(plan.out.lines().any(|one| one == line), "{line}\n{}", plan.out);
    }
    assert!(!plan.out.contains("A056") && !plan.out.contains("A079"), "{}", plan.out);
    let json = workspace.assay(&["plan", "roles.toml", "--format", "json"]);
    assert!(json.out.contains("\"address\": \"10.0.0.1\""), "{}", json.out);
    workspace.write("roles.toml", FILE.replace("c2", "db1"));
    let plan = workspace.assay(&["plan", "roles.toml"]);
    workspace.write("hosts.toml", "[[host]]\nname = \"m1\"\n");
    let on = workspace.assay(&["plan", "roles.toml", "--on", "hosts.toml"]);
    assert!(on.code == 1 && on.err.contains("names its machines in [hosts]"), "{}", on.err);
    assert!(plan.out.contains("A079 client host db1 is also the server's host"), "{}", plan.out);
}

#[test]
fn wrong_hosts_are_rejected_with_line_and_remedy() {
    let workspace = Workspace::new();
    for (old, new, message, remedy) in [
        ("\"c2\"", "\"c1\"", "the client host `c1` is named twice", "name each host once"),
        ("postgres@15.10", "sqlite", "[hosts] needs a server", "name an SQL server"),
        ("[2, 5]", "[1]", "step readrandom has 1 client", "give each host a client"),
    ] {
        workspace.write("roles.toml", FILE.replace(old, new));
        let plan = workspace.assay(&["plan", "roles.toml"]);
        let line = plan.err.contains("[roles.toml:");
        assert!(plan.code != 0 && line, "{}", plan.err);
        assert!(plan.err.contains(message) && plan.err.contains(remedy), "{}", plan.err);
    }
}
