//! Proposed repetitions: their arithmetic, and injected slowdowns that they find.

mod injected;
mod proposals;
