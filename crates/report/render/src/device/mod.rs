//! Profiles of storage: tables, pictures and a page.

mod list;
mod page;
mod render;
mod uses;

pub use list::render_devices;
pub use page::render_device_page;
pub use render::render_device;
pub(crate) use uses::storage_uses;
