//! Seeded random operations of the battery.

use model::{Direction, Op, OpKind};

use super::subject::Subject;

/// Seed of everything random in the battery.
pub(super) const SEED: u64 = 0x00A5_5A41_C0DE;

/// SplitMix64, a small seedable generator.
///
/// Source: [Steele Lea Flood 2014], figure 17.
pub(super) struct SplitMix(u64);

impl SplitMix {
    /// Returns the generator that starts at `seed`.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound` > 0; the modulo bias is negligible here.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    pub(super) const fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns `bytes` random bytes.
    pub(super) fn bytes(&mut self, bytes: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes + 8);
        while out.len() < bytes {
            out.extend_from_slice(&self.next().to_le_bytes());
        }
        out.truncate(bytes);
        out
    }
}

/// An operation that owns its keys and values, to send between threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    Get(Vec<u8>),
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Scan(Vec<u8>, u32, Direction),
    MultiGet(Vec<Vec<u8>>),
}

impl Request {
    /// Calls `f` with the operation, borrowed from this request.
    pub(super) fn with<R>(&self, f: impl FnOnce(&Op<'_>) -> R) -> R {
        match self {
            Self::Get(key) => f(&Op::Get { key }),
            Self::Put(key, value) => f(&Op::Put { key, value }),
            Self::Delete(key) => f(&Op::Delete { key }),
            Self::Scan(start, limit, direction) => {
                f(&Op::Scan { start, limit: *limit, direction: *direction })
            }
            Self::MultiGet(keys) => {
                let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                f(&Op::MultiGet { keys: &keys })
            }
        }
    }
}

/// Keys of the random stream, few enough to repeat.
pub(super) const KEYS: usize = 3_000;
/// Longest key of the random stream.
const KEY_BYTES: usize = 32;

/// Returns key number `index`, at most `most` bytes long.
///
/// Four shapes: random binary of 1 to 32 bytes, decimal text whose keys are prefixes of one
/// another, the 20-byte layout of db_bench, and runs of 0x00 and 0xff.
pub(super) fn key(index: usize, most: usize) -> Vec<u8> {
    let mut random = SplitMix::new(index as u64);
    let mut key = match index % 4 {
        0 => {
            let bytes = 1 + random.below(KEY_BYTES);
            random.bytes(bytes)
        }
        1 => format!("user{}", index / 4).into_bytes(),
        2 => {
            let mut key = (index as u64).to_be_bytes().to_vec();
            key.resize(20, b'0');
            key
        }
        _ => {
            let bits = random.next();
            let run = 1 + random.below(12);
            (0..run).map(|bit| if bits >> bit & 1 == 0 { 0x00 } else { 0xff }).collect()
        }
    };
    key.truncate(most);
    key
}

/// Returns a start key that sorts after every key of the random stream.
pub(super) fn after_all(most: usize) -> Vec<u8> {
    vec![0xff; most.min(KEY_BYTES + 1)]
}

/// An endless stream of requests over [`KEYS`] keys.
pub(super) struct Stream {
    random: SplitMix,
    kinds: Vec<OpKind>,
    directions: &'static [Direction],
    key_bytes_max: usize,
    value_bytes_max: usize,
}

impl Stream {
    /// Returns the stream of `seed` within the subject's capabilities.
    ///
    /// A kind's probability is its share of `kinds`.
    pub(super) fn new(seed: u64, kinds: Vec<OpKind>, subject: &Subject<'_>) -> Self {
        Self {
            random: SplitMix::new(seed),
            kinds,
            directions: subject.directions(),
            key_bytes_max: subject.key_bytes_max(),
            value_bytes_max: subject.value_bytes_max(),
        }
    }

    /// Returns the next request.
    pub(super) fn next(&mut self) -> Request {
        match self.kinds[self.random.below(self.kinds.len())] {
            OpKind::Get => Request::Get(self.key()),
            OpKind::Put => Request::Put(self.key(), self.value()),
            OpKind::Delete => Request::Delete(self.key()),
            OpKind::Scan => {
                let limit = [1, 2, 10, 100, u32::MAX >> 8][self.random.below(5)];
                let limit = if limit > 100 && self.random.below(20) != 0 { 3 } else { limit };
                let direction = self.directions[self.random.below(2) % self.directions.len()];
                Request::Scan(self.key(), limit, direction)
            }
            // Other kinds are never in `kinds`.
            OpKind::MultiGet
            | OpKind::Insert
            | OpKind::Transaction
            | OpKind::Define
            | OpKind::PartialUpdate
            | OpKind::FieldRead
            | OpKind::Append
            | OpKind::ScanSequence => Request::MultiGet(self.keys()),
        }
    }

    fn key(&mut self) -> Vec<u8> {
        key(self.random.below(KEYS), self.key_bytes_max)
    }

    /// Returns 1 to 12 keys, sometimes one of them twice.
    fn keys(&mut self) -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..=self.random.below(12)).map(|_| self.key()).collect();
        if self.random.below(3) == 0 {
            keys.push(keys[0].clone());
        }
        keys
    }

    /// Returns a value: mostly short, sometimes empty, rarely larger than a page of any engine.
    fn value(&mut self) -> Vec<u8> {
        let bytes = match self.random.below(100) {
            0..4 => 0,
            4..70 => self.random.below(100),
            70..95 => self.random.below(1_000),
            95..99 => self.random.below(9_000),
            _ => self.random.below(70_000),
        };
        self.random.bytes(bytes.min(self.value_bytes_max))
    }
}
