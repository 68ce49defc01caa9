//! Clients over engines of this process: pipelined ones, and each step of the catalog.

#![cfg(not(feature = "model-check"))]

mod files;
mod pipeline;
mod steps;
