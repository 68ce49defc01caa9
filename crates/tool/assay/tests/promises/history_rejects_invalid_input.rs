//! `assay history` rejects invalid files and arguments with the remedy.

use insta::assert_snapshot;

use crate::workspace::{ProgramOutput, Workspace};

/// Exit code of an error.
const ERROR: i32 = 2;

/// Returns a message in one line.
fn unwrapped(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the error for a file.
fn rejected(content: impl AsRef<[u8]>, more: &[&str]) -> String {
    let workspace = Workspace::new();
    workspace.write("mine.csv", content);
    let output = workspace.assay(&[&["history", "--import", "mine.csv"], more].concat());
    assert_eq!((output.code, output.out.as_str()), (ERROR, ""), "{}", output.err);
    output.err
}

const FIVE: &str = "time,ops\n1,10\n2,11\n3,10\n4,11\n5,10\n";

#[test]
fn invalid_history_file_is_rejected_by_its_kind_and_place() {
    let files: [(&[u8], &str); 17] = [
        (b"", "the file has no header: the first line names the columns"),
        (b"time\n1\n", "the file has no metric"),
        (b"time,ops\n1,10\n2,NaN\n", "line 3: `NaN` in column `ops` is not a finite number"),
        (b"time,ops\n1,10\n2,ten\n", "line 3: `ten` in column `ops` is not a finite number"),
        (b"time,ops\n1,1e308\n", "line 2: `1e308` in column `ops` is not between 1e-50 and 1e50"),
        (b"time,ops\n1,1 ms\n2,1 s\n", "line 3: column `ops` has the units ms and s"),
        (b"time;ops\n1;251,000\n", "a comma that can separate decimals or thousands"),
        (b"time,ops\n1,10\n2\n", "line 3 has 1 fields and the header has 2"),
        (b"time,ops,ops\n1,10,11\n", "two columns are named `ops`"),
        (b"#time,ops\n1,10\n", "no header: its first line is `1, 10`"),
        (b"\x1f\x8b\x08", "the file is compressed with gzip: decompress it"),
        (b"PK\x03\x04", "a zip archive or a spreadsheet: export it as CSV"),
        (b"time,ops\n1,\xb5\n", "the file is not UTF-8 in line 2"),
        (b"[{\"time\": 1, \"ops\": 2, \"ops\": 3}]", "`ops` is twice in one row"),
        (b"[{\"time\": 1, \"ops\": 2}, {\"ops\": 3}]", "row 1 has no label"),
        (b"[{\"ops\": 2, \"size\": 3}]", "no entry is the label of the rows"),
        (b"[{\"time\": 1, \"ops\": 2},]", "trailing comma"),
    ];
    for (content, expected) in files {
        let error = unwrapped(&rejected(content, &[]));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn file_that_is_newest_first_is_rejected_for_every_kind_of_label() {
    for labels in [
        ["1700000000", "1700086400", "1700172800", "1700259200"],
        ["2026-11-26", "2026-11-27", "2026-11-30", "2026-12-01"],
        [
            "2026-11-26 23:10:34 +0100",
            "2026-11-26 22:20:00 +0000",
            "2026-11-27 01:00:00 +0100",
            "2026-11-27 10:00:00 +0100",
        ],
        ["30.11.2026", "01.12.2026", "02.12.2026", "01.01.2027"],
        ["8.9", "8.10", "8.11", "9.0"],
        ["v8.9-rc1", "v8.9", "v8.9-2-gabc1234", "v8.9-10-gdef5678"],
    ] {
        let file = |labels: &[&str]| {
            let rows = labels.iter().map(|label| format!("{label},10\n"));
            format!("label,ops\n{}", rows.collect::<String>())
        };
        let workspace = Workspace::new();
        workspace.write("mine.csv", file(&labels));
        let output = workspace.assay(&["history", "--import", "mine.csv"]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{labels:?}");
        assert!(!output.out.contains("the order is not checked"), "{labels:?}: {}", output.out);
        let reversed: Vec<&str> = labels.iter().rev().copied().collect();
        let error = unwrapped(&rejected(file(&reversed), &[]));
        let expected = format!("line 3: {} follows {}", reversed[1], reversed[0]);
        assert!(error.contains(&expected) && error.contains("oldest first"), "{error}");
    }
}

#[test]
fn too_few_values_are_no_error() {
    let workspace = Workspace::new();
    for rows in ["", "1,10\n", "1,10\n2,11\n3,10\n", "1,10\n2,\n3,\n4,11\n5,\n"] {
        workspace.write("mine.csv", format!("time,ops\n{rows}"));
        let check = ["--higher-is-better", "ops", "--fail-on-regression"];
        let output = workspace.assay(&[&["history", "--import", "mine.csv"], &check[..]].concat());
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{rows}");
        let expected = "Too few values: a change needs 4 values, two before it and two after it.";
        assert!(output.out.starts_with(expected), "{}", output.out);
    }
    assert!(
        !workspace.assay(&["history", "--import", "mine.csv", "--plot", "a.svg"]).out.is_empty()
    );
}

/// Runs a history with this standard input.
fn from_stdin(name: &str, content: &str) -> ProgramOutput {
    let workspace = Workspace::new();
    let mut program = workspace.program(&["history", "--import", name]);
    ProgramOutput::of(program.write_stdin(content).output().expect("it starts"))
}

#[test]
fn metric_and_direction_must_be_known() {
    assert_snapshot!(rejected(FIVE, &["--metric", "opps"]), @"
    × no metric is named `opps`
    help: did you mean `ops`?
    ");
    assert_snapshot!(rejected(FIVE, &["--metric", "throughput"]), @"
    × no metric is named `throughput`
    help: columns: ops
    ");
    assert_snapshot!(rejected(FIVE, &["--fail-on-regression"]), @"
    × `ops` has no better direction, so it has no regressions: add --higher-is-better ops or
    │ --lower-is-better ops, or choose metrics with --metric
    ");
    assert_snapshot!(rejected(FIVE, &["--higher-is-better", "qps"]), @"
    × no metric is named `qps`
    help: did you mean `ops`?
    ");
    let both = ["--higher-is-better", "ops", "--lower-is-better", "ops"];
    assert_snapshot!(rejected(FIVE, &both), @"  × `ops` has both directions: name it in one option \
                                              only");
    assert_snapshot!(rejected(FIVE, &["--since", "6"]), @"  × no point is labelled `6`: labels run from 1 to 5");
}

#[test]
fn standard_input_is_read_in_any_format() {
    let expected = from_stdin("-", FIVE);
    assert_eq!((expected.code, expected.err.as_str()), (0, ""));
    let json = "{\"ops\": 10, \"time\": 1}\n{\"ops\": 11, \"time\": 2}\n{\"ops\": 10, \"time\": 3}\n\
                {\"ops\": 11, \"time\": 4}\n{\"ops\": 10, \"time\": 5}\n";
    for content in [FIVE, &FIVE.replace(',', ";"), &format!("sep=,\n{FIVE}"), json] {
        assert_eq!(from_stdin("/dev/stdin", content).out, expected.out, "{content}");
    }
}

#[test]
fn column_with_a_comma_has_a_direction() {
    let workspace = Workspace::new();
    workspace.write("mine.csv", FIVE.replace("ops", "\"ops, cold\""));
    let call = ["history", "--import", "mine.csv", "--higher-is-better", "ops, cold"];
    let output = workspace.assay(&[&call[..], &["--fail-on-regression"]].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
}

#[test]
fn missing_values_are_reported_and_skipped() {
    let workspace = Workspace::new();
    workspace.write("mine.csv", "time,ops\n1,10\n2,\n3,10\n4,11\n5,10\n");
    let output = workspace.assay(&["history", "--import", "mine.csv"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(
        output.out.contains(
            "1 of 5 values are missing; they are left out and not filled \
                                 in"
        ),
        "{}",
        output.out
    );
}

#[test]
fn invalid_history_arguments_are_rejected() {
    let workspace = Workspace::new();
    workspace.write("mine.csv", FIVE);
    let output = |more: &[&str], code: i32| {
        let output = workspace.assay(&[&["history"], more].concat());
        assert_eq!((output.code, output.out.as_str()), (code, ""));
        output.err
    };
    assert_snapshot!(output(&[], ERROR), @"
    × no experiment found in results
    help: run an experiment first, or read a file with --import
    ");
    assert_snapshot!(output(&["--import", "yours.csv"], ERROR), @"
    × cannot read yours.csv
    ╰─▶ No such file or directory (os error 2)
    ");
    let few = ["--import", "mine.csv", "--min-effect", "2"];
    assert_snapshot!(output(&few, 2), @"
    error: invalid value '2' for '--min-effect <PERCENT>': `2` is not a percentage: write 2% or 0.5%

    For more information, try '--help'.
    ");
    let strict = ["--import", "mine.csv", "--strictness", "none"];
    assert_snapshot!(output(&strict, 2), @"
    error: invalid value 'none' for '--strictness <N>': `none` is not a penalty between 0.5 and 100: write a number such as 3 or 4

    For more information, try '--help'.
    ");
    assert!(
        output(&["--import", "mine.csv", "--engine", "lmdb"], 2).contains("cannot be used with")
    );
}
