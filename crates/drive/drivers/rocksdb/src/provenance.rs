//! Build facts and options from the LOG and OPTIONS files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use model::Options;

use crate::cache::TABLE;

/// Bytes read of the LOG; its head is much shorter (40 KB in 11.8).
const HEAD_BYTES: u64 = 1 << 20;

/// A 32-bit field that 5.18 prints with the next field as high half.
const READ_AMP: &str = "read_amp_bytes_per_bit";

/// Lines of the LOG with facts, and the names of those.
const FACTS: [(&str, &str); 3] = [
    ("Git sha ", "git_sha"),
    ("Compile date ", "compile_date"),
    ("Fast CRC32 supported: ", "fast_crc32"),
];
/// Parameters of a block cache in the LOG.
const CACHE_PARAMETERS: [&str; 6] = [
    "block_cache_name",
    "capacity",
    "num_shard_bits",
    "strict_capacity_limit",
    "high_pri_pool_ratio",
    "low_pri_pool_ratio",
];

/// Facts from the head of the LOG; absent when it lies elsewhere (`db_log_dir`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LogHead {
    /// The engine's version.
    pub(crate) version: Option<String>,
    /// Build facts by name.
    pub(crate) facts: BTreeMap<String, String>,
    /// The block cache: its class under `block_cache_name`, its parameters under their names; and
    /// the class of the blob cache under `blob_cache_name`.
    pub(crate) cache: BTreeMap<String, String>,
}

/// Reads the head of the LOG in `dir`.
pub(crate) fn log_head(dir: &Path) -> LogHead {
    let mut bytes = Vec::new();
    let read =
        File::open(dir.join("LOG")).and_then(|log| log.take(HEAD_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) => parse_head(&String::from_utf8_lossy(&bytes)),
        // An option may place the LOG elsewhere, so its absence is not an error.
        Err(_) => LogHead::default(),
    }
}

fn parse_head(head_text: &str) -> LogHead {
    let mut head = LogHead::default();
    let mut compressions: Vec<&str> = Vec::new();
    for line in head_text.lines() {
        // Lines begin with a date and a thread; continued lines do not.
        let text = line.splitn(3, ' ').last().unwrap_or(line).trim();
        if let Some(version) = text.strip_prefix("RocksDB version: ") {
            head.version = Some(version.trim().to_owned());
        } else if let Some((fact, value)) =
            FACTS.iter().find_map(|(start, fact)| Some((*fact, text.strip_prefix(start)?)))
        {
            let value = value.trim_start_matches("rocksdb_build_git_sha:").trim();
            if !value.is_empty() {
                head.facts.insert(fact.to_owned(), value.to_owned());
            }
        } else if let Some(name) = text.strip_prefix("Options.blob_cache: ") {
            head.cache.entry("blob_cache_name".to_owned()).or_insert_with(|| name.to_owned());
        } else if let Some(name) = text.strip_suffix(" supported: 1") {
            compressions.extend(name.trim().strip_prefix('k').filter(|name| !name.contains(' ')));
        } else if let (true, Some((name, value))) = (line.starts_with("  "), line.split_once(':'))
            && CACHE_PARAMETERS.contains(&name.trim())
        {
            // The first column family's.
            let name = name.trim().to_owned();
            head.cache.entry(name).or_insert_with(|| value.trim().to_owned());
        }
    }
    compressions.sort_unstable();
    if !compressions.is_empty() {
        head.facts.insert("compression".to_owned(), compressions.join(" "));
    }
    head
}

/// The engine's version, and the options of database, default column family and table in force,
/// dotted where nested.
pub(crate) type OptionsFile = (Option<String>, Options);

/// Copy of the OPTIONS file that the database was opened with.
///
/// The engine deletes old OPTIONS files when an option changes, and does not know this name.
pub(crate) const OPTIONS_COPY: &str = "OPTIONS";

/// Copies the newest OPTIONS file in `dir` to [`OPTIONS_COPY`].
pub(crate) fn copy_options(dir: &Path) -> io::Result<()> {
    // Not `fs::copy`: it changes the mode, which is refused to an engine that is confined.
    fs::write(dir.join(OPTIONS_COPY), fs::read(newest_options(dir)?)?)
}

/// Reads the newest OPTIONS file in `dir`.
pub(crate) fn options_file(dir: &Path) -> io::Result<OptionsFile> {
    let mut file = parse_options(&fs::read_to_string(newest_options(dir)?)?);
    clear_data_path(&mut file.1, dir);
    Ok(file)
}

/// Returns the path of the newest OPTIONS file in `dir`.
fn newest_options(dir: &Path) -> io::Result<PathBuf> {
    let number = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("OPTIONS-")?.parse().ok()
    };
    let paths = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<io::Result<Vec<_>>>()?.into_iter();
    let newest = paths.filter(|path| number(path).is_some()).max_by_key(number);
    newest.ok_or_else(|| {
        let text = format!("no OPTIONS file in `{}`", dir.display());
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

/// Clears options whose value is the data directory.
///
/// 5.18 writes `wal_dir` as the path it resolved, where later releases leave it empty: two runs of
/// one configuration would appear to differ.
fn clear_data_path(options: &mut Options, dir: &Path) {
    let is_place = |value: &str| value.trim_end_matches('/') == dir.to_string_lossy();
    let clear = |value| if is_place(value) { "" } else { value };
    *options = options.iter().map(|(name, value)| (name, clear(value))).collect();
}

fn parse_options(text: &str) -> OptionsFile {
    let (mut version, mut options) = OptionsFile::default();
    let mut prefix: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            prefix = section_prefix(section);
        } else if let Some((name, value)) = line.split_once('=') {
            if name == "rocksdb_version" {
                version = Some(value.to_owned());
            } else if let Some(prefix) = &prefix {
                let value = if name == READ_AMP { low_half(value) } else { value.to_owned() };
                flatten(&format!("{prefix}{name}"), &value, &mut options);
            }
        }
    }
    (version, options)
}

/// Returns the low half of a number of 64 bits.
fn low_half(value: &str) -> String {
    let number = value.parse::<u64>().map(|number| number & u64::from(u32::MAX));
    number.map_or_else(|_not_a_number| value.to_owned(), |number| number.to_string())
}

/// Returns the prefix of a section's names; `None` for an unused section.
fn section_prefix(section: &str) -> Option<String> {
    if section.starts_with("DBOptions") {
        return Some(String::new());
    }
    if !section.contains("\"default\"") {
        return None;
    }
    if section.starts_with("CFOptions") {
        return Some(String::new());
    }
    let table = section.strip_prefix("TableOptions/")?.split(' ').next()?;
    let table = if table == "BlockBasedTable" { TABLE } else { table };
    Some(format!("{table}."))
}

/// Sets `name` to `value`; a value in braces becomes dotted names.
fn flatten(name: &str, value: &str, options: &mut Options) {
    let inner = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let Some(inner) = inner.filter(|inner| inner.contains('=')) else {
        options.set(name, value);
        return;
    };
    let mut depth = 0_i32;
    let mut start = 0;
    let ends = inner.char_indices().filter_map(|(at, c)| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        (c == ';' && depth == 0).then_some(at)
    });
    for end in ends.chain([inner.len()]).collect::<Vec<_>>() {
        if let Some((key, value)) = inner.get(start..end).and_then(|part| part.split_once('=')) {
            flatten(&format!("{name}.{}", key.trim()), value.trim(), options);
        }
        start = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_of_the_log_has_build_and_cache() {
        let head = parse_head(
            "2026/11/20-20:31:27.178140 7f3b24284b80 RocksDB version: 5.18.4\n\
             2026/11/20-20:31:27.178189 7f3b24284b80 Git sha rocksdb_build_git_sha:\n\
             2026/11/20-20:31:27.178191 7f3b24284b80 Compile date Mar 11 2020\n\
             2026/11/20-20:37:02.102828 7fcf1700cb80 Compression algorithms supported:\n\
             2026/11/20-20:37:02.102834 7fcf1700cb80 \tkZSTD supported: 1\n\
             2026/11/20-20:37:02.102835 7fcf1700cb80 \tkXpressCompression supported: 0\n\
             2026/11/20-20:37:02.102836 7fcf1700cb80 \tkLZ4Compression supported: 1\n\
             2026/11/20-20:37:02.102840 7fcf1700cb80 Fast CRC32 supported: Not supported on x86\n\
             2026/11/20-20:37:02.102840 7fcf1700cb80 Jemalloc supported: 1\n\
             \x20 block_cache_name: LRUCache\n\
             \x20 block_cache_options:\n\
             \x20   capacity : 8388608\n\
             \x20   num_shard_bits : 4\n\
             \x20   high_pri_pool_ratio: 0.250\n\
             2026/11/21-19:06:12.375 140671        Options.blob_cache: LRUCache\n\
             2026/11/21-19:06:12.376 140671        blob_cache options:     capacity : 1\n\
             \x20   high_pri_pool_ratio: 0.5\n",
        );
        assert_eq!(head.version.as_deref(), Some("5.18.4"));
        let facts: Vec<_> = head.facts.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(
            facts,
            [
                "compile_date=Mar 11 2020",
                "compression=LZ4Compression ZSTD",
                "fast_crc32=Not supported on x86"
            ]
        );
        assert_eq!(head.cache["block_cache_name"], "LRUCache");
        assert_eq!((&*head.cache["capacity"], &*head.cache["num_shard_bits"]), ("8388608", "4"));
        assert_eq!(head.cache["high_pri_pool_ratio"], "0.250");
        assert_eq!(head.cache["blob_cache_name"], "LRUCache");
    }

    #[test]
    fn data_directory_is_not_an_option() {
        let mut options: Options =
            [("wal_dir", "/data/run-1"), ("db_log_dir", "/logs")].into_iter().collect();
        clear_data_path(&mut options, Path::new("/data/run-1"));
        assert_eq!(options.get("wal_dir"), Some(""));
        assert_eq!(options.get("db_log_dir"), Some("/logs"));
    }

    #[test]
    fn options_are_named_as_users_write_them() {
        let (version, options) = parse_options(
            "[Version]\n  rocksdb_version=11.8.1\n  options_file_version=1.1\n\n\
             [DBOptions]\n  max_background_jobs=2\n\n\
             [CFOptions \"default\"]\n  write_buffer_size=1048576\n\
             \x20 compaction_options_universal={size_ratio=1;stop={a=b;};}\n\
             \x20 merge_operator={id=none}\n  compression_per_level=\n  \n\
             [TableOptions/BlockBasedTable \"default\"]\n  block_size=8192\n\
             \x20 read_amp_bytes_per_bit=8589934592\n\
             [CFOptions \"other\"]\n  write_buffer_size=7\n",
        );
        assert_eq!(version.as_deref(), Some("11.8.1"));
        let options: Vec<_> =
            options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            options,
            [
                "max_background_jobs=2",
                "write_buffer_size=1048576",
                "compaction_options_universal.size_ratio=1",
                "compaction_options_universal.stop.a=b",
                "merge_operator.id=none",
                "compression_per_level=",
                "block_based_table_factory.block_size=8192",
                "block_based_table_factory.read_amp_bytes_per_bit=0"
            ]
        );
    }
}
