//! Results are listed, shown, compared and reported from the archive.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::workspace::Workspace;

/// The stored experiment, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| Workspace::with_pair().until_exit());

/// Returns the stdout of a successful command.
fn result_of(arguments: &[&str]) -> String {
    let output = RUN.assay(arguments);
    // The runs of `pair` vary by too much to decide anything.
    let code = if arguments.starts_with(&["compare", "pair"]) { 3 } else { 0 };
    assert_eq!((output.code, output.err.as_str()), (code, ""), "{}", output.out);
    output.out
}

/// Returns the stderr of a failed command.
fn rejection(arguments: &[&str]) -> String {
    let output = RUN.assay(arguments);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    output.err
}

#[test]
fn list_names_experiment_and_runs() {
    let all = result_of(&["list"]);
    assert_eq!(all.lines().count(), 1, "{all}");
    assert!(all.starts_with("pair/20") && all.contains("4 of 4 runs are complete"), "{all}");
    let runs = result_of(&["list", "pair"]);
    let mut names: Vec<_> = runs.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.retain(|name| name.contains(".c1."));
    assert_eq!(names, ["one.c1.r1", "one.c1.r2", "two.c1.r1", "two.c1.r2"]);
    assert_eq!(runs.matches("  complete\n").count(), 4, "{runs}");
}

#[test]
fn show_prints_one_run_or_all_runs() {
    let one = result_of(&["show", "pair", "two.c1.r2"]);
    assert!(one.contains("two.c1.r2\nsqlite") && !one.contains("two.c1.r1"), "{one}");
    assert!(one.contains("THROUGHPUT, not a time") && one.contains("maxop"), "{one}");
    let all = result_of(&["show", "pair"]);
    let count = all.lines().filter(|line| line.starts_with("20") && line.contains('/')).count();
    assert_eq!(count, 4, "{all}");
    // The identifier and the directory name the same experiment.
    let listed = result_of(&["list"]);
    let path = listed.split("  ").next().expect("a name");
    let (_, id) = path.split_once('/').expect("name and identifier");
    assert_eq!(result_of(&["show", id]), all);
    assert_eq!(result_of(&["show", &format!("results/{path}")]), all);
}

/// Returns the mean throughput of each step and variant, by the table of a format.
fn csv_means() -> BTreeMap<(String, String), f64> {
    let csv = result_of(&["compare", "pair", "--format", "csv"]);
    let mut lines = csv.lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    let column = |name| header.iter().position(|known| *known == name).expect("a column");
    let (step, variant) = (column("step"), column("variant"));
    let (metric, mean) = (column("metric"), column("mean"));
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let wanted = rows.filter(|row| row[metric] == "throughput_ops_per_s");
    let key = |row: &[&str]| (row[step].to_owned(), row[variant].to_owned());
    let means: BTreeMap<_, _> =
        wanted.map(|row| (key(&row), row[mean].parse().expect("a number"))).collect();
    assert_eq!(means.len(), 4, "two steps of two variants: {csv}");
    means
}

#[test]
fn csv_and_json_have_the_same_means() {
    let text = result_of(&["compare", "pair", "--format", "json"]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let mut means = BTreeMap::new();
    for step in json["comparison"]["steps"].as_array().expect("steps") {
        for cell in step["cells"].as_array().expect("cells") {
            let name = |value: &Value| value.as_str().expect("a name").to_owned();
            let mean = cell["metrics"]["throughput_ops_per_s"]["mean"].as_f64();
            let key = (name(&step["name"]), name(&cell["variant"]));
            means.insert(key, mean.expect("a mean"));
        }
    }
    assert_eq!(means.len(), 4);
    for (key, of_csv) in csv_means() {
        // The JSON parser may be off by one in the last of 53 bits.
        let of_json = means[&key];
        assert!((of_csv / of_json - 1.0).abs() < 1e-14, "{key:?}: {of_csv} and {of_json}");
    }
}

#[test]
fn text_and_markdown_show_csv_means_with_three_digits() {
    let (text, markdown) = (result_of(&["compare", "pair"]), {
        result_of(&["compare", "pair", "--format", "markdown"])
    });
    for ((step, variant), mean) in csv_means() {
        let shown = three_digits(mean);
        let is_row = |line: &&str| {
            let line = line.trim_start_matches(['|', ' ']);
            line.starts_with(&format!("{variant} ")) && line.contains('[')
        };
        for form in [&text, &markdown] {
            let row = form.lines().find(is_row).expect("a row of the variant");
            assert!(row.contains(&shown), "{step} of {variant}: {shown} in {row}");
        }
    }
}

/// Writes a rate as tables do: three digits and a decimal suffix.
fn three_digits(rate: f64) -> String {
    let (value, suffix) = match rate {
        rate if rate >= 999_500.0 => (rate / 1e6, "M"),
        rate => (rate / 1e3, "k"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {suffix}")
}

#[test]
fn another_base_changes_ratios_but_not_means() {
    let json = |base| {
        let text = result_of(&["compare", "pair", "--base", base, "--format", "json"]);
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let (of_one, of_two) = (json("one"), json("two"));
    let cell = |json: &Value, variant: usize| {
        json["comparison"]["steps"][1]["cells"][variant]["metrics"]["throughput_ops_per_s"].clone()
    };
    assert_eq!(cell(&of_one, 1)["mean"], cell(&of_two, 1)["mean"]);
    assert!(cell(&of_one, 0)["versus_base"].is_null() && cell(&of_two, 1)["versus_base"].is_null());
    let ratio = |metric: Value| metric["versus_base"]["ratio"].as_f64().expect("a ratio");
    let product = ratio(cell(&of_one, 1)) * ratio(cell(&of_two, 0));
    assert!((product - 1.0).abs() < 1e-9, "one to two, and back: {product}");
}

#[test]
fn label_comes_first_and_every_step_has_a_summary() {
    let text = result_of(&["compare", "pair"]);
    let markdown = result_of(&["compare", "pair", "--format", "markdown"]);
    let first = markdown.lines().next().expect("a line").trim_matches('*');
    assert!(first.starts_with("Verdict: ") && first.contains("assay lint pair"), "{first}");
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.starts_with(first), "{text}");
    for step in ["fillseq", "readrandom"] {
        let is_sentence = |line: &str| line.starts_with(&format!("{step}: "));
        assert!(text.lines().any(is_sentence), "no sentence about {step}: {text}");
    }
    let json = result_of(&["compare", "pair", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let label = json["label"].as_str().expect("a label");
    assert!(label == "undecided" && first.starts_with("Verdict: NOTHING DECIDED."), "{first}");
    assert!(json["findings"].as_array().is_some_and(|found| !found.is_empty()));
    let csv = result_of(&["compare", "pair", "--format", "csv"]);
    let header: Vec<_> = csv.lines().next().expect("a header").split(',').collect();
    let column = header.iter().position(|name| *name == "label").expect("a column");
    let is_labelled = |line: &str| line.split(',').nth(column) == Some(label);
    assert!(csv.lines().count() > 4 && csv.lines().skip(1).all(is_labelled), "{csv}");
    // The page shows it right after the question.
    result_of(&["report", "pair", "-o", "labelled.html"]);
    let page = fs::read_to_string(RUN.path("labelled.html")).expect("the page");
    let (header, _) = page.split_once("</header>").expect("a header");
    assert!(header.contains(first), "{header}");
}

#[test]
fn single_runs_are_compared() {
    let text = result_of(&["compare", "pair/two.c1.r1", "pair/one.c1.r2", "--base", "two"]);
    assert!(text.contains("two (base)  1"), "one run each: {text}");
    assert!(!text.contains("planned runs"), "unselected runs are not missing: {text}");
    let output = rejection(&["compare", "pair/three.c1.r1"]);
    assert!(
        output.contains("no run is named `three.c1.r1`") && output.contains("one.c1.r1"),
        "{output}"
    );
}

#[test]
fn costs_are_printed_on_request() {
    assert!(!result_of(&["compare", "pair"]).contains("CPU/op"));
    assert!(result_of(&["compare", "pair", "--costs"]).contains("CPU/op"));
}

#[test]
fn unknown_names_are_rejected_with_known_ones() {
    assert_snapshot!(rejection(&["compare", "pear"]), @"  × there are no results named `pear` in \
                                                        results; `assay list` shows the results \
                                                        there");
    assert_snapshot!(rejection(&["compare", "pair", "--base", "three"]), @"  × no variant is named `three`; the variants are one, two");
    assert_snapshot!(rejection(&["show", "pair", "three.c1.r1"]), @"
    × no run is named `three.c1.r1`
    help: runs: two.c1.r1, one.c1.r1, one.c1.r2, two.c1.r2
    ");
    assert_snapshot!(rejection(&["report", "pear"]), @"  × there are no results named `pear` in \
                                                       results; `assay list` shows the results \
                                                       there");
    let output = RUN.assay(&["compare", "pair", "--format", "xml"]);
    assert_eq!(output.code, 2);
    assert_snapshot!(output.err, @"
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: text, markdown, csv, tsv, json]

    For more information, try '--help'.
    ");
    let empty = Workspace::new().assay(&["list"]);
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
    assert_snapshot!(empty.err, @"no experiment found in results");
}

#[test]
fn report_is_one_self_contained_file() {
    let path = result_of(&["report", "pair", "-o", "page.html"]);
    assert_eq!(path.trim(), "page.html");
    let page = fs::read_to_string(RUN.path("page.html")).expect("the page");
    for word in ["Do twins differ?", "one", "two", "fillseq", "readrandom", "<svg", "<style"] {
        assert!(page.contains(word), "{word}");
    }
    let links = page.match_indices("http").map(|(at, _)| &page[at..page.len().min(at + 40)]);
    let outside: Vec<_> = links.filter(|link| !link.starts_with("http://www.w3.org/")).collect();
    assert_eq!(outside, [""; 0]);
    for loader in ["<script src", "<link", "<img", "url(", "@import"] {
        assert!(!page.contains(loader), "{loader}");
    }
    // Without a name the page is written to the results.
    let default = result_of(&["report", "pair"]);
    assert!(
        fs::metadata(RUN.path(default.trim())).is_ok_and(|file| file.len() > 10_000),
        "{default}"
    );
}

#[test]
fn markdown_post_has_its_pictures() {
    let path = result_of(&["report", "pair", "--markdown", "post"]);
    assert_eq!(path.trim(), "post/report.md");
    let post = fs::read_to_string(RUN.path("post/report.md")).expect("the post");
    let pictures: Vec<_> =
        post.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(pictures.len() >= 3, "{pictures:?}");
    for picture in pictures {
        let svg = fs::read_to_string(RUN.path("post").join(picture)).expect("a picture");
        assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"), "{picture}");
    }
}

#[test]
fn closed_pipe_is_not_an_error() {
    let mut program = Command::new(RUN.program(&[]).get_program())
        .args(["compare", "pair", "--format", "csv"])
        .current_dir(RUN.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = String::new();
    // The pipe is closed when the reader goes out of scope.
    BufReader::new(program.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    let output = program.wait_with_output().expect("it ends");
    assert!(first.starts_with("scope,"), "{first}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(3), "nothing decided");
}

/// Goal: a figure of an operation on a part of a value comes with the way in which it was done.
#[test]
fn show_states_the_ways_of_operations_on_parts_of_values() {
    let workspace = Workspace::new();
    let run = ["run", "fillseq", "append", "fieldread", "--engine", "lmdb", "--rows", "200"];
    let run = [&run[..], &["--duration", "50ms", "--warmup", "0s", "--repetitions", "1"]].concat();
    workspace.recorded(&run);
    let shown = workspace.assay(&["show", "quick-fillseq-append-fieldread", "lmdb.c1.r1"]);
    let ways = "parts of values: field_read native, append read-modify-write";
    assert!(shown.out.contains(ways), "{}{}", shown.out, shown.err);
}
