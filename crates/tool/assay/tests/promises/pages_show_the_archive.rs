//! `assay serve` shows the archive in a browser: the figures of the other commands, and nothing
//! else of this host.

use std::fs;
use std::io::{BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::history_finds_changes::repeat;
use crate::hostile::HostileBundle;
use crate::pages::{Server, home};
use crate::stored::ALONE;
use crate::workspace::Workspace;

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
    let points: Vec<_> =
        x.as_array().expect("quantiles").iter().filter_map(Value::as_f64).collect();
    assert!([0.5, 0.9, 0.99, 0.999].iter().all(|named| points.contains(named)), "{points:?}");
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

/// Goal: a replay has each second of the records, in the order of time.
#[test]
fn a_replay_has_the_seconds_of_the_records() {
    let workspace = Workspace::with_pair();
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    let replay = server.json(&format!("{home}live/replay.json"));
    let events = replay.as_array().expect("events");
    let times: Vec<f64> = events.iter().map(|event| event["at_s"].as_f64().expect("s")).collect();
    assert!(times.is_sorted() && times[0] == 0.0, "{times:?}");
    let of = |kind: &str| -> Vec<&Value> {
        let own = events.iter().filter(|event| event["kind"] == kind);
        own.map(|event| &event["data"]).collect()
    };
    assert_eq!(events[0]["kind"], "snapshot");
    assert_eq!((of("run").len(), of("verdict").len()), (4, 4));
    let last = of("verdict")[3];
    assert!(!last["is_preliminary"].as_bool().expect("a flag"), "{last}");
    assert_eq!(server.json(&format!("{home}table.json"))["label"], last["label"]);
    let progress = of("progress");
    assert_eq!(progress.last().expect("progress")["done"], 4);
    let mut count = 0;
    for run in of("run") {
        let id = run["id"].as_str().expect("a run");
        let file = workspace.path("results/pair").join(home.split('/').nth(3).expect("an id"));
        let records = fs::read_to_string(file.join("runs").join(id).join("intervals.jsonl"));
        let records = records.expect("intervals");
        let seconds: Vec<_> =
            of("second").into_iter().filter(|second| second["run"] == id).collect();
        assert_eq!(seconds.len(), records.lines().count(), "{id}");
        for (second, record) in seconds.iter().zip(records.lines()) {
            let record: Value = serde_json::from_str(record).expect("a record");
            let ns = |name: &str| record[name].as_f64().expect("ns");
            let clients = record["clients"].as_object().expect("kinds").values();
            let done: f64 = clients.map(|of| of["counts"]["done"].as_f64().expect("a count")).sum();
            let per_s = done * 1e9 / ns("length_ns");
            let shown = second["per_s"].as_f64().expect("a rate");
            assert!((shown - per_s).abs() <= per_s * 1e-9, "{second}: {record}");
            let end_s = (ns("start_ns") + ns("length_ns")) / 1e9;
            assert!((second["at_s"].as_f64().expect("s") - end_s).abs() < 1e-6, "{second}");
            assert_eq!(second["step"], record["step"]);
            count += 1;
        }
    }
    assert!(count >= 4, "{count} seconds");
}

/// Goal: pages lead to the replay, which can be saved as a file that needs no server.
#[test]
fn a_replay_is_saved_as_one_file() {
    let workspace = Workspace::with_pair();
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    let shown = server.page(&home);
    let leads = shown.contains("href=\"live/\">Replay the runs");
    assert_eq!(leads, serve::has_scripts(), "{shown}");
    let page = server.page(&format!("{home}live/"));
    assert_eq!(page.contains("data-replay=\"replay.json\""), leads, "{page}");
    assert!(!page.contains("data-events"), "{page}");
    let file = server.get(&format!("{home}live/replay.html"));
    assert_eq!(file.status, 200, "{}", file.body);
    assert!(file.head.contains("attachment; filename=\"pair-replay.html\""), "{}", file.head);
    let addresses = ["href=", "src=", "url(", "@import"].map(|name| file.body.split(name).skip(1));
    let own = |rest: &&str| rest.starts_with("\"data:");
    let mut outer = addresses.into_iter().flatten().filter(|rest| !own(rest));
    assert!(outer.all(|rest| !rest.starts_with('"')), "{}", file.body);
    let names = file.body.split("://").skip(1).filter(|rest| !rest.starts_with("www.w3.org/2000/"));
    assert_eq!(names.count(), 0, "an address of another host");
}

/// Goal: nothing in a stranger's results is obeyed by the browser.
#[test]
fn text_in_results_stays_text() {
    let workspace = Workspace::new();
    let mut bundle = HostileBundle::of_pair();
    let markup = "</h1><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    bundle.experiment()["question"] = json!(markup);
    let mut record = bundle.record("one.c1.r1");
    record["end"] = json!({ "how": "failed", "step": "readrandom", "reason": markup });
    let text = serde_json::to_vec(&record).expect("JSON");
    bundle.files.insert("runs/one.c1.r1/record.json".to_owned(), text);
    workspace.write("x.assay", bundle.pack());
    assert_eq!(workspace.assay(&["import", "x.assay"]).code, 0);
    let server = Server::start(&workspace);
    let home = home(&server, "pair");
    for path in ["/".to_owned(), home.clone(), format!("{home}how/"), format!("{home}live/")] {
        let page = server.page(&path);
        assert!(!page.contains("<script>") && !page.contains("<img"), "{path}: {page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains('\u{202e}'), "{path}: {page}");
    }
    let replay = server.page(&format!("{home}live/replay.html"));
    assert!(!replay.contains("<script>alert") && !replay.contains("<img"), "{replay}");
    let (_, rest) = replay.split_once("type=\"application/json\">").expect("the events");
    let (events, _) = rest.split_once("</script>").expect("their end");
    let events: Value = serde_json::from_str(events).expect("JSON");
    let events = events.as_array().expect("events").iter();
    let ends: Vec<_> = events.filter_map(|event| event["data"]["end"].as_str()).collect();
    let shown = markup.replace('\u{202e}', "\\u{202e}");
    assert!(ends.iter().any(|end| end.contains(&shown)), "{ends:?}");
}

/// Multiplies the duration of every step of a stored run; a record is replaced by rename.
fn slow_down(experiment: &Path, factor: f64) {
    let path = experiment.join("runs/one.c1.r1/record.json");
    let mut record: Value =
        serde_json::from_slice(&fs::read(&path).expect("a record")).expect("JSON");
    for step in record["steps"].as_array_mut().expect("steps") {
        let duration_ns = step["duration_ns"].as_f64().expect("a number") * factor;
        step["duration_ns"] = format!("{duration_ns:.0}").parse::<u64>().expect("a number").into();
    }
    let new = experiment.join("new.json");
    fs::write(&new, record.to_string()).expect("a file");
    fs::rename(new, path).expect("a file");
}

/// Fifteen experiments, the last seven slower than the others; returns the last.
fn repeated(workspace: &Workspace) -> PathBuf {
    workspace.import(ALONE);
    let copies: Vec<_> = (10..=23).map(|number| (number, repeat(workspace, number))).collect();
    for (number, copy) in &copies {
        let level = if *number > 16 { 1.5 } else { 1.0 };
        slow_down(copy, level * (1.0 + f64::from(number % 3) / 1_000.0));
    }
    copies.into_iter().last().expect("a copy").1
}

/// Returns the values of a chart's first line.
fn values(chart: &Value) -> Vec<f64> {
    let values = chart["series"][0]["y"].as_array().expect("values").iter();
    values.map(|value| value.as_f64().expect("a number")).collect()
}

/// Goal: the chart of a history has the points and changes of the command.
#[test]
fn charts_of_histories_have_the_points_of_the_command() {
    let workspace = Workspace::new();
    repeated(&workspace);
    let server = Server::start(&workspace);
    let chart = server.json("/history/chart/0.json?step=readrandom&engine=sqlite");
    let query = ["history", "--step", "readrandom", "--engine", "sqlite", "--format", "json"];
    let json: Value = serde_json::from_str(&workspace.assay(&query).out).expect("JSON");
    let known = &json["metrics"][0];
    assert_eq!(values(&chart).len(), 15);
    assert_eq!(known["points"], 15, "{json}");
    let changes = known["change_points"].as_array().expect("changes");
    assert_eq!((changes.len(), chart["marks"].as_array().map(Vec::len)), (1, Some(1)), "{json}");
    let index = usize::try_from(changes[0]["index"].as_u64().expect("an index")).expect("a size");
    assert_eq!(chart["marks"][0]["x"], chart["series"][0]["x"][index], "{chart}");
    let level = &chart["series"][1]["y"];
    assert_eq!((&level[1], &level[2]), (&changes[0]["before"], &changes[0]["after"]), "{chart}");
    let page = server.page("/history/?step=readrandom");
    let parts = [
        "data-chart=\"chart/0.json?step=readrandom\"",
        "id=\"change-0-0\"",
        "href=\"#change-0-0\"",
        "<option value=\"cpu_us_per_op\">",
    ];
    for text in parts {
        assert!(page.contains(text), "{text}: {page}");
    }
    for absent in ["chart/9.json", "chart/x", "chart/0.json?step=none", "x", "chart/0.json/x"] {
        assert_eq!(server.get(&format!("/history/{absent}")).status, 404, "{absent}");
    }
}

/// Goal: a history follows the files: a record that is replaced, and an experiment that is removed.
#[test]
fn histories_follow_the_files() {
    let workspace = Workspace::new();
    let newest = repeated(&workspace);
    let server = Server::start(&workspace);
    let chart = || server.json("/history/chart/0.json?step=readrandom");
    let first = chart();
    assert_eq!(chart(), first, "nothing changed");
    slow_down(&newest, 2.0);
    let (before, after) = (values(&first), values(&chart()));
    assert_eq!(before[..14], after[..14]);
    assert!((before[14] / after[14] - 2.0).abs() < 1e-6, "{before:?} {after:?}");
    fs::remove_dir_all(&newest).expect("the experiment is removed");
    assert_eq!(values(&chart()), before[..14]);
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
    // Who measures learns of the reader.
    let found = workspace.assay(&["lint", "quick-readrandom"]).out;
    assert!(found.contains("A073 watched"), "{found}");
}

/// Goal: the archive as files has every page that it links to, labels included, and no
/// form.
#[test]
fn the_archive_is_written_as_files() {
    let workspace = Workspace::with_pair();
    workspace.import(crate::stored::HELD);
    let written = workspace.assay(&["site", "public"]);
    assert_eq!(written.code, 0, "{}", written.err);
    let list = fs::read_to_string(workspace.path("public/index.html")).expect("the list");
    assert!(!list.contains("not classified yet") && !list.contains("<form"), "{list}");
    let name = list.split("href=\"e/pair/").nth(1).and_then(|rest| rest.split('/').next());
    let home = format!("public/e/pair/{}", name.expect("it is listed"));
    let csv = fs::read_to_string(workspace.path(&format!("{home}/table.csv"))).expect("a table");
    assert_eq!(csv, workspace.assay(&["compare", "pair", "--format", "csv"]).out);
    let mut checked = 0;
    for part in ["", "seconds/", "latency/", "warnings/"] {
        let page = fs::read_to_string(workspace.path(&format!("{home}/{part}index.html")));
        let page = page.expect("a page");
        assert!(!page.contains("<form") && !page.contains("href=\"?"), "{page}");
        for attribute in [" href=\"", " data-chart=\""] {
            let values = page.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
            for value in values.filter(|value| !value.starts_with(['#', 'd'])) {
                let path = workspace.path(&format!("{home}/{part}{value}"));
                let file = if path.is_dir() { path.join("index.html") } else { path };
                assert!(file.is_file() || value.contains("assets/"), "{part}: {value}");
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

/// Goal: files of others stay, and pages of experiments that the archive no longer has go.
#[test]
fn a_written_archive_replaces_its_own_files_alone() {
    let workspace = Workspace::with_pair();
    workspace.import(crate::stored::HELD);
    assert_eq!(workspace.assay(&["site", "public"]).code, 0);
    let of_pair = || fs::read_dir(workspace.path("public/e/pair")).expect("a directory").count();
    assert_eq!(of_pair(), 1);
    fs::remove_dir_all(workspace.path("results/pair")).expect("own files");
    let home = fs::read_dir(workspace.path("public/e/pair")).expect("a directory").flatten().next();
    fs::write(home.expect("a page").path().join("own.txt"), "").expect("a file");
    workspace.write("public/notes.txt", "of another program");
    let again = workspace.assay(&["site", "public"]);
    assert_eq!(again.code, 0, "{}", again.err);
    // The pages are gone, and the file of another program is the last one.
    let home = fs::read_dir(workspace.path("public/e/pair")).expect("a directory").flatten().next();
    let left = fs::read_dir(home.expect("it is not empty").path()).expect("a directory").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["own.txt"]);
    workspace.write("victim", "as before");
    fs::remove_file(workspace.path("public/index.html")).expect("own file");
    symlink(workspace.path("victim"), workspace.path("public/index.html")).expect("a link");
    let refused = workspace.assay(&["site", "public"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("index.html is a link"), "{}", refused.err);
    assert_eq!(fs::read(workspace.path("victim")).expect("a file"), b"as before");
    fs::remove_file(workspace.path("public/index.html")).expect("own link");
    assert!(workspace.path("public/notes.txt").exists());
    workspace.write("mine", "");
    for (taken, why) in [("results", "has files that"), ("mine", "mine")] {
        let refused = workspace.assay(&["site", taken]);
        assert_eq!(refused.code, 1, "{}", refused.out);
        assert!(refused.err.contains(why), "{}", refused.err);
    }
}
