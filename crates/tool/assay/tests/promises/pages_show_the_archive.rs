//! `assay serve` shows the archive in a browser: the figures of the other commands, and nothing
//! else of this host.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::hostile::HostileBundle;
use crate::workspace::Workspace;

/// A server of a workspace's archive.
struct Server {
    child: Child,
    address: String,
}

/// Status, headers and body of an answer.
struct Answered {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start(workspace: &Workspace) -> Self {
        let mut command = Command::new(cargo_bin("assay"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(workspace.path(""));
        command.env("XDG_CACHE_HOME", workspace.path("cache"));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("the address");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    fn open(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let host = &self.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    fn get(&self, path: &str) -> Answered {
        let mut text = Vec::new();
        self.open(path).read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8(text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answered { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// Returns a page that must be there.
    fn page(&self, path: &str) -> String {
        let Answered { status, head, body } = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        body
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("own child");
        self.child.wait().expect("own child");
    }
}

/// Returns the directory of the only experiment of a name.
fn home(server: &Server, name: &str) -> String {
    let list = server.page("/");
    let at = list.find(&format!("href=\"e/{name}/")).expect("it is listed");
    let address = list[at + 6..].split('"').next().expect("an address");
    format!("/{}", address.trim_end_matches("live/"))
}

/// Goal: every part of an experiment has a page, which needs no script and names no path of the
/// host; what no page has is a 404 and no 500.
#[test]
fn every_part_of_an_experiment_has_a_page() {
    let workspace = Workspace::with_pair();
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    let parts =
        ["", "seconds/", "latency/", "costs/", "explained/", "timelines/", "warnings/", "how/"];
    for part in parts {
        let page = server.page(&format!("{home}{part}"));
        assert!(page.contains("Do twins differ?"), "{part}");
        assert!(!page.contains("<style") && !page.contains(" style="), "{part}: inline style");
        assert!(!page.contains(&workspace.path("").display().to_string()), "{part}: a path");
        assert!(!page.contains("href=\"/") && !page.contains("src=\"/"), "{part}: not relative");
    }
    let redirect = server.get(home.trim_end_matches('/'));
    assert_eq!(redirect.status, 303, "{}", redirect.head);
    for absent in ["/e/pair/", "/e/pair/x/", "/e/../pair/", "/x", "/e/pair/..%2f..%2fetc/passwd"] {
        let status = server.get(absent).status;
        assert!([400, 404].contains(&status), "{absent}: {status}");
    }
    let chart = server.get(&format!("{home}chart/seconds-9.json"));
    assert_eq!(chart.status, 404, "{}", chart.body);
}

/// Goal: pages, tables and charts have the figures of the other commands.
#[test]
fn pages_have_the_figures_of_the_commands() {
    let workspace = Workspace::with_pair();
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    let csv = workspace.assay(&["compare", "pair", "--format", "csv"]).out;
    assert_eq!(server.page(&format!("{home}table.csv")), csv);
    let compared = workspace.assay(&["compare", "pair", "--format", "json"]).out;
    let compared: Value = serde_json::from_str(&compared).expect("JSON");
    // The second step reads: its curve passes through the p99 of the record.
    let chart = server.json(&format!("{home}chart/percentiles-1.json"));
    let names: Vec<_> = chart["series"].as_array().expect("series").iter().collect();
    assert_eq!(names.len(), 2, "{chart}");
    let (x, y) = (&names[0]["x"], &names[0]["y"]);
    let at = |quantile: f64| {
        let x = x.as_array().expect("quantiles").iter();
        let place = x.take_while(|one| one.as_f64().expect("a number") < quantile).count();
        y[place].as_f64().expect("ns")
    };
    let of_metric = |name: &str| {
        let metrics = &compared["comparison"]["steps"][1]["cells"][0]["metrics"];
        metrics[name]["mean"].as_f64().expect("a mean")
    };
    // Both runs together, and steps of the curve: half of the distance to 100 % has eight values.
    for (quantile, metric) in [(0.5, "service_ns_p50"), (0.99, "service_ns_p99")] {
        let ratio = at(quantile) / of_metric(metric);
        assert!((0.7..1.5).contains(&ratio), "{metric}: {ratio}");
    }
    let seconds = server.json(&format!("{home}chart/seconds-1.json"));
    assert_eq!(seconds["series"].as_array().expect("runs").len(), 4, "{seconds}");
    let heat = server.json(&format!("{home}chart/heat-1-0.json"));
    let counts = heat["heat"]["counts"].as_array().expect("counts").iter();
    let all: u64 = counts.map(|count| count.as_u64().expect("a count")).sum();
    assert!(all > 1_000, "{all} operations");
}

/// Goal: an address holds the selection, in its shortest form; what it hides is counted, and a
/// value that the experiment does not have is named.
#[test]
fn an_address_holds_the_selection() {
    let workspace = Workspace::with_pair();
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    let all = server.page(&home);
    assert!(all.contains("of 2 comparisons"), "{all}");
    let one = server.page(&format!("{home}?step=readrandom"));
    assert!(one.contains("1 hidden by the selection"), "{one}");
    assert!(one.contains("href=\"latency/?step=readrandom\""), "{one}");
    // What is selected is all that every part shows; the address of a chart stays the same.
    let latency = server.page(&format!("{home}latency/?step=readrandom"));
    let has = |id: &str| latency.contains(&format!("id=\"{id}\""));
    assert!(has("percentiles-1") && !has("percentiles-0"), "{latency}");
    let chart = server.json(&format!("{home}chart/percentiles-1.json?variant=one"));
    assert_eq!(chart["series"].as_array().expect("series").len(), 1, "{chart}");
    let costs = server.page(&format!("{home}costs/?step=readrandom"));
    assert!(!costs.contains("<th class=\"\">fillseq"), "{costs}");
    // The base of the experiment need not be named.
    let plain = server.page(&format!("{home}?base=one&metric=&step=readrandom&step=fillseq"));
    assert!(plain.contains("href=\"latency/\""), "{plain}");
    let other = server.page(&format!("{home}?base=two&margin=5%25"));
    assert!(other.contains("href=\"latency/?base=two&amp;margin=5%25\""), "{other}");
    for (wrong, why) in [
        ("base=three", "no variant is named `three`; there are one, two"),
        ("metric=speed", "no metric is named `speed`"),
        ("margin=lots", "`lots` is not a percentage"),
        ("step=x", "no step is named `x`"),
    ] {
        let answer = server.get(&format!("{home}?{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.body.contains(why), "{wrong}: {}", answer.body);
    }
    let joined = server.page("/compare/?of=pair/one.c1.r1&of=pair/two.c1.r1");
    assert!(joined.contains("Do twins differ?"), "{joined}");
    let twice = server.get("/compare/?of=/etc&of=..");
    assert_eq!(twice.status, 404, "{}", twice.body);
}

/// Goal: the list is filtered, and counts what the filter hides.
#[test]
fn the_list_counts_what_its_filter_hides() {
    let workspace = Workspace::with_pair();
    workspace.import(crate::stored::HELD);
    let server = Server::start(&workspace);
    assert!(server.page("/").contains("<p>2 experiments.</p>"));
    let none = server.page("/?text=nothing+has+this");
    assert!(none.contains("0 of 2 experiments; 2 hidden by the filter"), "{none}");
    let one = server.page("/?text=twins&build=sqlite&from=2026-01-01");
    assert!(one.contains("1 of 2 experiments; 1 hidden by the filter"), "{one}");
    let late = server.page("/?from=2999-01-01");
    assert!(late.contains("0 of 2"), "{late}");
}

/// Goal: nothing in a stranger's results is obeyed by the browser.
#[test]
fn text_in_results_stays_text() {
    let workspace = Workspace::new();
    let mut bundle = HostileBundle::of_pair();
    let markup = "</h1><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    bundle.experiment()["question"] = json!(markup);
    workspace.write("x.assay", bundle.pack());
    assert_eq!(workspace.assay(&["import", "x.assay"]).code, 0);
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    for path in ["/".to_owned(), home.clone(), format!("{home}how/"), format!("{home}live/")] {
        let page = server.page(&path);
        assert!(!page.contains("<script>") && !page.contains("<img"), "{path}: {page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains('\u{202e}'), "{path}: {page}");
    }
}

/// Goal: a run that a terminal started is watched to its end, second by second.
#[test]
fn a_run_in_progress_is_watched_to_its_end() {
    let workspace = Workspace::with_pair_file();
    let mut run = Command::new(cargo_bin("assay"));
    run.args(["run", "readrandom", "--engine", "memory", "--engine", "sqlite", "--rows", "1k"]);
    run.args(["--duration", "3s", "--repetitions", "2", "--disk-floor", "1MiB"]);
    run.current_dir(workspace.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    run.env("XDG_CACHE_HOME", workspace.path("cache"));
    let mut run = run.spawn().expect("the program starts");
    let server = Server::start(&workspace);
    let mut list = String::new();
    while !list.contains("runs are in progress") {
        assert!(
            run.try_wait().expect("own child").is_none(),
            "it ended before it was listed: {list}"
        );
        list = server.page("/");
    }
    let home = home(&server, "quick-readrandom");
    let mut stream = BufReader::new(server.open(&format!("{home}live/events")));
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("events");
    let events: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("event: ")).collect();
    let count = |kind: &str| events.iter().filter(|event| **event == kind).count();
    assert_eq!(events.first(), Some(&"snapshot"), "{text}");
    assert!(count("second") >= 2 && count("run") >= 1 && count("verdict") >= 1, "{events:?}");
    assert_eq!(events.last(), Some(&"end"), "{events:?}");
    // A busy host may leave it without a verdict.
    let code = run.wait().expect("own child").code();
    assert!([Some(0), Some(3)].contains(&code), "{code:?}");
    assert!(server.page(&format!("{home}live/")).contains("4 of 4 runs are complete"));
}
