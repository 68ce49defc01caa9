//! What cannot be compared is refused, with what is wrong and what would be needed; what may be
//! compared and shows nothing is called bogus.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::place::{PerDialect, Place};
use crate::refusal::unwrapped;

/// One variant, once, in a blink.
const ALONE: &str = r#"[experiment]
name = "alone"
question = "What does one do?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 500
duration = "50ms"
warmup = "5ms"

[[variant]]
name = "one"
engine = "sqlite"
"#;

/// The experiment and those like it but for one thing, each run once for all tests of this file.
static RUN: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::new();
    let of = |name: &str, changes: &[(&str, &str)]| {
        let mut text = ALONE.replace("\"alone\"", &format!("\"{name}\""));
        for (old, new) in changes {
            assert_eq!(text.matches(old).count(), 1, "{old}");
            text = text.replace(old, new);
        }
        place.write("mine.toml", text);
        let said = place.assay(&["run", "mine.toml"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    };
    let two = ("name = \"one\"", "name = \"two\"");
    of("alone", &[]);
    of("other", &[two]);
    of("big", &[two, ("rows = 500", "rows = 5000")]);
    of("long", &[two, ("\"50ms\"", "\"70ms\"")]);
    of("steps", &[two, ("[\"fillseq\", ", "[\"fillrandom\", ")]);
    of("meaning", &[("engine = \"sqlite\"", "engine = \"lmdb\"")]);
    of("careless", &[two, ("engine = \"sqlite\"", "engine = \"sqlite\"\ndurability = \"none\"")]);
    place
});

fn refusal(arguments: &[&str]) -> String {
    let PerDialect { code, out, err } = RUN.assay(arguments);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    without_stamps(&unwrapped(&err))
}

/// Returns the text with `STAMP` in place of identifiers of experiments.
fn without_stamps(text: &str) -> String {
    let is_stamp = |word: &str| word.len() == 21 && word.as_bytes()[8] == b'T';
    let words = text.split_inclusive([' ', '\n', '/']).map(|word| {
        let bare = word.trim_end_matches([' ', '\n', '/', ':', ',']);
        if is_stamp(bare) { word.replace(bare, "STAMP") } else { word.to_owned() }
    });
    words.collect()
}

/// Returns the directory of the experiment of that name.
fn directory(place: &Place, name: &str) -> PathBuf {
    let entries = fs::read_dir(place.path("results").join(name)).expect("it was run");
    let mut found = entries.map(|entry| entry.expect("an entry").path());
    found.next().expect("it was run")
}

/// Replaces a text in a file.
fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("a file of the results");
    assert!(text.contains(old), "{old}");
    fs::write(path, text.replace(old, new)).expect("a file of the results");
}

#[test]
fn experiments_that_asked_something_else_are_told_apart_with_both_values() {
    assert_snapshot!(refusal(&["compare", "alone", "big"]), @"  × alone/STAMP and big/STAMP cannot be compared: the data are 500 rows of 20 + 400 bytes and 5000 rows of 20 + 400 bytes; run their variants in one experiment, or one of the two again as the other was");
    assert_snapshot!(refusal(&["compare", "alone", "long"]), @"  × alone/STAMP and long/STAMP cannot be compared: readrandom ends after 50.0 ms and after 70.0 ms; run their variants in one experiment, or one of the two again as the other was");
    assert_snapshot!(refusal(&["compare", "alone", "steps"]), @"  × alone/STAMP and steps/STAMP cannot be compared: the steps are fillseq, readrandom and fillrandom, readrandom; run their variants in one experiment, or one of the two again as the other was");
    assert_snapshot!(refusal(&["compare", "alone", "meaning"]), @"  × alone/STAMP and meaning/STAMP cannot be compared: `one` is sqlite in one and lmdb in the other; run their variants in one experiment, or one of the two again as the other was");
}

#[test]
fn a_single_run_has_nothing_to_be_compared_with() {
    assert_snapshot!(refusal(&["compare", "alone/one.c1.r1"]), @"
    × alone/one.c1.r1 is one run of `one`, and nothing it could be compared with was named
    help: name a run of another variant beside it; `assay show EXPERIMENT RUN` shows it alone
    ");
    // The same run twice is one run.
    assert_snapshot!(refusal(&["compare", "alone/one.c1.r1", "alone/one.c1.r1"]), @"
    × alone/one.c1.r1, alone/one.c1.r1 are runs of `one`, and nothing it could be compared with was named
    help: name a run of another variant beside it; `assay show EXPERIMENT RUN` shows them alone
    ");
}

#[test]
fn a_base_that_is_not_there_is_named_with_those_that_are() {
    assert_snapshot!(refusal(&["compare", "alone", "other", "--base", "tow"]), @"  × no variant is named `tow`; the variants are one, two");
}

#[test]
fn one_run_of_each_shows_nothing_and_says_so() {
    let said = RUN.assay(&["compare", "alone", "other"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("one run each") && said.out.contains("may be noise"), "{}", said.out);
    let said = RUN.assay(&["compare", "alone", "other", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.out).expect("JSON");
    let steps = json["comparison"]["steps"].as_array().expect("steps");
    let metrics = |step: &Value| step["cells"][1]["metrics"].as_object().expect("metrics").clone();
    let effects: Vec<Value> =
        steps.iter().flat_map(metrics).map(|(_, metric)| metric["versus_base"].clone()).collect();
    let of_ratios = effects.iter().filter(|effect| !effect.is_null());
    assert!(of_ratios.clone().count() > 20, "{effects:?}");
    for effect in of_ratios {
        assert_eq!(
            (&effect["verdict"], &effect["why"]),
            (&json!("inconclusive"), &json!("one_run"))
        );
    }
}

#[test]
fn other_durability_is_compared_and_called_bogus() {
    let said = RUN.assay(&["compare", "alone", "careless"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for word in ["BOGUS", "A001", "durability classes differ: none, os"] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
}

#[test]
fn a_metric_that_is_none_is_refused_with_those_like_it() {
    let of = |name: &str| refusal(&["compare", "alone", "other", "--metric", name]);
    assert_snapshot!(of("cpu_us_per_ops"), @"
    × no metric is named `cpu_us_per_ops`
    help: did you mean `cpu_us_per_op`?
    ");
    assert_snapshot!(of("write_stalls"), @"
    × no metric is named `write_stalls`
    help: metrics like it: device_writes_per_op, device_write_kib_per_op, server_writes_per_op,
          server_write_kib_per_op, writer_rows_per_s, writer_rate_share
    ");
    assert_snapshot!(of("speed"), @"
    × no metric is named `speed`
    help: GLOSSARY.md lists all; CSV and JSON hold all
    ");
    let said = of("goodput_ops_per_s");
    assert!(said.contains("no step of these runs knows `goodput_ops_per_s`"), "{said}");
    assert!(said.contains("these runs know: ") && said.contains("cpu_us_per_op"), "{said}");
}

#[test]
fn a_metric_that_is_better_neither_way_is_higher_or_lower_and_never_faster() {
    let said = RUN.assay(&["compare", "alone", "other", "--metric", "busy_threads"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("neither more nor less is better"), "{}", said.out);
    assert!(said.out.contains("inconclusive; would see"), "{}", said.out);
    for word in ["faster", "slower", "\u{25b2}", "\u{25bc}"] {
        assert!(!said.out.contains(word), "{word}: {}", said.out);
    }
}

/// Goal: figures of two machines are never told as a difference between engines.
/// Method: the fingerprint in one manifest is changed.
#[test]
fn other_hosts_are_compared_and_called_bogus() {
    let place = copy(&["alone", "other"]);
    let manifest = directory(&place, "other").join("manifest.json");
    replace(&manifest, "\"fingerprint\": \"", "\"fingerprint\": \"0");
    let said = place.assay(&["compare", "alone", "other"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for word in ["BOGUS", "A046"] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
}

#[test]
fn a_record_of_a_newer_program_is_refused_and_listed() {
    let place = copy(&["alone"]);
    let dir = directory(&place, "alone");
    let record = dir.join("runs/one.c1.r1/record.json");
    replace(&record, "\"schema\": 1,", "\"schema\": 7,");
    let said = place.assay(&["compare", "alone"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let told = unwrapped(&said.err);
    assert!(told.contains("record.json has schema 7; this Assay reads up to 1"), "{told}");
    let said = place.assay(&["list"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("0 of 1 runs complete, 1 record is damaged"), "{}", said.out);
    assert!(said.err.contains("runs/one.c1.r1/record.json has schema 7"), "{}", said.err);
}

/// Goal: one damaged file hides nothing but itself. Method: a record is cut short, and then the
/// manifest, and a cut one is listed both with and without what was derived of it before.
#[test]
fn a_damaged_file_is_listed_with_its_path_and_hides_no_other() {
    let place = copy(&["alone", "other"]);
    let listed = |words: &[&str]| {
        let said = place.assay(words);
        assert_eq!(said.code, 0, "{}", said.err);
        (said.out, said.err)
    };
    assert_eq!(listed(&["list"]).1, "");
    let dir = directory(&place, "other");
    fs::write(dir.join("runs/two.c1.r1/record.json"), "{\"schema\": 1, \"id\"").expect("a file");
    let (out, err) = listed(&["list"]);
    assert_eq!(out.matches("1 of 1 runs complete  ").count(), 1, "{out}");
    assert_eq!(out.matches("0 of 1 runs complete, 1 record is damaged  ").count(), 1, "{out}");
    assert!(err.contains("runs/two.c1.r1/record.json is damaged: EOF"), "{err}");
    assert_eq!(listed(&["list"]), (out, err), "what was derived says the same");
    let (_, err) = listed(&["list", "other"]);
    assert!(err.contains("runs/two.c1.r1/record.json is damaged: EOF"), "{err}");
    fs::write(dir.join("manifest.json"), "{}").expect("a file");
    let (out, err) = listed(&["list"]);
    assert!(out.lines().count() == 1 && out.starts_with("alone/"), "{out}");
    assert!(err.contains("manifest.json is damaged: missing field"), "{err}");
}

/// Returns a place with copies of some of the experiments.
fn copy(names: &[&str]) -> Place {
    let place = Place::new();
    for name in names {
        copy_dir(&RUN.path("results").join(name), &place.path("results").join(name));
    }
    place
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory of ours");
    for entry in fs::read_dir(from).expect("a directory of ours") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_dir(&path, &place);
        } else {
            fs::copy(&path, place).expect("a file of ours");
        }
    }
}
