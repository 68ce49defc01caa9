//! What verdicts promise, held against simulated runs whose truth is known.
//!
//! One file for each promise. Every test prints the table behind its promise:
//! `cargo test -p stats --test quality -- --nocapture --test-threads 1`. The seeds are fixed, so
//! the figures are always the same.

#![expect(clippy::cast_precision_loss, reason = "counts of a simulation are small")]
#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::unwrap_used, reason = "a case that cannot be judged fails its test")]
#![expect(clippy::cast_sign_loss, reason = "counts of a simulation are not negative")]

mod chances;
mod coverage;
mod false_verdicts;
mod power;
mod world;
