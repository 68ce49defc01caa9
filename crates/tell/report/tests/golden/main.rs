//! What users see, from one invented experiment: tables, page and post.

mod fixture;
mod page;
mod tables;
