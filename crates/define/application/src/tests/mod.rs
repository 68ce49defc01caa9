//! Tests of application files: shipped ones, and every error.

mod files;
mod parameters;
mod small;
mod summary;
