//! Text with an incompressible part.
//!
//! Source: [Callaghan mytools], iibench.py (the `data` column): letters `a`, then a piece from
//! a random place from 4 MiB of base64 of random bytes. There the bytes are the system's, here a
//! fixed stream's, so that two runs insert the same.

use std::sync::OnceLock;

use workload::random::{Stream, below};

/// Letters that pieces are taken from.
pub(crate) const LETTERS_BYTES: usize = 4 << 20;
/// Fills the part that is not random.
const FILLER: u8 = b'a';
/// The letters of base64. Source: RFC 4648, section 4.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Letters that one random word gives, six bits each.
const LETTERS_PER_WORD: usize = 10;
/// Names the letters' own stream: the same in every run.
const LETTERS: Stream = Stream::fixed(0x0b0d_1e50_a55a_0002);

/// Returns the letters; the first call makes them, in some milliseconds.
fn letters() -> &'static [u8] {
    static MADE: OnceLock<Box<[u8]>> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut letters = vec![0; LETTERS_BYTES].into_boxed_slice();
        for (n, piece) in (0..).zip(letters.chunks_mut(LETTERS_PER_WORD)) {
            let mut word = LETTERS.word(n);
            for letter in piece {
                *letter = ALPHABET[(word & 63) as usize];
                word >>= 6;
            }
        }
        letters
    })
}

/// Texts of a random length of which a share is random.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    letters: &'static [u8],
    shortest: u32,
    lengths: u64,
    random: f64,
}

impl Payload {
    /// Returns texts of `bytes_min` to `bytes_max` bytes; the arguments are checked.
    pub(crate) fn new(bytes_min: u32, bytes_max: u32, random: f64) -> Self {
        let lengths = u64::from(bytes_max.saturating_sub(bytes_min)) + 1;
        Self { letters: letters(), shortest: bytes_min, lengths, random }
    }

    /// Appends the text that `word` chooses to `bytes`, which has room for it.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lengths are below 4 MiB")]
    #[expect(clippy::cast_sign_loss, reason = "a share of a length is not negative")]
    pub(crate) fn draw(&self, word: u64, bytes: &mut Vec<u8>) {
        let length = self.shortest as usize + below(word, self.lengths) as usize;
        let random = ((length as f64 * self.random) as usize).min(length);
        let places = (self.letters.len() - random + 1) as u64;
        let place = below(Stream::another(word), places) as usize;
        bytes.resize(bytes.len() + length - random, FILLER);
        bytes.extend_from_slice(&self.letters[place..place + random]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_insert_benchmark_s_column_is_filler_and_then_random_letters() {
        let payload = Payload::new(10, 20, 0.375);
        let mut lengths = [0u32; 21];
        for n in 0..10_000 {
            let mut bytes = Vec::new();
            payload.draw(Stream::fixed(5).word(n), &mut bytes);
            lengths[bytes.len()] += 1;
            let random = bytes.len() * 3 / 8;
            assert!((3..=7).contains(&random));
            let (filler, letters) = bytes.split_at(bytes.len() - random);
            assert!(filler.iter().all(|letter| *letter == FILLER));
            assert!(letters.iter().all(|letter| ALPHABET.contains(letter)));
        }
        assert!(lengths[..10].iter().all(|count| *count == 0));
        assert!(lengths[10..].iter().all(|count| (700..1100).contains(count)), "{lengths:?}");
    }

    #[test]
    fn letters_are_spread_evenly() {
        let mut counts = [0u64; 256];
        letters().iter().for_each(|letter| counts[usize::from(*letter)] += 1);
        assert_eq!(letters().len(), LETTERS_BYTES);
        let mean = LETTERS_BYTES as u64 / 64;
        // 6 standard deviations of a binomial with 4 Mi draws.
        assert!(ALPHABET.iter().all(|it| counts[usize::from(*it)].abs_diff(mean) < 1_530));
    }

    #[test]
    fn all_of_a_text_or_nothing_of_it_may_be_random() {
        for (random, filler) in [(0.0, 8), (1.0, 0)] {
            let mut bytes = Vec::new();
            Payload::new(8, 8, random).draw(7, &mut bytes);
            assert!(bytes.len() == 8 && bytes[..filler].iter().all(|byte| *byte == FILLER));
        }
    }
}
