//! `assay serve`: the archive in a browser.
//!
//! The crate `serve` answers requests, `render::site` writes the pages, and this folder finds what
//! they show. To add a page, add its address to `Dashboard::answer`.

mod charts;
mod editor;
mod entries;
mod feed;
mod files;
mod json;
mod launch;
mod options;
mod pages;
mod replay;
mod shelf;
mod site;

pub(crate) use files::{SiteArgs, run_site};
pub(crate) use options::{Args, run};
