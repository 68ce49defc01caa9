//! Error rates of verdicts on simulated runs with known truth.
//!
//! One file for each property. Every test prints its table: `cargo test -p stats --test quality --
//! --nocapture --test-threads 1`. The seeds are fixed, so the figures are always the same.
//!
//! A test alone simulates a sample of the cases; `ASSAY_CAMPAIGN=long` simulates all of them, as
//! for docs/validation.md. A sample has twice the standard error. Its limits are stated in standard
//! errors, or are at least two of them away from the nominal rate; a campaign's 5 % is not, and its
//! seeds are fixed.

#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::unwrap_used, reason = "a case without a verdict fails its test")]
#![expect(clippy::cast_sign_loss, reason = "counts of a simulation are not negative")]

mod correlated;
mod coverage;
mod false_verdicts;
mod machines;
mod p_values;
mod power;
mod profiles;
mod shared_loads;
mod world;
