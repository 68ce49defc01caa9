//! Tests of the places that errors name: a flag, a line of the user's file, or of a named file.

use miette::Diagnostic as _;
use model::setting::Form;

use super::sample::{FILE, MACHINE, TestCatalog};
use crate::check::load;
use crate::error::PlanError;
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
}
