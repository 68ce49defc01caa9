//! Reads a keyspace's options back under their own names.

use fjall::KeyspaceCreateOptions;
use model::Options;

use crate::config::SEPARATION;
use crate::value::{filter_text, list_text};

/// Returns a keyspace's options, as far as fjall returns them.
pub(crate) fn describe(keyspace: &KeyspaceCreateOptions) -> Options {
    let mut options = Options::new();
    let mut set = |name: &str, value: String| options.set(name, value);
    let filters: Vec<_> = keyspace.filter_policy.iter().map(filter_text).collect();
    set("data_block_size_policy", list_text(&keyspace.data_block_size_policy));
    set("data_block_compression_policy", list_text(&keyspace.data_block_compression_policy));
    set("index_block_compression_policy", list_text(&keyspace.index_block_compression_policy));
    set("data_block_hash_ratio_policy", list_text(&keyspace.data_block_hash_ratio_policy));
    let intervals = list_text(&keyspace.data_block_restart_interval_policy);
    set("data_block_restart_interval_policy", intervals);
    set("expect_point_read_hits", keyspace.expect_point_read_hits.to_string());
    set("filter_policy", list_text(&filters));
    set("index_block_pinning_policy", list_text(&keyspace.index_block_pinning_policy));
    set("filter_block_pinning_policy", list_text(&keyspace.filter_block_pinning_policy));
    set("index_block_partitioning_policy", list_text(&keyspace.index_block_partitioning_policy));
    set("filter_block_partitioning_policy", list_text(&keyspace.filter_block_partitioning_policy));
    for (name, value) in keyspace.compaction_strategy.get_config() {
        if let Some((name, text)) = strategy_option(&name, &value) {
            set(name, text);
        }
    }
    set(SEPARATION, keyspace.kv_separation_opts.is_some().to_string());
    if let Some(separation) = &keyspace.kv_separation_opts {
        set("separation_threshold", separation.separation_threshold.to_string());
        set("file_target_size", separation.file_target_size.to_string());
        set("staleness_threshold", separation.staleness_threshold.to_string());
        set("age_cutoff", separation.age_cutoff.to_string());
        set("blob_compression", separation.compression.to_string());
    }
    options
}

/// Parses one of fjall's binary settings of the compaction strategy.
fn strategy_option(name: &[u8], value: &[u8]) -> Option<(&'static str, String)> {
    match name {
        b"leveled_l0_threshold" => Some(("l0_threshold", value.first()?.to_string())),
        b"leveled_target_size" => {
            let bytes = u64::from_le_bytes(value.try_into().ok()?);
            Some(("table_target_size", bytes.to_string()))
        }
        b"leveled_level_ratio_policy" => {
            let (ratios, _rest) = value.get(1..)?.as_chunks::<4>();
            let ratios: Vec<_> = ratios.iter().copied().map(f32::from_le_bytes).collect();
            Some(("level_ratio_policy", list_text(&ratios)))
        }
        _ => None,
    }
}
