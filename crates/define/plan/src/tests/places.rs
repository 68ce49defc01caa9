//! Tests of the places that errors name: a flag, a line of the user's file, or of a named file.

use miette::Diagnostic as _;
use model::setting::Form;
use reader::error::PlanError;

use super::sample::{FILE, MACHINE, TestCatalog};
use crate::experiment::load;
use crate::overrides::Overrides;
use crate::settings::{Kind, flags};

/// An experiment with an application that comes with the program.
const TPROC_C: &str = r#"
[experiment]
name = "sample"
question = "?"
[benchmark]
workload = "tproc-c"
rows = "100k"
[[variant]]
name = "a"
engine = "pg@15"
"#;

fn refused(text: &str, overrides: &Overrides) -> PlanError {
    let catalog = TestCatalog {
        rate_files: vec![("day.csv", "t,rate\n0,5\n0,6\n")],
        ..TestCatalog::default()
    };
    load("mine.toml", text, overrides, &catalog, MACHINE).unwrap_err()
}

/// Returns the name of the text that an error points at, and the part; empty without a place.
fn place(error: &PlanError) -> (String, String) {
    let label = error.labels().and_then(|mut labels| labels.next());
    let found = label.zip(error.source_code()).map(|(label, text)| {
        let lines = text.read_span(label.inner(), 0, 0).expect("the place is in the text");
        let begin = label.offset() - lines.span().offset();
        let part = lines.data().get(begin..begin + label.len()).expect("its lines have the place");
        (lines.name().unwrap_or_default().to_owned(), String::from_utf8_lossy(part).into_owned())
    });
    found.unwrap_or_default()
}

/// Goal: an error of a typed value names its flag, and no line of a file. Method: every flag whose
/// values are checked, with a value that none of them takes.
#[test]
fn wrong_value_of_any_flag_is_reported_with_the_flag() {
    let mut checked = 0;
    let is_free = |kind| matches!(kind, Kind::One(Form::Text | Form::Switch) | Kind::Lines);
    for setting in flags().filter(|setting| !is_free(setting.kind)) {
        // The size of storage is refused in a benchmark of engines, whatever it is.
        let wrong = Overrides::default().with(setting.key, "-?");
        let error = refused(FILE, &wrong);
        let flag = format!("--{}: ", setting.flag());
        assert!(error.to_string().starts_with(&flag), "{flag}{error}");
        assert_eq!(place(&error), Default::default(), "{error}");
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
    for (flag, word) in [("workload", "byry"), ("distribution", "zipff"), ("base", "b")] {
        let error = refused(FILE, &Overrides::default().with(flag, word));
        assert!(error.to_string().starts_with(&format!("--{flag}: ")), "{error}");
    }
    let size = Overrides { size: Some("night".to_owned()), ..Overrides::default() };
    assert_eq!(refused(FILE, &size).to_string(), "--size: no size is named `night`");
}

/// Goal: a value of the experiment that makes a line of a shipped application wrong is reported
/// where it is written. Method: a parameter and rows, written and typed.
#[test]
fn value_that_an_application_cannot_have_is_reported_where_it_is_written() {
    let why = "tproc-c cannot have `names` = 0: ";
    let typed = Overrides { parameters: vec!["names=0".to_owned()], ..Overrides::default() };
    let error = refused(TPROC_C, &typed);
    assert!(error.to_string().starts_with(&format!("--parameter: {why}")), "{error}");
    assert_eq!(place(&error), Default::default());
    let written = TPROC_C.replace("\"100k\"", "\"100k\"\nparameters = { stored = 1, names = 0 }");
    let error = refused(&written, &Overrides::default());
    assert!(error.to_string().starts_with(why), "{error}");
    assert_eq!(place(&error), ("mine.toml".to_owned(), "0".to_owned()));
    for rows in ["20k", "4000000T"] {
        let error = refused(TPROC_C, &Overrides::default().with("rows", rows));
        assert!(error.to_string().starts_with("--rows: "), "{error}");
        assert_eq!(place(&error), Default::default());
    }
}

#[test]
fn error_of_a_named_file_is_shown_in_that_file() {
    let error = refused(FILE, &Overrides::default().with("rate", "file day.csv"));
    assert_eq!(place(&error), ("day.csv".to_owned(), "0,6".to_owned()));
    let catalog = TestCatalog {
        applications: vec![("own.toml", "name = \"own\"\nabut = 1\n".to_owned())],
        ..TestCatalog::default()
    };
    let text = TPROC_C.replace("\"tproc-c\"", "\"own.toml\"");
    let error = load("mine.toml", &text, &Overrides::default(), &catalog, MACHINE).unwrap_err();
    assert_eq!(place(&error), ("own.toml".to_owned(), "abut".to_owned()));
}

#[test]
fn every_line_that_is_not_toml_is_reported_at_once() {
    let text = FILE.replace("name = \"sample\"", "name = sample").replace("rows =", "rows");
    let error = refused(&text, &Overrides::default());
    let others: Vec<_> = error.related().into_iter().flatten().collect();
    assert_eq!((place(&error).0.as_str(), others.len()), ("mine.toml", 1), "{error:?}");
    let begins = |error: &dyn miette::Diagnostic| {
        error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset())
    };
    assert!(begins(&error) < begins(others[0]), "in the order of the file");
}

/// Returns the messages of all errors of the sample in which texts are replaced.
fn messages(replaced: &[(&str, &str)]) -> Vec<String> {
    let text = replaced.iter().fold(FILE.to_owned(), |text, (old, new)| text.replace(old, new));
    let error = refused(&text, &Overrides::default());
    let others = error.related().into_iter().flatten().map(ToString::to_string);
    let mut messages: Vec<_> = std::iter::once(error.to_string()).chain(others).collect();
    messages.sort_unstable();
    messages
}

/// Goal: one check of a file reports whatever is wrong with it. Method: wrong types, values, keys
/// and names in every table.
#[test]
fn wrong_types_values_keys_and_names_are_reported_at_once() {
    let wrong = messages(&[
        ("name = \"sample\"", "name = 5"),
        ("\"overwritesome\"", "\"overwritesum\""),
        ("\"10k\"", "\"many\"\nduration = \"soon\"\ncache = \"big\"\n[factors]\nrepetitions = 0"),
        ("engine = \"tree\"", "engine = \"tre\"\ncashe = 1"),
    ]);
    let expected = [
        "`big` is not a size: write 4096, 64KiB, 512MiB or 2GiB",
        "`many` is not a count: write 1000, 1.5k, 4M or 2B",
        "`soon` is not a duration: write 500ms, 60s, 10m or 2h",
        "expected text in quotes, found integer `5`",
        "repetitions is zero: nothing would be measured",
        "unknown engine `tre`",
        "unknown key `cashe` in [[variant]]",
        "unknown step `overwritesum`",
    ];
    assert_eq!(wrong, expected);
}

/// Goal: two tables have a key `profile`; each error names the other one.
#[test]
fn a_profile_of_the_wrong_kind_is_explained_by_its_table() {
    let help = |old: &str, new: &str| {
        let error = refused(&FILE.replacen(old, new, 1), &Overrides::default());
        error.help().map(|help| help.to_string()).unwrap_or_default()
    };
    let of_benchmark = help("\"10k\"", "\"10k\"\nprofile = \"rocksdb-leveled\"");
    assert!(
        of_benchmark.contains("a profile of engine options belongs in [[variant]]"),
        "{of_benchmark}"
    );
    let of_variant = help("engine = \"tree\"", "engine = \"tree\"\nprofile = true");
    assert!(of_variant.contains("write `profile = true` in [benchmark]"), "{of_variant}");
}

#[test]
fn what_is_wrong_or_mistyped_is_not_reported_as_missing() {
    let steps = "[\"fillseq\", \"overwritesome\", \"readwhilewriting\"]";
    for (old, new, message) in [
        ("rows = \"10k\"", "rows = \"many\"", "`many` is not a count: write 1000, 1.5k, 4M or 2B"),
        ("rows =", "rwos =", "unknown key `rwos` in [benchmark]"),
        ("[[variant]]", "[[variants]]", "unknown key `variants`"),
        ("[benchmark]", "[benchmrak]", "unknown key `benchmrak`"),
        ("engine = \"tree\"", "engine = 5", "expected text in quotes, found integer `5`"),
        ("engine =", "engin =", "unknown key `engin` in [[variant]]"),
        (
            "engine = \"tree\"",
            "engine = \"pg\"\ndsn = 5",
            "expected text in quotes, found integer `5`",
        ),
        (steps, "\"fillseq\"", "expected a list in brackets, found string \"fillseq\""),
        ("rows =", "load = { raet = \"5/s\" }\nrows =", "unknown key `raet` in a load's table"),
    ] {
        assert_eq!(messages(&[(old, new)]), [message], "{new}");
    }
}
