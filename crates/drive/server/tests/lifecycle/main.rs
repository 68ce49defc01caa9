//! Servers are made, started, found ready, watched, stopped, and leave nothing behind.

mod fake;
mod parents_that_die;
mod postgres;
mod starts_and_stops;
