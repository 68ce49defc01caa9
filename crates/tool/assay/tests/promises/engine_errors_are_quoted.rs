//! Engine errors are quoted at their line, before any run.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected, rejection, rejection_of};
use crate::workspace::Workspace;

/// Returns the error of `engine` for options.
fn options(engine: &str, text: &str) -> String {
    rejection("\"sqlite\"", &format!("\"{engine}\"\n[variant.options]\n{text}"))
}

#[test]
fn unknown_option_is_rejected_at_its_line_with_the_nearest_name() {
    assert_snapshot!(options("sqlite", "journl_mode = \"wal\""), @r#"
     × variant one: option `journl_mode` is rejected
       ╭─[mine.toml:14:1]
    13 │ [variant.options]
    14 │ journl_mode = "wal"
       · ─────┬─────
       ·      ╰── rejected by the engine
       ╰────
     help: the engine reports: not an option of SQLite here; known: busy_timeout, page_size,
           auto_vacuum, journal_mode, synchronous, cache_size, mmap_size, temp_store,
           wal_autocheckpoint, journal_size_limit, secure_delete, assay.table
           did you mean `journal_mode`?
     nothing was run
    "#);
    assert_snapshot!(options("lmdb", "max_reader = 3"), @"
     × variant one: option `max_reader` is rejected
       ╭─[mine.toml:14:1]
    13 │ [variant.options]
    14 │ max_reader = 3
       · ─────┬────
       ·      ╰── rejected by the engine
       ╰────
     help: the engine reports: not an option of LMDB here; known: map_size, max_readers, MDB_NOSYNC,
           MDB_NOMETASYNC, MDB_WRITEMAP, MDB_MAPASYNC, MDB_NORDAHEAD, MDB_NOMEMINIT
           did you mean `max_readers`?
     nothing was run
    ");
    assert_snapshot!(options("redb", "cache_sise = 3"), @"
     × variant one: option `cache_sise` is rejected
       ╭─[mine.toml:14:1]
    13 │ [variant.options]
    14 │ cache_sise = 3
       · ─────┬────
       ·      ╰── rejected by the engine
       ╰────
     help: the engine reports: not an option of redb here; known: cache_size, two_phase_commit,
           quick_repair
           did you mean `cache_size`?
     nothing was run
    ");
    assert_snapshot!(options("fjall", "blobs = 3"), @"
     × variant one: option `blobs` is rejected
       ╭─[mine.toml:14:1]
    13 │ [variant.options]
    14 │ blobs = 3
       · ──┬──
       ·   ╰── rejected by the engine
       ╰────
     help: the engine reports: not an option of fjall here; known: cache_size, worker_threads,
           max_cached_files, max_journaling_size, journal_compression, max_memtable_size,
           data_block_size_policy, data_block_compression_policy, index_block_compression_policy,
           data_block_hash_ratio_policy, data_block_restart_interval_policy, expect_point_read_hits,
           filter_policy, index_block_pinning_policy, filter_block_pinning_policy,
           index_block_partitioning_policy, filter_block_partitioning_policy, l0_threshold,
           table_target_size, level_ratio_policy, separation_threshold, file_target_size,
           staleness_threshold, age_cutoff, blob_compression, kv_separation
     nothing was run
    ");
}

#[test]
fn invalid_value_is_rejected_with_the_engine_error() {
    assert_snapshot!(options("sqlite", "page_size = 4096\njournal_mode = \"waal\""), @r#"
     × variant one: option `journal_mode` is rejected
       ╭─[mine.toml:15:1]
    14 │ page_size = 4096
    15 │ journal_mode = "waal"
       · ──────┬─────
       ·       ╰── rejected by the engine
       ╰────
     help: the engine reports: requested `waal`, SQLite has `delete`
     nothing was run
    "#);
    assert_snapshot!(options("memory", "speed = \"fast\""), @r#"
     × variant one: option `speed` is rejected
       ╭─[mine.toml:14:1]
    13 │ [variant.options]
    14 │ speed = "fast"
       · ──┬──
       ·   ╰── rejected by the engine
       ╰────
     help: the engine reports: memory has no options: remove it
     nothing was run
    "#);
    assert_snapshot!(options("sqlite", "page_size = [1]"), @"
     × expected text, a number, true or false, found a list
       ╭─[mine.toml:14:13]
    13 │ [variant.options]
    14 │ page_size = [1]
       ·             ─┬─
       ·              ╰── here
       ╰────
     nothing was run
    ");
}

#[test]
fn option_of_another_engine_is_identified() {
    let output = options("sqlite", "write_buffer_size = 1048576");
    assert!(output.contains("it is an option of rocksdb"), "{output}");
    let output = options("lmdb", "page_size = 4096");
    assert!(output.contains("it is an option of sqlite"), "{output}");
}

#[test]
fn oversized_keys_and_values_are_rejected_at_their_setting() {
    let long = |text: &str| rejection_of(&TINY.replace("\"2k\"", text).replace("sqlite", "lmdb"));
    assert_snapshot!(long("10\nkey_bytes = 512"), @r#"
     × variant one: keys of 512 bytes: lmdb 0.9.70 takes at most 511
      ╭─[mine.toml:8:13]
    7 │ rows = 10
    8 │ key_bytes = 512
      ·             ─┬─
      ·              ╰── requested here
    9 │ duration = "300ms"
      ╰────
     help: set `key_bytes` to 511 or less, or leave this variant out
     nothing was run
    "#);
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replace("sqlite", "lmdb"));
    assert_snapshot!(rejected(&workspace, &["run", "mine.toml", "--key-bytes", "600"]), @"
    × --key-bytes: variant one: keys of 600 bytes: lmdb 0.9.70 takes at most 511
    help: set `key_bytes` to 511 or less, or leave this variant out
    nothing was run
    ");
}

#[test]
fn command_line_option_is_rejected_without_a_location() {
    let typed = ["run", "readrandom", "--rows", "10", "--engine", "lmdb", "--option", "x=1"];
    assert_snapshot!(rejected(&Workspace::new(), &typed), @"
    × --option: variant lmdb: option `x` is rejected
    help: the engine reports: not an option of LMDB here; known: map_size, max_readers, MDB_NOSYNC,
          MDB_NOMETASYNC, MDB_WRITEMAP, MDB_MAPASYNC, MDB_NORDAHEAD, MDB_NOMEMINIT
    nothing was run
    ");
}

#[test]
fn unsupported_setting_is_rejected_at_its_line() {
    let setting = |engine: &str, text: &str| {
        rejection("engine = \"sqlite\"", &format!("engine = \"{engine}\"\n{text}"))
    };
    assert_snapshot!(setting("sqlite", "direct_io = true"), @r#"
     × variant one: not supported: direct_io: SQLite: it reads and writes through the page cache
       ╭─[mine.toml:13:13]
    12 │ engine = "sqlite"
    13 │ direct_io = true
       ·             ──┬─
       ·               ╰── requested here
       ╰────
     help: leave it out, or find a build that has it with `assay engine show`
     nothing was run
    "#);
    assert_snapshot!(setting("lmdb", "compression = \"lz4\""), @r#"
     × variant one: not supported: compression `lz4`: LMDB: rows are stored as given
       ╭─[mine.toml:13:15]
    12 │ engine = "lmdb"
    13 │ compression = "lz4"
       ·               ──┬──
       ·                 ╰── requested here
       ╰────
     help: leave it out, or find a build that has it with `assay engine show`
     nothing was run
    "#);
    let shared = TINY.replace("\"2k\"", "10\ncompression = \"zstd\"");
    assert_snapshot!(rejection_of(&shared), @r#"
     × variant one: not supported: compression `zstd`: SQLite: rows are stored as given
      ╭─[mine.toml:8:15]
    7 │ rows = 10
    8 │ compression = "zstd"
      ·               ───┬──
      ·                  ╰── requested here
    9 │ duration = "300ms"
      ╰────
     help: leave it out, or find a build that has it with `assay engine show`
     nothing was run
    "#);
}

#[test]
fn rocksdb_errors_are_quoted() {
    let Some(cache) = rocksdb_cache("9.10.0") else { return };
    let workspace = Workspace::new();
    let options = "[variant.options]\nwrite_buffer_size = 8388608\nmax_backgroud_jobs = 4\n";
    let engine = "\"rocksdb@9.10.0\"\nprofile = \"rocksdb-leveled\"\n";
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", &format!("{engine}{options}")));
    let arguments = ["run", "mine.toml", "--cache-dir", &cache];
    assert_snapshot!(rejected(&workspace, &arguments), @"
     × variant one: option `max_backgroud_jobs` is rejected
       ╭─[mine.toml:16:1]
    15 │ write_buffer_size = 8388608
    16 │ max_backgroud_jobs = 4
       · ─────────┬────────
       ·          ╰── rejected by the engine
    17 │ 
       ╰────
     help: the engine reports: Invalid argument: Could not find option: : max_backgroud_jobs
           did you mean `max_background_jobs`?
     nothing was run
    ");
    let foreign = format!("{engine}[variant.options]\npage_size = 4096");
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", &foreign));
    let output = rejected(&workspace, &arguments);
    assert!(output.contains("it is an option of sqlite"), "{output}");
    workspace
        .write("mine.toml", TINY.replace("\"sqlite\"", &format!("{engine}compression = \"lzx\"")));
    assert_snapshot!(rejected(&workspace, &arguments), @r#"
     × variant one: not supported: compression: Invalid argument: Error parsing:: compression
       ╭─[mine.toml:14:15]
    13 │ profile = "rocksdb-leveled"
    14 │ compression = "lzx"
       ·               ──┬──
       ·                 ╰── requested here
       ╰────
     help: leave it out, or find a build that has it with `assay engine show`
     nothing was run
    "#);
}

#[test]
fn capability_of_a_newer_build_is_rejected_at_its_option() {
    let Some(cache) = rocksdb_cache("7.10.2") else { return };
    let workspace = Workspace::new();
    let options = "cache = \"8MiB\"\n[variant.options]\n\"assay.cache\" = \"hyper_clock\"";
    let engine = format!("\"rocksdb@7.10.2\"\n{options}");
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", &engine));
    assert_snapshot!(rejected(&workspace, &["run", "mine.toml", "--cache-dir", &cache]));
}

/// Returns the cache of builds with a release of RocksDB in it; without one, the test is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn rocksdb_cache(release: &str) -> Option<String> {
    match supply::testing::build(&format!("rocksdb@{release}")) {
        Ok(artifact) => {
            // CACHE/engines/rocksdb/RELEASE/librocksdb.so
            let cache = artifact.library.ancestors().nth(4).expect("the directory of the cache");
            Some(cache.display().to_string())
        }
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}
