//! Workload presets: sizes derived from cores and memory.
//!
//! Source: [Callaghan 2022-08-18] for the four workloads. Our choice: the shares below, which lie
//! inside the range of the sizes used there.

use model::{Bytes, DataShape, float, whole};

use crate::catalog::Machine;

/// One preset: shares of memory from which rows, cache and switches follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// Name as written in experiment files.
    pub name: &'static str,
    /// Description, one sentence without a full stop.
    pub about: &'static str,
    /// Engine cache, as a share of memory.
    pub cache_share: f64,
    /// Size of the stored rows, after compression, as a share of memory.
    pub stored_share: f64,
    /// Whether reads and background writes bypass the page cache.
    pub direct_io: bool,
    /// Block compression.
    pub compression: &'static str,
}

/// Every preset.
#[rustfmt::skip]
pub const PRESETS: &[Preset] = &[
    Preset { name: "byrx", about: "cached by the engine: the rows fit its cache",
             cache_share: 0.66, stored_share: 0.33, direct_io: false, compression: "none" },
    Preset { name: "byos", about: "cached by the operating system: the rows fit the page cache, \
    not the engine's",
             cache_share: 0.06, stored_share: 0.33, direct_io: false, compression: "none" },
    Preset { name: "iobuf", about: "IO-bound through the page cache: the rows are larger than \
    memory",
             cache_share: 0.66, stored_share: 2.0, direct_io: false, compression: "lz4" },
    Preset { name: "iodir", about: "IO-bound with O_DIRECT: the rows are larger than memory",
             cache_share: 0.66, stored_share: 2.0, direct_io: true, compression: "lz4" },
];

/// The sizes of a preset on one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Derived {
    pub(crate) rows: u64,
    pub(crate) cache_bytes: Bytes,
    pub(crate) background_jobs: u32,
}

impl Preset {
    /// Derives the sizes for a machine or a memory cap; `compression` overrides the preset's.
    pub(crate) fn derive(
        &self,
        machine: Machine,
        shape: &DataShape,
        compression: Option<&str>,
    ) -> Derived {
        let memory = float(machine.memory_bytes);
        let stored_row = match compression.unwrap_or(self.compression) {
            "none" => float(shape.row_bytes()),
            _ => float(shape.row_bytes()) * shape.compressible_to,
        };
        Derived {
            rows: whole(memory * self.stored_share / stored_row.max(1.0)).max(1),
            cache_bytes: Bytes(whole(memory * self.cache_share)),
            background_jobs: (machine.cpus.whole() / 2).clamp(2, 12),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::MACHINE;

    const SHAPE: DataShape =
        DataShape { rows: 0, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };

    fn preset(name: &str) -> &'static Preset {
        PRESETS.iter().find(|preset| preset.name == name).expect("a known preset")
    }

    #[test]
    fn cached_presets_fit_and_io_presets_do_not() {
        for name in ["byrx", "byos"] {
            let derived = preset(name).derive(MACHINE, &SHAPE, None);
            assert!(derived.rows * SHAPE.row_bytes() < MACHINE.memory_bytes.0 / 2, "{name}");
        }
        let cached = preset("byrx").derive(MACHINE, &SHAPE, None);
        assert!(cached.rows * SHAPE.row_bytes() < cached.cache_bytes.0);
        let by_os = preset("byos").derive(MACHINE, &SHAPE, None);
        assert!(by_os.rows * SHAPE.row_bytes() > by_os.cache_bytes.0);
        for name in ["iobuf", "iodir"] {
            let derived = preset(name).derive(MACHINE, &SHAPE, None);
            let stored = derived.rows * SHAPE.row_bytes() / 2;
            assert!(stored > MACHINE.memory_bytes.0, "{name}: larger than memory when compressed");
            let plain = preset(name).derive(MACHINE, &SHAPE, Some("none"));
            assert_eq!(plain.rows, derived.rows / 2, "{name}: as large on storage, uncompressed");
        }
    }
}
