//! Unknown, misplaced and mistyped settings are rejected at their line.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once, rejection, rejection_of};
use crate::workspace::Workspace;

#[test]
fn unknown_engine_suggests_the_nearest() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", "\"sqlit\""));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml"]), @r#"
     × unknown engine `sqlit`
       ╭─[mine.toml:12:10]
    11 │ name = "one"
    12 │ engine = "sqlit"
       ·          ───┬───
       ·             ╰── here
       ╰────
     help: did you mean `sqlite`?
     nothing was run
    "#);
    let typed = ["run", "readrandom", "--rows", "10", "--engine", "lmbd"];
    assert_snapshot!(rejected_at_once(&workspace, &typed), @"
    × --engine: unknown engine `lmbd`
    help: did you mean `lmdb`?
    nothing was run
    ");
}

#[test]
fn loadable_engine_needs_a_version_and_linked_one_has_none() {
    assert_snapshot!(rejection("\"sqlite\"", "\"rocksdb\""), @r#"
     × rocksdb needs a version
       ╭─[mine.toml:12:10]
    11 │ name = "one"
    12 │ engine = "rocksdb"
       ·          ────┬────
       ·              ╰── here
       ╰────
     help: write rocksdb@VERSION; `assay engine list` shows the known versions
     nothing was run
    "#);
    assert_snapshot!(rejection("\"sqlite\"", "\"sqlite@3.1\""), @r#"
     × variant one: no source offers sqlite@3.1: try sqlite@system, or compile one with `assay engine
     │ build sqlite@VERSION`, or add your own with `assay engine add sqlite PATH`
       ╭─[mine.toml:11:8]
    10 │ [[variant]]
    11 │ name = "one"
       ·        ──┬──
       ·          ╰── this variant
    12 │ engine = "sqlite@3.1"
       ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"sqlite\"", "\"redb@3.1\""), @r#"
     × redb is linked into Assay
       ╭─[mine.toml:12:10]
    11 │ name = "one"
    12 │ engine = "redb@3.1"
       ·          ─────┬────
       ·               ╰── here
       ╰────
     help: write "redb" without a version
     nothing was run
    "#);
    assert_snapshot!(rejection("\"sqlite\"", "\"sqlite 3\""), @r#"
     × `sqlite 3` is not an engine build: write NAME or NAME@VERSION
       ╭─[mine.toml:12:10]
    11 │ name = "one"
    12 │ engine = "sqlite 3"
       ·          ─────┬────
       ·               ╰── here
       ╰────
     nothing was run
    "#);
}

#[test]
fn unknown_step_suggests_the_nearest() {
    assert_snapshot!(rejection("readrandom", "raedrandom"), @r#"
     × unknown step `raedrandom`
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", "raedrandom"]
      ·                     ──────┬─────
      ·                           ╰── no such step
    7 │ rows = "2k"
      ╰────
     help: did you mean `readrandom`?
     nothing was run
    "#);
    for (theirs, remedy) in [
        ("seekrandom", "help: nearest to step seekrandom of db_bench is `fwdrange`"),
        ("updaterandom", "help: nearest to step updaterandom of db_bench is `overwrite`"),
        ("workloada", "help: nearest to step workloada of YCSB is `ycsb-a`"),
        ("oltp_point_select", "is `point-query` with workload = \"sysbench\""),
        ("tpcc", "help: nearest to step tpcc of HammerDB is `mix` with workload = \"tproc-c\""),
    ] {
        let found = rejection("readrandom", theirs);
        assert!(found.contains(remedy), "{found}");
    }
    assert_snapshot!(rejection("readrandom", "vacuum"), @r#"
     × unknown step `vacuum`
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", "vacuum"]
      ·                     ────┬───
      ·                         ╰── no such step
    7 │ rows = "2k"
      ╰────
     help: steps: fillseq, fillrandom, filluniquerandom, overwrite, overwritesome, overwriteandwait,
           deleterandom, readrandom, readmissing, multireadrandom, fwdrange, revrange, partialupdate,
           fieldread, append, readseqno, readwhilewriting, fwdrangewhilewriting,
           revrangewhilewriting, ycsb-a, ycsb-b, ycsb-c, ycsb-d, ycsb-e, ycsb-f, settle, compact
     nothing was run
    "#);
}

#[test]
fn unknown_key_is_shown_at_its_line_with_the_nearest() {
    assert_snapshot!(rejection("duration", "duraton"), @r#"
     × unknown key `duraton` in [benchmark]
      ╭─[mine.toml:8:1]
    7 │ rows = "2k"
    8 │ duraton = "300ms"
      · ───┬───
      ·    ╰── no such key
    9 │ 
      ╰────
     help: did you mean `duration`?
     nothing was run
    "#);
    assert_snapshot!(rejection("[[variant]]", "[[variants]]"), @r#"
     × unknown key `variants`
       ╭─[mine.toml:10:3]
     9 │ 
    10 │ [[variants]]
       ·   ────┬───
       ·       ╰── no such key
    11 │ name = "one"
       ╰────
     help: did you mean `variant`?
     nothing was run
    "#);
    assert_snapshot!(rejection("\"readrandom\"", "{ step = \"readrandom\", cleints = 2 }"), @r#"
     × unknown key `cleints` in a step's table
      ╭─[mine.toml:6:44]
    5 │ [benchmark]
    6 │ steps = ["fillseq", { step = "readrandom", cleints = 2 }]
      ·                                            ───┬───
      ·                                               ╰── no such key
    7 │ rows = "2k"
      ╰────
     help: did you mean `clients`?
     nothing was run
    "#);
}

#[test]
fn a_misplaced_key_is_sent_to_its_table() {
    let misplaced = rejection("\"300ms\"", "\"300ms\"\nclients = 2");
    assert!(misplaced.contains("help: `clients` belongs in [factors] or a step's table"));
    let above = rejection("[experiment]\n", "rows = 5\n[experiment]\n");
    assert!(above.contains("help: `rows` belongs in [benchmark]"), "{above}");
}

#[test]
fn misplaced_engine_option_error_names_its_table() {
    assert_snapshot!(rejection("name = \"one\"", "name = \"one\"\njournal_mode = \"wal\""), @r#"
     × unknown key `journal_mode` in [[variant]]
       ╭─[mine.toml:12:1]
    11 │ name = "one"
    12 │ journal_mode = "wal"
       · ──────┬─────
       ·       ╰── no such key
    13 │ engine = "sqlite"
       ╰────
     help: an option of the engine belongs in the table [variant.options]; known keys: name, engine,
           dsn, profile, optional, options, durability, cache, direct_io, compression,
           background_jobs, allocator
     nothing was run
    "#);
}

#[test]
fn wrong_type_is_rejected_at_its_line() {
    assert_snapshot!(rejection("\"2k\"", "[2]"), @r#"
     × expected text, a number, true or false, found a list
      ╭─[mine.toml:7:8]
    6 │ steps = ["fillseq", "readrandom"]
    7 │ rows = [2]
      ·        ─┬─
      ·         ╰── here
    8 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\nkey_bytes = \"big\""), @r#"
     × `big` is not a size: write 4096, 64KiB, 512MiB or 2GiB
      ╭─[mine.toml:8:13]
    7 │ rows = 10
    8 │ key_bytes = "big"
      ·             ──┬──
      ·               ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\ndirect_io = \"yes\""), @r#"
     × expected true or false, found string "yes"
      ╭─[mine.toml:8:13]
    7 │ rows = 10
    8 │ direct_io = "yes"
      ·             ──┬──
      ·               ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"readrandom\"", "5"), @r#"
     × expected the name of a step, or a table such as { step = "readrandom" }, found integer `5`
      ╭─[mine.toml:6:21]
    5 │ [benchmark]
    6 │ steps = ["fillseq", 5]
      ·                     ┬
      ·                     ╰── here
    7 │ rows = "2k"
      ╰────
     nothing was run
    "#);
}

#[test]
fn invalid_toml_is_shown_at_its_line() {
    assert_snapshot!(rejection("\"Is it refused?\"", ""), @r#"
     × string values must be quoted, expected literal string
      ╭─[mine.toml:3:1]
    2 │ name = "tiny"
    3 │ question = 
      · ─────┬─────
      ·      ╰── here
    4 │ 
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\nrows = 20"), @r#"
     × duplicate key
      ╭─[mine.toml:8:1]
    7 │ rows = 10
    8 │ rows = 20
      · ──┬─
      ·   ╰── here
    9 │ duration = "300ms"
      ╰────
     help: leave one of them out
     nothing was run
    "#);
    let list = "help: write the name of a table that can occur again in two pairs of brackets: \
                [[variant]]";
    let table = "[variant]\nname = \"two\"\nengine = \"lmdb\"\n[variant]";
    for variants in ["[variant]", table] {
        let message = rejection("[[variant]]", variants);
        assert!(message.contains(list), "{message}");
    }
    assert_snapshot!(rejection("question = \"Is it refused?\"", ""), @r#"
     × missing field `question`
      ╭─[mine.toml:1:1]
    1 │ [experiment]
      · ──────┬─────
      ·       ╰── here
    2 │ name = "tiny"
      ╰────
     nothing was run
    "#);
}

#[test]
fn unknown_distributions_and_presets_list_known_ones() {
    assert_snapshot!(rejection("\"2k\"", "10\ndistribution = \"zpf\""), @r#"
     × unknown key distribution `zpf`; write uniform, sequential, zipf[:THETA], latest[:THETA],
     │ scrambled[:THETA], hotspot:POINTS.RANGE
      ╭─[mine.toml:8:16]
    7 │ rows = 10
    8 │ distribution = "zpf"
      ·                ──┬──
      ·                  ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\ndistribution = \"zipf:-1\""), @r#"
     × key distribution `zipf:-1`: theta `-1` must be a number above 0 and at most 10; write
     │ zipf[:THETA]
      ╭─[mine.toml:8:16]
    7 │ rows = 10
    8 │ distribution = "zipf:-1"
      ·                ────┬────
      ·                    ╰── here
    9 │ duration = "300ms"
      ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\nworkload = \"byry\""), @r#"
     × unknown workload `byry`
      ╭─[mine.toml:8:12]
    7 │ rows = 10
    8 │ workload = "byry"
      ·            ───┬──
      ·               ╰── no such preset or application
    9 │ duration = "300ms"
      ╰────
     help: did you mean `byrx`?
     nothing was run
    "#);
    assert_snapshot!(rejection("\"2k\"", "10\ndurability = \"paper\""), @r#"
     × unknown durability `paper`
      ╭─[mine.toml:8:14]
    7 │ rows = 10
    8 │ durability = "paper"
      ·              ───┬───
      ·                 ╰── here
    9 │ duration = "300ms"
      ╰────
     help: Durability class of every write: none, os (survives a process crash) or sync
     nothing was run
    "#);
}

#[test]
fn profile_must_match_its_engine() {
    let profile = |name: &str| {
        rejection("engine = \"sqlite\"", &format!("engine = \"sqlite\"\nprofile = \"{name}\""))
    };
    assert_snapshot!(profile("rocksdb-levelled"), @r#"
     × unknown profile `rocksdb-levelled`
       ╭─[mine.toml:13:11]
    12 │ engine = "sqlite"
    13 │ profile = "rocksdb-levelled"
       ·           ─────────┬────────
       ·                    ╰── here
       ╰────
     help: did you mean `rocksdb-leveled`?
     nothing was run
    "#);
    assert_snapshot!(profile("rocksdb-leveled"), @r#"
     × profile `rocksdb-leveled` is for rocksdb, not for sqlite
       ╭─[mine.toml:13:11]
    12 │ engine = "sqlite"
    13 │ profile = "rocksdb-leveled"
       ·           ────────┬────────
       ·                   ╰── here
       ╰────
     help: sqlite has no profile: leave `profile` out
     nothing was run
    "#);
    assert_snapshot!(profile("./mine-too.toml"), @r#"
     × cannot read the profile ./mine-too.toml: No such file or directory (os error 2)
       ╭─[mine.toml:13:11]
    12 │ engine = "sqlite"
    13 │ profile = "./mine-too.toml"
       ·           ────────┬────────
       ·                   ╰── here
       ╰────
     help: sqlite has no profile: leave `profile` out
     nothing was run
    "#);
}

#[test]
fn names_are_unique_and_the_base_is_a_variant() {
    let twice = format!("{TINY}\n[[variant]]\nname = \"one\"\nengine = \"lmdb\"\n");
    assert_snapshot!(rejection_of(&twice), @r#"
     × two variants are named `one`
       ╭─[mine.toml:15:8]
    14 │ [[variant]]
    15 │ name = "one"
       ·        ──┬──
       ·          ╰── the second
    16 │ engine = "lmdb"
       ╰────
     nothing was run
    "#);
    assert_snapshot!(rejection("\"tiny\"", "\"tiny\"\nbase = \"two\""), @r#"
     × the base case `two` is not a variant
      ╭─[mine.toml:3:8]
    2 │ name = "tiny"
    3 │ base = "two"
      ·        ──┬──
      ·          ╰── no such variant
    4 │ question = "Is it refused?"
      ╰────
     help: variants: one
     nothing was run
    "#);
    assert_snapshot!(rejection("\"tiny\"", "\"ti/ny\""), @r#"
     × `ti/ny` cannot be the experiment's name
      ╭─[mine.toml:2:8]
    1 │ [experiment]
    2 │ name = "ti/ny"
      ·        ───┬───
      ·           ╰── here
    3 │ question = "Is it refused?"
      ╰────
     help: begin with a letter or digit; use at most 80 letters, digits, `-`, `_` and `.`
     nothing was run
    "#);
    let (head, _) = TINY.split_once("[[variant]]").expect("a variant");
    assert_snapshot!(rejection_of(head), @"
    × there is nothing to compare: the experiment has no variant
    help: add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)
    nothing was run
    ");
}
