//! One library, ready to open databases.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::{Capabilities, Identity};
use sha2::{Digest, Sha256};

use crate::database::RocksEngine;
use crate::feature;
use crate::ffi::Api;
use crate::ffi_db::{Db, RawOptions};
use crate::request::{Dialect, Request, single};

/// The engine's name.
const ENGINE: &str = "rocksdb";

/// Loads a RocksDB library, release 5.18 or newer, and returns its driver.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the file is no shared library, was built for another machine, is not RocksDB or too old
/// a release, or when the process holds another RocksDB library already.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>, EngineError> {
    let image = fs::read(path)
        .map_err(|error| EngineError::Fatal(format!("`{}`: {error}", path.display())))?;
    if cfg!(target_os = "linux") {
        check_image(&image, std::env::consts::ARCH)
            .map_err(|reason| EngineError::Unsupported(format!("`{}` {reason}", path.display())))?;
    }
    let api = Api::load(path)?;
    let sha256 = Sha256::digest(&image).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Box::new(RocksDriver { api, path: path.to_owned(), sha256 }))
}

/// Bytes of the ELF header of 64 bits.
const ELF_HEADER_BYTES: usize = 64;

/// Checks that an ELF file is a whole shared library for `arch`, as Rust names it.
///
/// The loader's own words for another machine are "cannot open shared object file", and a file
/// that is cut short ends the process with SIGBUS.
/// Source: Tool Interface Standard, 1995, Executable and Linking Format 1.2, "ELF Header".
fn check_image(image: &[u8], arch: &str) -> Result<(), String> {
    let head = image.first_chunk::<ELF_HEADER_BYTES>();
    let Some(head) = head.filter(|head| head.starts_with(b"\x7fELF")) else {
        return Err("is not a shared library".to_owned());
    };
    let number = |at: usize, bytes: usize| {
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let field = &head[at..at + bytes];
        if head[5] == 2 { field.iter().fold(0, join) } else { field.iter().rev().fold(0, join) }
    };
    let machine = match (number(18, 2), head[4]) {
        (3, _) => "x86".to_owned(),
        (21, _) => "powerpc64".to_owned(),
        (22, _) => "s390x".to_owned(),
        (40, _) => "arm".to_owned(),
        (62, _) => "x86_64".to_owned(),
        (183, _) => "aarch64".to_owned(),
        (243, _) => "riscv64".to_owned(),
        (number, _) => format!("machine {number}"),
    };
    if machine != arch {
        return Err(format!("was built for {machine}; this program runs on {arch}"));
    }
    // Linkers put the table of sections last: offset, entry size and entry count.
    let is_64_bits = head[4] == 2;
    let sections_end = number(40, 8).saturating_add(number(58, 2) * number(60, 2));
    if is_64_bits && sections_end > image.len() as u64 {
        return Err(format!("is cut short: {} of {sections_end} bytes", image.len()));
    }
    Ok(())
}

/// One library.
struct RocksDriver {
    api: &'static Api,
    path: PathBuf,
    sha256: String,
}

impl Driver for RocksDriver {
    fn identity(&self) -> Identity {
        Identity {
            engine: ENGINE.to_owned(),
            version: feature::version_range(|symbol| self.api.has(symbol)),
            origin: self.path.display().to_string(),
            sha256: Some(self.sha256.clone()),
            ..Identity::default()
        }
    }

    fn capabilities(&self) -> Capabilities {
        feature::capabilities(self.api)
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        // The engine would make the directory and fill it with a database of its own.
        if !spec.dir.is_dir() {
            let text = format!("`{}` is not a directory", spec.dir.display());
            return Err(EngineError::Fatal(text));
        }
        let dialect = Dialect { has_auto_hyper_clock: feature::has_auto_hyper_clock(self.api) };
        let request = Request::new(&spec.settings, &spec.options, dialect)?;
        if request.is_batched
            && let Some(reason) = self.capabilities().why_not("batched_multi_get")
        {
            let text = format!("assay.multi_get = batched: {reason}");
            return Err(EngineError::Unsupported(text));
        }
        let mut base = RawOptions::new(self.api);
        if request.has_statistics {
            base.enable_statistics();
        }
        if let Some(cache) = request.hyper_clock {
            base.set_hyper_clock(cache)?;
        }
        let options = base
            .with_string(&request.text())
            .map_err(|error| find_refused(&base, &request, error))?;
        let open = if request.is_batched { Db::open_with_family } else { Db::open };
        let db = open(options, &spec.dir).map_err(|error| name_option(&request, error))?;
        Ok(Box::new(RocksEngine::new(db, spec, &request, self.identity())?))
    }
}

/// Returns the option that the engine refuses, in its own words, by trying each alone.
///
/// The words for all of them together do not always name it.
fn find_refused(base: &RawOptions, request: &Request, all: EngineError) -> EngineError {
    for (name, value) in request.options.iter() {
        if let Err(error) = base.with_string(&single(name, value)) {
            return EngineError::Option { option: name.to_owned(), reason: error.to_string() };
        }
    }
    name_option(request, all)
}

/// Returns an error at opening as that of the option it names; the longest name wins.
fn name_option(request: &Request, error: EngineError) -> EngineError {
    let EngineError::Fatal(reason) = error else { return error };
    let text = reason.to_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_named = |name: &&str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        text.split(|c| !is_part(c)).any(|word| word == last)
    };
    let named = request.options.iter().map(|(name, _)| name).filter(is_named);
    match named.max_by_key(|name| name.len()) {
        Some(option) if reason.starts_with("Invalid argument") => {
            EngineError::Option { option: option.to_owned(), reason }
        }
        _ => EngineError::Fatal(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(machine: u8) -> Vec<u8> {
        let mut head = b"\x7fELF\x02\x01".to_vec();
        head.resize(ELF_HEADER_BYTES, 0);
        head[18] = machine;
        head
    }

    #[test]
    fn a_library_of_another_machine_is_named() {
        assert_eq!(check_image(&head(62), "x86_64"), Ok(()));
        let reason = check_image(&head(183), "x86_64").unwrap_err();
        assert_eq!(reason, "was built for aarch64; this program runs on x86_64");
        let reason = check_image(b"#!/bin/sh\n", "x86_64").unwrap_err();
        assert!(reason.contains("not a shared library"));
        assert!(check_image(b"\x7fELF", "x86_64").is_err());
        let mut cut = head(62);
        (cut[40], cut[58], cut[60]) = (64, 64, 2);
        let reason = check_image(&cut, "x86_64").unwrap_err();
        assert_eq!(reason, "is cut short: 64 of 192 bytes");
        cut.resize(192, 0);
        assert_eq!(check_image(&cut, "x86_64"), Ok(()));
    }
}
