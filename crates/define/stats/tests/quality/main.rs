//! Error rates of verdicts on simulated runs with known truth.
//!
//! One file for each property. Every test prints its table: `cargo test -p stats --test quality --
//! --nocapture --test-threads 1`. The seeds are fixed, so the figures are always the same.

#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::unwrap_used, reason = "a case without a verdict fails its test")]
#![expect(clippy::cast_sign_loss, reason = "counts of a simulation are not negative")]

mod correlated;
mod coverage;
mod false_verdicts;
mod p_values;
mod power;
mod shared_loads;
mod world;
