//! Profiles of storage: tables, pictures and a page.

mod list;
mod page;
mod render;
mod uses;

pub use page::render_device_page;
pub use render::DeviceProfile;
pub(crate) use uses::storage_uses;
