//! The page and the post: structure, self-containment, size.

use std::path::Path;

use crate::fixture;
use report::{render_html, render_markdown_post};

#[test]
fn a_page_to_look_at_is_left_in_the_scratch_directory() {
    let page = render_html(&fixture::quickstart(5).input());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    std::fs::write(&path, &page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
}
#[test]
fn post() {
    let files = render_markdown_post(&fixture::quickstart(5).input());
    for (name, bytes) in files {
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), bytes).unwrap();
    }
}
