//! `assay plan` lists runs in execution order, and runs nothing.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::workspace::Workspace;

/// The quickstart.
const QUICKSTART: &str = include_str!("../../../../../experiments/quickstart.toml");

/// Returns the plan of the quickstart with further arguments.
fn quickstart(more: &[&str]) -> String {
    let workspace = Workspace::new();
    // Which variants a machine has no builds for is tested apart.
    workspace.write("quickstart.toml", QUICKSTART.replace("optional = true\n", ""));
    let output = workspace.assay(&[&["plan", "quickstart.toml"], more].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(!workspace.path("results").exists() && !workspace.path("assay-data").exists());
    output.out
}

/// Returns the names of a plan's runs, in order.
fn order(plan: &str) -> Vec<String> {
    let names = plan.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().nth(1));
    names.map(str::to_owned).collect()
}

#[test]
fn quickstart_plan_is_as_expected() {
    // Rows and durations are tuned now and then; notes on them are tested with the rules.
    let plan = quickstart(&["--rows", "1k", "--duration", "1s"]);
    let is_of_host = |line: &&str| ["note ", "warning "].iter().any(|it| line.starts_with(it));
    let plan: Vec<_> = plan.lines().filter(|line| !is_of_host(line)).collect();
    assert_snapshot!(plan.join("\n"), @"
    quickstart (size minutes): Which embedded engine, on this machine?
    rows      1000 of 20 + 400 bytes, 410 KiB in all, values compressible to 0.5
    cost      about 1m50s of machine time; up to 1.20 MiB of disk at a time
    margin    2.00 %: smaller differences do not matter
    variant   sqlite: sqlite, no engine profile, durability os, cache 256 MiB, compression none  (base)
    variant   lmdb: lmdb, no engine profile, durability os, cache 256 MiB, compression none
    variant   redb: redb, no engine profile, durability os, cache 256 MiB, compression none
    variant   fjall: fjall, no engine profile, durability os, cache 256 MiB, compression none
    variant   leveldb: leveldb@system, no engine profile, durability os, cache 256 MiB, compression none
    variant   rocksdb: rocksdb@system, engine profile rocksdb-leveled, durability os, cache 256 MiB, compression none
    variant   rocksdb-9.10: rocksdb@9.10.0, engine profile rocksdb-leveled, durability os, cache 256 MiB, compression none
    variant   rocksdb-11.8: rocksdb@11.8.1, engine profile rocksdb-leveled, durability os, cache 256 MiB, compression none
    step      filluniquerandom: 1000 operations, clients 1, uniform
    step      settle: until idle, at most 20m00s
    step      readrandom: 1.00 s after 300 ms of warm-up, clients 1, uniform
    step      fwdrange: 1.00 s after 300 ms of warm-up, clients 1, uniform
    step      readwhilewriting: 1.00 s after 300 ms of warm-up, clients 1, uniform
    order     24 runs, interleaved by rows of a Williams square, whole after 8, from seed 1
         1  rocksdb.c1.r1
         2  redb.c1.r1
         3  fjall.c1.r1
         4  sqlite.c1.r1
         5  lmdb.c1.r1
         6  rocksdb-11.8.c1.r1
         7  leveldb.c1.r1
         8  rocksdb-9.10.c1.r1
         9  rocksdb-9.10.c1.r2
        10  leveldb.c1.r2
        11  rocksdb-11.8.c1.r2
        12  lmdb.c1.r2
        13  sqlite.c1.r2
        14  fjall.c1.r2
        15  redb.c1.r2
        16  rocksdb.c1.r2
        17  lmdb.c1.r3
        18  fjall.c1.r3
        19  leveldb.c1.r3
        20  rocksdb.c1.r3
        21  rocksdb-9.10.c1.r3
        22  redb.c1.r3
        23  rocksdb-11.8.c1.r3
        24  sqlite.c1.r3
    --size night: about 22m28s of machine time, up to 1.20 MiB of disk at a time
    ");
}

#[test]
fn more_repetitions_do_not_change_earlier_ones() {
    let (few, more) = (order(&quickstart(&[])), order(&quickstart(&["--repetitions", "10"])));
    assert_eq!((few.len(), more.len()), (24, 80));
    assert_eq!(more[..24], few);
}

#[test]
fn margin_control_and_waivers_are_shown() {
    let typed = ["plan", "readrandom", "--engine", "lmdb", "--rows", "10k", "--repetitions", "4"];
    let more = ["--control", "--margin", "1%", "--waive", "a027=a first test"];
    let output = Workspace::new().assay(&[&typed[..], &more].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with("waived    A027 (a first test)\n"), "{}", output.out);
    assert_snapshot!(lines(&output.out, &["margin", "variant", "order", "  "]), @"
    margin    1.00 %: smaller differences do not matter
    variant   lmdb: lmdb, no engine profile, durability os  (base)
    variant   lmdb-control: lmdb, no engine profile, durability os  (control: the base repeated)
    order     8 runs, interleaved as ABBA or BAAB, from seed 1
         1  lmdb-control.c1.r1
         2  lmdb.c1.r1
         3  lmdb.c1.r2
         4  lmdb-control.c1.r2
         5  lmdb.c1.r3
         6  lmdb-control.c1.r3
         7  lmdb-control.c1.r4
         8  lmdb.c1.r4
    ");
}

#[test]
fn order_is_a_function_of_the_seed() {
    let first = order(&quickstart(&[]));
    assert_eq!(first.len(), 24);
    assert_eq!(order(&quickstart(&[])), first);
    assert_eq!(order(&quickstart(&["--seed", "1"])), first);
    assert_ne!(order(&quickstart(&["--seed", "2"])), first);
}

#[test]
fn each_block_has_every_cell_once_in_its_own_order() {
    let names = order(&quickstart(&["--clients", "1,2"]));
    let blocks: Vec<Vec<_>> = names
        .chunks(16)
        .map(|block| block.iter().map(|name| name.rsplit_once(".r").expect("a run")).collect())
        .collect();
    assert_eq!(blocks.len(), 3);
    for (block, number) in blocks.iter().zip(["1", "2", "3"]) {
        assert!(block.iter().all(|(_, repetition)| *repetition == number), "{block:?}");
        let cells: BTreeSet<_> = block.iter().map(|(cell, _)| cell).collect();
        assert_eq!(cells.len(), 16, "{block:?}");
    }
    let cells = |block: &[(&str, &str)]| block.iter().map(|(cell, _)| (*cell).to_owned()).collect();
    let [first, second]: [Vec<String>; 2] = [cells(&blocks[0]), cells(&blocks[1])];
    assert_ne!(first, second);
}

/// Returns the lines of a plan that begin with one of `text`.
fn lines(plan: &str, labels: &[&str]) -> String {
    let wanted = plan.lines().filter(|line| labels.iter().any(|label| line.starts_with(label)));
    wanted.collect::<Vec<_>>().join("\n")
}

/// Plans a preset; an error when the disk is too small for it.
fn preset(name: &str, memory: &[&str]) -> Result<String, String> {
    let typed = ["plan", "readrandom", "--engine", "rocksdb@9.10.0", "--workload", name];
    let output = Workspace::new().assay(&[&typed, memory].concat());
    if output.err.contains("of disk, but only") {
        return Err(output.err);
    }
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    Ok(lines(&output.out, &["rows", "variant"]))
}

#[test]
fn presets_derive_sizes_from_given_memory() {
    // The count of background jobs follows the machine's cores.
    let plan = |name| {
        let plan = preset(name, &["--memory", "256MiB"]).expect("2 GiB of disk are free");
        let (before, jobs) = plan.split_once(", background jobs ").expect("jobs");
        format!("{before}{}", jobs.trim_start_matches(|digit: char| digit.is_ascii_digit()))
    };
    assert_snapshot!(plan("byrx"), @"
    rows      210913 of 20 + 400 bytes, 84.5 MiB in all, values compressible to 0.5
    variant   rocksdb-9.10.0: rocksdb@9.10.0, no engine profile, durability os, cache 169 MiB, compression none  (base)
    ");
    assert_snapshot!(plan("byos"), @"
    rows      210913 of 20 + 400 bytes, 84.5 MiB in all, values compressible to 0.5
    variant   rocksdb-9.10.0: rocksdb@9.10.0, no engine profile, durability os, cache 15.4 MiB, compression none  (base)
    ");
    assert_snapshot!(plan("iobuf"), @"
    rows      2556528 of 20 + 400 bytes, 1024 MiB in all, values compressible to 0.5
    variant   rocksdb-9.10.0: rocksdb@9.10.0, no engine profile, durability os, cache 169 MiB, compression lz4  (base)
    ");
    assert_snapshot!(plan("iodir"), @"
    rows      2556528 of 20 + 400 bytes, 1024 MiB in all, values compressible to 0.5
    variant   rocksdb-9.10.0: rocksdb@9.10.0, no engine profile, durability os, cache 169 MiB, direct io, compression lz4  (base)
    ");
}

#[test]
fn presets_derive_sizes_from_this_machine_by_default() {
    let rows = |memory: &[&str]| -> Result<f64, String> {
        let plan = preset("byrx", memory)?;
        let rows = plan.split_whitespace().nth(1).map(str::parse::<f64>);
        Ok(rows.expect("a count").expect("a number"))
    };
    let whole = match rows(&[]) {
        Ok(whole) => whole,
        Err(why) => return println!("skipped: {why}"),
    };
    let two = match rows(&["--memory", "2GiB"]) {
        Ok(two) => two,
        Err(why) => return println!("skipped: {why}"),
    };
    let text = std::fs::read_to_string("/proc/meminfo").expect("the machine's memory");
    let kib = text.split_whitespace().nth(1).map(str::parse::<f64>);
    let gib = kib.expect("a size").expect("a number") / 1_048_576.0;
    assert!((whole / two - gib / 2.0).abs() < 0.02 * gib, "{whole} rows, {two} for 2 of {gib} GiB");
}

#[test]
fn command_line_overrides_the_file() {
    let plan = quickstart(&["--rows", "1k", "--duration", "1s", "--repetitions", "1"]);
    assert_snapshot!(lines(&plan, &["rows", "step", "order", "warning"]), @"
    rows      1000 of 20 + 400 bytes, 410 KiB in all, values compressible to 0.5
    step      filluniquerandom: 1000 operations, clients 1, uniform
    step      settle: until idle, at most 20m00s
    step      readrandom: 1.00 s after 300 ms of warm-up, clients 1, uniform
    step      fwdrange: 1.00 s after 300 ms of warm-up, clients 1, uniform
    step      readwhilewriting: 1.00 s after 300 ms of warm-up, clients 1, uniform
    order     8 runs, interleaved by rows of a Williams square, whole after 8, from seed 1
    ");
    // What a size of minutes is too short for is one line.
    let short = lines(&plan, &["note      Caused by the size minutes, "]);
    assert!(short.contains("A039 too few repetitions (1)"), "{plan}");
}

/// Plans `readwhilewriting` after a fill, with further arguments.
fn typed(args: &[&str]) -> String {
    let plan = ["plan", "readwhilewriting", "--engine", "lmdb", "--rows", "10k"];
    let output = Workspace::new().assay(&[&plan, args].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    lines(&output.out, &["cost", "step", "order"])
}

#[test]
fn load_is_described_in_the_plan() {
    assert_snapshot!(typed(&["--rate", "50k/s", "--sla", "p99.9 < 2ms", "--clients", "2"]), @"
    cost      about 1m05s of machine time; up to 12.0 MiB of disk at a time
    step      filluniquerandom: 10000 operations, clients 1, uniform
    step      readwhilewriting: 1m00s after 5.00 s of warm-up, clients 2, uniform, open loop, 50,000/s, poisson, with p99.9 < 2.00 ms
    order     1 run, from seed 1
    ");
    let ramp =
        ["--rate", "ramp 10k/s..40k/s over 2m", "--arrivals", "constant", "--pacing", "spin"];
    assert_snapshot!(typed(&ramp), @"
    cost      about 1m05s of machine time; up to 12.0 MiB of disk at a time
    step      filluniquerandom: 10000 operations, clients 1, uniform
    step      readwhilewriting: 1m00s after 5.00 s of warm-up, clients 1, uniform, open loop, ramp 10,000/s..40,000/s over 2m00s, constant, spin
    order     1 run, from seed 1
    ");
}

#[test]
fn search_cost_is_estimated_from_its_probes() {
    assert_snapshot!(typed(&["--sla", "p99.9 < 2ms", "--duration", "10s"]), @"
    cost      at least 3m52s of machine time; up to 12.0 MiB of disk at a time
    step      filluniquerandom: 10000 operations, clients 1, uniform
    step      readwhilewriting: probes of 10.0 s after 1.00 s of warm-up, clients 1, uniform, highest rate, poisson, with p99.9 < 2.00 ms
    order     1 run, from seed 1
    ");
}

#[test]
fn client_levels_follow_the_cpus() {
    let steps = |levels: &str| lines(&typed(&["--clients", levels]), &["step      read"]);
    // Six levels on the smallest machine, and eight clients.
    let (swept, most) = (steps("sweep"), steps("adaptive"));
    assert!(swept.contains("clients 1, 2, 3, 4, 6"), "{swept}");
    assert!(most.contains("probes of ") && most.contains("clients up to "), "{most}");
}

/// Goal: a size replaces what it names, typed settings replace the size's, and each is priced.
#[test]
fn sizes_of_a_file_are_priced_and_planned() {
    let workspace = Workspace::new();
    let text = "[experiment]\nname = \"sized\"\nquestion = \"Which?\"\n[benchmark]\n\
                steps = [\"fillseq\", \"readrandom\"]\nrows = 500\nduration = \"50ms\"\n\
                [size.night]\nrows = 8000\nduration = \"1h\"\nrepetitions = 2\n[size.small]\n\
                value_bytes = 64\n[[variant]]\nname = \"only\"\nengine = \"memory\"\n";
    workspace.write("sized.toml", text);
    let plan = |more: &[&str]| workspace.assay(&[&["plan", "sized.toml"], more].concat());
    let whole = plan(&[]).out;
    assert!(whole.starts_with("sized: ") && whole.contains("rows      500 of "), "{whole}");
    assert!(whole.contains("--size night: about 2h"), "{whole}");
    assert!(whole.contains("--size small: about "), "{whole}");
    let night = plan(&["--size", "night", "--duration", "1s"]).out;
    assert!(
        night.starts_with("sized-night (size night): ") && night.contains("rows      8000 of "),
        "{night}"
    );
    assert!(night.contains("2 runs") && !night.contains("--size"), "{night}");
    let absent = plan(&["--size", "nigth"]);
    assert!(
        absent.code == 1 && absent.err.contains("sizes of the file: night, small"),
        "{}",
        absent.err
    );
    let named = text.replace("name = \"sized\"\n", "name = \"sized\"\nsize = \"brief\"\n");
    workspace.write("sized.toml", named);
    assert!(plan(&[]).out.starts_with("sized (size brief): "), "its own size has a name");
    assert!(plan(&["--size", "brief"]).out.starts_with("sized (size brief): "));
    assert!(plan(&["--size", "brif"]).err.contains("sizes of the file: brief, night, small"));
    workspace.write("sized.toml", text.replace("value_bytes", "steps"));
    let unknown = plan(&[]);
    assert!(
        unknown.err.contains("steps") && unknown.err.contains("[size.NAME]"),
        "{}",
        unknown.err
    );
    let typed = workspace.assay(&["plan", "readrandom", "--engine", "memory", "--size", "night"]);
    assert!(typed.code == 1 && typed.err.contains("not for steps"), "{}", typed.err);
}

/// Goal: every size of the shipped file is a valid experiment.
#[test]
fn every_size_of_a_shipped_experiment_can_be_planned() {
    let workspace = Workspace::new();
    let text = include_str!("../../../../../experiments/index-log-vs-lsm.toml");
    // Its library may be absent here.
    workspace.write("mine.toml", text.replace("wiredtiger@system", "lmdb"));
    let output = workspace.assay(&["plan", "mine.toml", "--memory", "1GiB"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert_eq!(output.out.matches("--size ").count(), 9, "{}", output.out);
}

#[test]
fn rows_and_duration_of_typed_steps_are_chosen_and_shown() {
    let workspace = Workspace::new();
    let output = workspace.assay(&["plan", "readrandom", "--engine", "lmdb"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let is_shown = output.err.starts_with("rows ") && output.err.contains("k and duration 10s")
        || output.err.contains("M and duration 10s");
    assert!(is_shown && output.err.contains(" chosen for this machine: "), "{}", output.err);
    let given = ["plan", "readrandom", "--engine", "lmdb", "--rows", "1k"];
    assert_eq!(workspace.assay(&given).err, "");
}
