//! A microbenchmark: what a block costs each implementation, and what was published of the like.

mod published;
mod render;

pub use render::render_micro;
