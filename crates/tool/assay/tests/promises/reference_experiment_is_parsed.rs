//! A complete experiment file is parsed, and its error located.

use insta::assert_snapshot;

use crate::rejection::rejection_of;
use crate::workspace::Workspace;

/// A complete experiment; its last line is wrong on purpose.
const REFERENCE: &str = r#"[experiment]
name     = "rocksdb-releases"
question = "Did point and range reads get slower between 9.10 and 11.8?"
base     = "9.10"                      # the base case of every relative table

[benchmark]
workload = "byrx"                      # byrx | byos | iobuf | iodir: sizes derived from the hardware, see experiment-files.md
steps    = ["fillseq", "revrange", "readrandom", "overwritesome", "settle", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"]
rows = "4M"  # or derived from memory
key_bytes = 20
value_bytes = 400
duration = "60s"

[factors]
clients = [1, 2]
repetitions = 3

[[variant]]
name = "9.10"
engine = "rocksdb@9.10.0"
profile = "rocksdb-leveled"
[variant.options]
max_background_jobs = 4

[[variant]]
name = "11.8"
engine = "rocksdb@11.8.1"
profile = "rocksdb-leveled"
max_background_jobs = 4      # an error: points at this line, names the table it belongs to
"#;

#[test]
fn reference_experiment_fails_only_at_its_deliberate_error() {
    assert_snapshot!(rejection_of(REFERENCE), @r#"
     × unknown key `max_background_jobs` in [[variant]]
       ╭─[mine.toml:29:1]
    28 │ profile = "rocksdb-leveled"
    29 │ max_background_jobs = 4      # an error: points at this line, names the table it belongs to
       · ─────────┬─────────
       ·          ╰── no such key
       ╰────
     help: did you mean `background_jobs`? an option of the engine belongs in the table
           [variant.options]
     nothing was run
    "#);
    let workspace = Workspace::new();
    let (right, _) = REFERENCE.rsplit_once("max_background_jobs").expect("the wrong line");
    workspace.write("design.toml", format!("{right}[variant.options]\nmax_background_jobs = 4\n"));
    let output = workspace.assay(&["plan", "design.toml", "--rows", "4k"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let steps = output.out.lines().filter(|line| line.starts_with("step ")).count();
    assert!(steps == 8 && output.out.contains("12 runs, interleaved as ABBA"), "{}", output.out);
}
