//! Server lifecycle: set-up, start, readiness, death, stop, clean-up.

mod fake;
mod orphans;
mod postgres;
mod privileges;
mod start_stop;
