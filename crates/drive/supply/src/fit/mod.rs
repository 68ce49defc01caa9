//! Shims: compiled for one build of an engine, against that build's own headers.
//!
//! A shim is one C file that a driver brings ([`shim::Recipe`]). Compiled, it lies beside the
//! engine's library; the headers lie there too, so that it can be compiled anew when its source
//! changes.

mod compiler;
mod headers;
mod image;
mod shimmed;

pub(crate) use headers::find;
pub(crate) use image::check_exports;
pub(crate) use shimmed::{Fit, fingerprint};
