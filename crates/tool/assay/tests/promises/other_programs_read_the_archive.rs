//! DuckDB, pandas, Polars and readers of metrics read what Assay writes for them.
//!
//! They are in a Python environment that `scripts/setup.sh test` makes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::workspace::Workspace;

/// The page with recipes.
const GUIDE: &str = include_str!("../../../../../docs/guide/parquet.md");

/// Makes the runs of the archive 20 million values of 1,000 experiments, and answers two queries.
const TWENTY_MILLION: &str = r#"
import duckdb, time
con = duckdb.connect()
runs = "'results/.parquet/runs-*.parquet'"
columns = [row[0] for row in con.sql(f"DESCRIBE SELECT * FROM {runs}").fetchall() if row[1] == "DOUBLE"]
known = " + ".join(f"count({column})" for column in columns)
values, rows = con.sql(f"SELECT {known}, count(*) FROM {runs}").fetchall()[0]
copies = 20_000_000 // values + 1
con.execute(f"COPY (SELECT r.* REPLACE (i * 1000 // {copies} AS experiment_id) FROM range({copies}) t(i), {runs} r "
        "ORDER BY i) TO 'large.parquet' (COMPRESSION zstd, ROW_GROUP_SIZE 65536)")
def timed(query):
    begun = time.monotonic()
    found = con.sql(query).fetchall()
    return time.monotonic() - begun, found
means = ", ".join(f"avg({column})" for column in columns)
one_s, one = timed("SELECT variant, step, avg(throughput_ops_per_s), count(*) FROM 'large.parquet' "
                   "WHERE experiment_id = 500 GROUP BY ALL")
all_s, everything = timed(f"SELECT variant, step, {means}, count(*) FROM 'large.parquet' GROUP BY ALL")
total = con.sql(f"SELECT {known} FROM 'large.parquet'").fetchall()[0][0]
assert total >= 20_000_000, total
assert len(one) == 4 and abs(sum(row[-1] for row in one) - rows * copies / 1000) <= rows, one
assert sum(row[-1] for row in everything) == rows * copies, everything
print(f"{total} values: one experiment {one_s:.3f} s, all metrics by variant {all_s:.3f} s")
"#;

/// Parses the metrics of runs with the libraries of Prometheus and OpenTelemetry.
const METRICS: &str = r#"
import json
from google.protobuf import json_format
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from prometheus_client.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(open("pair.prom").read()))
assert len(families) > 50, len(families)
for family in families:
    assert family.type == "gauge" and family.documentation and family.samples, family
    labels = [tuple(sorted(sample.labels.items())) for sample in family.samples]
    assert len(set(labels)) == len(labels), family
by_name = {family.name: family for family in families}
assert len(by_name["assay_run_complete"].samples) == 4
lines = open("pair.otlp.jsonl").read().splitlines()
data = json_format.Parse(lines[0], MetricsData())
assert len(lines) == 1
metrics = data.resource_metrics[0].scope_metrics[0].metrics
otlp = {metric.name: metric for metric in metrics}
assert len(otlp) == len(families) - 1, (len(otlp), len(families))
for metric in metrics:
    assert metric.unit and metric.description
    for point in metric.gauge.data_points:
        assert 0 < point.start_time_unix_nano < point.time_unix_nano
p99 = otlp["assay.response_ns_p99"].gauge.data_points
seconds = [sample.value for sample in by_name["assay_response_seconds_p99"].samples]
assert otlp["assay.response_ns_p99"].unit == "ns"
assert all(abs(point.as_double / 1e9 - value) < 1e-12 for point, value in zip(p99, seconds))
one = list(text_string_to_metric_families(open("one.prom").read()))
assert {sample.labels["run"] for family in one for sample in family.samples} == {"one.c1.r1"}
print(len(families), "metrics")
"#;

/// Returns the Python of the environment, or prints why there is none.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn python() -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cache");
    let python = cache.unwrap_or_else(home).join("assay/test-python/bin/python");
    let imports = "import duckdb, pandas, polars, pyarrow, prometheus_client, opentelemetry.proto";
    let works = Command::new(&python).args(["-c", imports]).output();
    if works.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!(
        "skipped: no DuckDB, pandas and Polars in {}: scripts/setup.sh test",
        python.display()
    );
    None
}

/// Runs a script in the workspace; returns what it prints.
fn run(python: &Path, workspace: &Workspace, script: &str) -> String {
    workspace.write("script.py", script);
    let mut command = Command::new(python);
    let output = command.arg("script.py").current_dir(workspace.path("")).output();
    let output = output.expect("Python starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{err}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn with_set() -> Workspace {
    let workspace = Workspace::with_pair();
    assert_eq!(workspace.assay(&["archive", "parquet"]).code, 0);
    workspace
}

/// Returns the blocks of the guide in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = GUIDE.split(begin.as_str()).skip(1);
    blocks.map(|rest| rest.split("```").next().expect("a block ends")).collect()
}

#[test]
fn every_recipe_of_the_guide_has_an_answer() {
    let Some(python) = python() else { return };
    let workspace = with_set();
    let queries = blocks("sql");
    assert_eq!((queries.len(), blocks("python").len()), (4, 2));
    for query in queries {
        let script = format!("import duckdb\nprint(duckdb.sql('''{query}''').fetchall())\n");
        let answer = run(&python, &workspace, &script);
        assert!(answer.contains("pair") || answer.contains("one.c1"), "{query}\n{answer}");
    }
    for script in blocks("python") {
        let answer = run(&python, &workspace, script);
        assert!(answer.contains("readrandom"), "{script}\n{answer}");
    }
}

/// Goal: two queries of 20 million values are answered; the times are printed.
#[test]
fn duckdb_answers_twenty_million_values() {
    let Some(python) = python() else { return };
    let workspace = with_set();
    println!("{}", run(&python, &workspace, TWENTY_MILLION));
}

#[test]
fn prometheus_and_opentelemetry_parse_the_metrics_of_runs() {
    let Some(python) = python() else { return };
    let workspace = Workspace::with_pair();
    for call in [
        &["export", "pair", "--format", "prometheus", "-o", "pair.prom"][..],
        &["export", "pair", "--format", "otlp", "-o", "pair.otlp.jsonl"],
        &["export", "pair/one.c1.r1", "--format", "prometheus", "-o", "one.prom"],
    ] {
        let output = workspace.assay(call);
        assert_eq!(output.code, 0, "{}", output.err);
        assert!(fs::metadata(workspace.path(call[5])).is_ok_and(|file| file.len() > 0));
    }
    assert!(run(&python, &workspace, METRICS).contains("metrics"));
    let refused = workspace.assay(&["export", "pair/none", "--format", "otlp"]);
    assert!(refused.code == 1 && refused.err.contains("no run is named `none`"), "{}", refused.err);
}
