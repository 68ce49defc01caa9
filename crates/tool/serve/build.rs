//! Copies the bundled scripts and styles, which may be absent, to where the crate includes them.

#![expect(clippy::disallowed_methods, reason = "cargo passes the directory in the environment")]

use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::{env, fs, io};

/// Where the bundle is built, and its files.
const BUNDLE: &str = "web/dist";
const FILES: [&str; 3] = ["app.css", "app.js", "licences.txt"];

fn main() -> io::Result<()> {
    let bundle = Path::new(BUNDLE);
    let made = env::var("OUT_DIR").map_err(io::Error::other)?;
    let mut version = DefaultHasher::new();
    for name in FILES {
        let bytes = match fs::read(bundle.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        version.write_usize(bytes.len());
        version.write(&bytes);
        fs::write(Path::new(&made).join(name), &bytes)?;
    }
    println!("cargo::rustc-env=BUNDLE_VERSION={:016x}", version.finish());
    // Cargo would compile the crate at every build for a path that does not exist.
    let mut folders = bundle.ancestors().filter(|path| !path.as_os_str().is_empty());
    let watched = folders.find(|path| path.is_dir()).unwrap_or(Path::new("."));
    println!("cargo::rerun-if-changed={}", watched.display());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
