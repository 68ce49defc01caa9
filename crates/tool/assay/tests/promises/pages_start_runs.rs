//! Pages of `assay serve --allow-run` check, start, stop and resume runs, for who has the token.

use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use assert_cmd::cargo::cargo_bin;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::pages::Server;
use crate::workspace::Workspace;

const EXPERIMENT: &str = "[experiment]
name     = \"paged\"
question = \"Does a page start runs?\"
base     = \"one\"

[benchmark]
steps    = [\"readrandom\"]
rows     = \"1k\"
duration = \"2s\"
warmup   = \"100ms\"

[factors]
repetitions = 3

[[variant]]
name   = \"one\"
engine = \"memory\"

[[variant]]
name   = \"two\"
engine = \"memory\"
";

/// Returns a text as a form sends it.
fn form(text: &str) -> String {
    let encoded = text.bytes().map(|byte| format!("%{byte:02x}"));
    format!("text={}", encoded.collect::<String>())
}

/// Waits at most a minute until a value is there.
fn awaited<T>(what: &str, mut value: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(value) = value() {
            return value;
        }
        thread::park_timeout(Duration::from_millis(100));
    }
    panic!("{what} within a minute");
}

/// Follows the page of what was started until it leads to a run; returns the address of the run.
fn started(server: &Server) -> String {
    awaited("it runs", || {
        let answer = server.get("/run/progress/");
        assert!(!answer.body.contains("The command ended"), "{}", answer.body);
        let location = answer.head.lines().find_map(|line| line.strip_prefix("location: "))?;
        Some(location.trim_start_matches("../..").to_owned())
    })
}

/// Returns the identifier of the experiment that a page shows.
fn id(live: &str) -> &str {
    live.trim_start_matches("/e/").trim_end_matches("/live/")
}

/// Waits until a run is begun: a stop before the first run leaves no run.
fn a_run_begins(workspace: &Workspace, live: &str) {
    let runs = workspace.path(&format!("results/{}/runs", id(live)));
    awaited("a run begins", || fs::read_dir(&runs).ok()?.next()?.ok());
}

/// Waits for the end of what was started; returns the page of its output.
fn ended(server: &Server) -> String {
    awaited("it ends", || {
        let answer = server.get("/run/progress/");
        answer.body.contains("The command ended").then_some(answer.body)
    })
}

/// Goal: without the option and without a session nothing can be started.
#[test]
fn only_pages_with_the_token_start_runs() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace);
    assert_eq!(server.get("/run/").status, 404);
    let refused = server.post("/run/start", "", &form(EXPERIMENT));
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body.contains("assay serve --allow-run"), "{}", refused.body);
    let server = Server::with(&workspace, &["--allow-run"]);
    let foreign = server.post("/run/start", "http://elsewhere.example", &form(EXPERIMENT));
    assert_eq!(foreign.status, 403, "{}", foreign.body);
    let stranger = Server::with(&workspace, &["--allow-run", "--new-token"]);
    let stale = server.page("/run/");
    assert!(stale.contains("<textarea"), "{stale}");
    // A server that did not print its token to this client opens no session.
    drop(stranger);
    let known = Server::with(&workspace, &["--allow-run"]);
    assert_eq!(known.get("/run/").status, 401);
    assert_eq!(known.post("/run/check", "", EXPERIMENT).status, 401);
    assert!(!workspace.path("results").exists());
}

/// Goal: the checker of the page is the one of `assay run`, with the place of each error.
#[test]
fn a_page_checks_an_experiment_and_names_the_lines_of_its_errors() {
    let workspace = Workspace::new();
    let server = Server::with(&workspace, &["--allow-run"]);
    let check = |text: &str| -> Value {
        let answer = server.post("/run/check", "", text);
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    };
    let good = check(EXPERIMENT);
    assert_eq!(good["errors"], Value::Array(Vec::new()), "{good}");
    let plan = good["plan"].as_str().expect("a plan");
    assert!(plan.contains("of machine time") && plan.contains("variant   two"), "{plan}");
    let bad = EXPERIMENT.replace("\"1k\"", "\"1kk\"").replace("\"two\"", "\"one\"");
    let bad = check(&bad);
    let lines = bad["errors"].as_array().expect("errors").iter();
    let lines: Vec<_> = lines.map(|error| error["line"].as_u64().expect("a line")).collect();
    assert!(lines.contains(&8) && lines.contains(&20), "{bad}");
    assert_eq!(bad["plan"], "");
    // Without script the same is a page, whose button starts nothing while there are errors.
    let page = server.post("/run/", "", &form("[experiment]\nname = 3\n")).body;
    assert!(page.contains("line 2, column 8"), "{page}");
    assert!(page.contains("id=\"start\" disabled"), "{page}");
    let refused = server.post("/run/start", "", &form("[experiment]\n"));
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(!workspace.path("results").exists());
    // A markup in the text stays text.
    let odd = server.post("/run/", "", &form("</textarea><script>x</script>")).body;
    assert!(!odd.contains("<script>x"), "{odd}");
}

/// Checks that the address of no experiment has no page, and stops and resumes none.
fn no_other_address_acts(server: &Server, live: &str) {
    for action in ["stop", "resume"] {
        assert_eq!(server.post(&format!("{live}{action}"), "", "").status, 400);
    }
    assert_eq!(server.get(live).status, 404);
}

/// Checks that what has ended is sent no signal: another process may have its number.
fn no_command_is_stopped(server: &Server) {
    let over = server.post("/run/progress/stop", "", "");
    assert_eq!(over.status, 400, "{}", over.body);
    assert!(over.body.contains("no command goes on"), "{}", over.body);
}

/// Goal: runs are started, stopped after the run in hand, and resumed to their end.
#[test]
fn runs_are_started_stopped_and_resumed_from_pages() {
    let workspace = Workspace::new();
    let server = Server::with(&workspace, &["--allow-run"]);
    let begun = server.post("/run/start", "", &form(EXPERIMENT));
    assert_eq!(begun.status, 303, "{}", begun.body);
    let live = started(&server);
    let page = server.page(&live);
    assert!(page.contains("Stop after this run"), "{page}");
    let second = server.post("/run/start", "", &form(EXPERIMENT));
    assert_eq!(second.status, 400, "{}", second.body);
    assert!(second.body.contains("are in progress"), "{}", second.body);
    a_run_begins(&workspace, &live);
    no_other_address_acts(&server, &live.replace(id(&live), "paged/20990101T000000Z-ffff"));
    // The experiment's text is in no file that others could read.
    let left = fs::read_dir(workspace.path("scratch")).expect("a directory").count();
    assert_eq!(left, 0);
    let stopped = server.post(&format!("{live}stop"), "", "");
    assert_eq!(stopped.status, 303, "{}", stopped.body);
    assert!(server.page(&format!("{live}?stop=requested")).contains("A stop is requested"));
    let output = ended(&server);
    assert!(output.contains("after the run in hand"), "{output}");
    // A busy host may have begun another run before the request.
    let (_, done) = output.split_once("Runs     ").expect("a count of runs");
    assert!(("1"..="5").contains(&&done[..1]) && done[1..].starts_with(" of 6 runs"), "{output}");
    assert!(!output.contains("interrupted"), "{output}");
    let page = server.page(&live);
    assert!(page.contains("Resume") && !page.contains("Stop now"), "{page}");
    let nothing = server.post(&format!("{live}stop"), "", "");
    assert_eq!(nothing.status, 400, "{}", nothing.body);
    assert_eq!(server.post(&format!("{live}resume"), "", "").status, 303);
    ended(&server);
    let page = server.page(&live);
    assert!(page.contains("6 of 6 runs are complete") && !page.contains("Resume"), "{page}");
    no_command_is_stopped(&server);
}

/// Goal: runs of a terminal are not disturbed by those of a page.
#[test]
fn a_page_starts_nothing_while_runs_are_in_progress() {
    let workspace = Workspace::new();
    workspace.write("own.toml", EXPERIMENT);
    let server = Server::with(&workspace, &["--allow-run"]);
    let mut run = Command::new(cargo_bin("assay"));
    run.args(["run", "own.toml", "--disk-floor", "1MiB"]).current_dir(workspace.path(""));
    run.env("XDG_CACHE_HOME", workspace.path("cache"));
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    awaited("it is listed", || server.page("/").contains("runs are in progress").then_some(()));
    let refused = server.post("/run/start", "", &form(EXPERIMENT));
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("are in progress"), "{}", refused.body);
    run.kill().expect("own child");
    run.wait().expect("own child");
}

/// Goal: a server that does not start leaves the token of others as it is.
#[test]
fn a_port_in_use_replaces_no_token() {
    let workspace = Workspace::new();
    let server = Server::with(&workspace, &["--allow-run"]);
    let hash = fs::read(workspace.path("cache/assay/serve-token")).expect("a hash");
    let again = ["serve", "--listen", server.address(), "--allow-run", "--new-token"];
    let refused = workspace.assay(&again);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert_eq!(fs::read(workspace.path("cache/assay/serve-token")).expect("a hash"), hash);
    assert_eq!(server.get("/run/").status, 200);
}

/// Goal: a server that ends stops the runs that it started, and what they measured is stored.
#[test]
fn a_server_that_ends_stops_its_runs() {
    let workspace = Workspace::new();
    let mut server = Server::with(&workspace, &["--allow-run"]);
    server.post("/run/start", "", &form(EXPERIMENT));
    a_run_begins(&workspace, &started(&server));
    kill(Pid::from_raw(server.pid().cast_signed()), Signal::SIGTERM).expect("own child");
    server.wait();
    let shown = workspace.assay(&["list", "--format", "json"]).out;
    assert!(shown.contains("paged"), "{shown}");
    let run = workspace.assay(&["show", "paged"]).out;
    assert!(run.contains("interrupted"), "{run}");
}
