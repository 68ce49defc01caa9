//! ELF properties of a library: soname and exports.

use std::path::Path;

use object::elf::DT_SONAME;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

use crate::error::SupplyError;

/// Returns the soname of the library.
///
/// `None` when it has none: the loader then uses its file name.
pub(crate) fn soname(library: &Path) -> Result<Option<String>, SupplyError> {
    let image = std::fs::read(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let table = elf.elf_dynamic_table().map_err(wrong(library))?;
    let Some(entry) = table.iter().find(|entry| entry.tag == DT_SONAME) else { return Ok(None) };
    let name = table.string(entry).map_err(wrong(library))?;
    Ok(Some(String::from_utf8_lossy(name).into_owned()))
}

/// Checks that the library exports functions named after the engine.
pub(crate) fn check_exports(library: &Path, engine: &str) -> Result<(), SupplyError> {
    let image = std::fs::read(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let prefix = format!("{engine}_");
    let mut exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    if exported.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(&prefix))) {
        return Ok(());
    }
    Err(SupplyError::OtherEngine {
        path: library.to_owned(),
        engine: engine.to_owned(),
        reason: format!("it has no function whose name begins with `{prefix}`"),
    })
}

fn parse<'i>(
    library: &Path,
    image: &'i [u8],
) -> Result<ElfFile64<'i, Endianness, &'i [u8]>, SupplyError> {
    ElfFile64::parse(image).map_err(wrong(library))
}

fn wrong(library: &Path) -> impl Fn(object::read::Error) -> SupplyError {
    |error| SupplyError::WrongLibrary { path: library.to_owned(), reason: error.to_string() }
}
