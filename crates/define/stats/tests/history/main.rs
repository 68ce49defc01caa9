//! Error rates of history changepoints, by simulation.
//!
//! Method: seeded series of known shape; the tables are in docs/validation-histories.md, and are
//! printed with `cargo test -p stats --test history -- --nocapture`. The same labelled series are
//! given to Apache Otava where it is installed.

mod detectable;
mod labelled;
mod noise;
mod null;
mod otava;
mod published;
mod ramps;
mod random;
mod recall;
mod recent;
mod score;
