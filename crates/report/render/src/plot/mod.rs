//! Pictures: SVG panels in a matrix of variants by steps.
//!
//! A row is named at its left and a column at its head, so colour only repeats the labels. Every
//! bar starts at zero; other axes are logarithmic and labelled so. A picture holds no fact that its
//! tables lack.
//!
//! To add a picture, add a file with a function from [`Subject`] to [`Picture`] and its line in
//! [`gallery`].

mod axis;
mod bars;
mod cpu;
mod device;
mod gallery;
mod history;
mod mark;
mod matrix;
pub(crate) mod palette;
mod picture;
mod plane;
mod rates;
mod scales;
mod seconds;
mod stall;
mod subject;
mod timeline;
mod times;
mod verdicts;

pub(crate) use device::device_pictures;
pub(crate) use gallery::{by_second, costs, gallery, overview, timed};
pub(crate) use history::histories;
pub(crate) use picture::{Labels, Picture, STYLE, px, text};
pub(crate) use seconds::throughput_traces;
pub(crate) use subject::Subject;
pub(crate) use timeline::timelines;
pub(crate) use times::times;
