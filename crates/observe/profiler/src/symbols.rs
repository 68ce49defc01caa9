//! Addresses to functions.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Sym, Symbolized, Symbolizer};
use model::Frame;
use model::profile::{KERNEL_MODULE, UNKNOWN};

use crate::demangle::demangle;
use crate::elf::MappedFile;

/// The kernel's symbols.
const KALLSYMS: &str = "/proc/kallsyms";

/// Functions by address, each found once.
#[derive(Debug)]
pub(crate) struct Symbols {
    symbolizer: Symbolizer,
    frames: Vec<Frame>,
    positions: BTreeMap<Frame, u32>,
    user: BTreeMap<(usize, u64), Rc<[u32]>>,
    kernel: BTreeMap<u64, u32>,
    has_kernel: bool,
}

impl Default for Symbols {
    fn default() -> Self {
        Self {
            symbolizer: Symbolizer::builder().enable_demangling(false).build(),
            frames: Vec::new(),
            positions: BTreeMap::new(),
            user: BTreeMap::new(),
            kernel: BTreeMap::new(),
            has_kernel: has_kernel_addresses(&first_line(KALLSYMS)),
        }
    }
}

impl Symbols {
    /// Returns the frame at a position that other functions of this type returned.
    pub(crate) fn frame(&self, position: u32) -> &Frame {
        &self.frames[position as usize]
    }

    /// Returns whether this account may read the addresses of the kernel's functions.
    pub(crate) fn has_kernel(&self) -> bool {
        self.has_kernel
    }

    /// Returns the functions at an offset of a file, which has `position` among the files: the
    /// function, and the inlined calls at the offset, from the outermost to the innermost.
    pub(crate) fn user(&mut self, position: usize, file: &MappedFile, offset: u64) -> Rc<[u32]> {
        if let Some(known) = self.user.get(&(position, offset)) {
            return Rc::clone(known);
        }
        let path = file.path.as_deref();
        let unknown = || vec![UNKNOWN.to_owned()];
        let names = path.map_or_else(unknown, |path| self.names(path, offset));
        let frames = names.into_iter().map(|name| self.intern(&file.module, name)).collect();
        self.user.entry((position, offset)).or_insert(frames).clone()
    }

    /// Returns the function of the kernel at an address.
    pub(crate) fn kernel(&mut self, address: u64) -> u32 {
        if let Some(known) = self.kernel.get(&address) {
            return *known;
        }
        // Images and debug information of the kernel name the same functions, more slowly.
        let source = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        let source = Source::Kernel(source);
        let found = self.has_kernel.then(|| {
            let found = self.symbolizer.symbolize_single(&source, Input::AbsAddr(address));
            Some(found.ok()?.into_sym()?.name.into_owned())
        });
        let name = found.flatten().unwrap_or_else(|| UNKNOWN.to_owned());
        let frame = self.intern(KERNEL_MODULE, name);
        self.kernel.insert(address, frame);
        frame
    }

    /// Returns the position of a frame.
    fn intern(&mut self, module: &str, function: String) -> u32 {
        let frame = Frame { module: module.to_owned(), function };
        *self.positions.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            model::count(self.frames.len() - 1)
        })
    }

    /// Returns the names of a function and of the inlined calls in it.
    fn names(&self, path: &Path, offset: u64) -> Vec<String> {
        let find = |debug_syms| {
            let elf = Elf { debug_syms, ..Elf::new(path) };
            self.symbolizer.symbolize_single(&Source::Elf(elf), Input::FileOffset(offset))
        };
        // Damaged or foreign debug information must not hide the symbols of the file.
        let found = find(true).or_else(|_| find(false));
        match found {
            Ok(Symbolized::Sym(symbol)) if is_of_section(&symbol) => vec![UNKNOWN.to_owned()],
            Ok(Symbolized::Sym(symbol)) => chain(&symbol),
            Ok(Symbolized::Unknown(_)) | Err(_) => vec![UNKNOWN.to_owned()],
        }
    }
}

/// Symbols without a size that begin a section: the linker's stubs may follow, without symbols.
const SECTION_SYMBOLS: [&str; 2] = ["_init", "_fini"];

/// Returns whether a symbol is only the nearest one before an address.
fn is_of_section(symbol: &Sym<'_>) -> bool {
    SECTION_SYMBOLS.contains(&&*symbol.name) && symbol.size.unwrap_or(0) == 0
}

/// Returns the names of a symbol and its inlined calls.
fn chain(symbol: &Sym<'_>) -> Vec<String> {
    let inlined = symbol.inlined.iter().map(|inlined| &*inlined.name);
    std::iter::once(&*symbol.name).chain(inlined).map(demangle).collect()
}

/// Returns the first line of a file, empty where it cannot be read.
fn first_line(path: &str) -> String {
    use std::io::BufRead as _;
    let mut line = String::new();
    let file = std::fs::File::open(path);
    // A file that ends or fails has no line.
    file.and_then(|file| std::io::BufReader::new(file).read_line(&mut line)).ok();
    line
}

/// Returns whether a line of `/proc/kallsyms` has an address, which is 0 where it is hidden.
fn has_kernel_addresses(line: &str) -> bool {
    let address = line.split(' ').next().unwrap_or_default();
    u64::from_str_radix(address, 16).is_ok_and(|address| address > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::Files;

    #[test]
    fn hidden_addresses_of_the_kernel_are_zeros() {
        assert!(has_kernel_addresses("ffffffff81000000 T _stext\n"));
        assert!(!has_kernel_addresses("0000000000000000 T _stext\n"));
        assert!(!has_kernel_addresses(""));
    }

    #[test]
    fn unknown_addresses_have_a_module_only() {
        let mut files = Files::default();
        let gone = files.add("/no/such/libengine.so", None);
        let program = std::env::current_exe().unwrap();
        let program = files.add(program.to_str().unwrap(), None);
        let mut symbols = Symbols::default();
        for (file, offset) in [(gone, 0x1000), (program, u64::MAX)] {
            let found = symbols.user(file, files.get(file), offset);
            assert_eq!(found.len(), 1);
            assert_eq!(symbols.frame(found[0]).function, UNKNOWN);
            assert_eq!(symbols.frame(found[0]).module, files.get(file).module);
        }
    }

    #[test]
    fn a_symbol_of_a_section_names_no_function() {
        use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};

        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let elf = object::File::parse(&*bytes).unwrap();
        let symbol = elf.symbols().find(|symbol| symbol.name() == Ok("_fini")).unwrap();
        let section = elf.section_by_index(symbol.section_index().unwrap()).unwrap();
        let (begin, _) = section.file_range().unwrap();
        let offset = symbol.address() - section.address() + begin;
        let mut files = Files::default();
        let program = files.add(path.to_str().unwrap(), None);
        let mut symbols = Symbols::default();
        let found = symbols.user(program, files.get(program), offset);
        assert_eq!(symbols.frame(found[0]).function, UNKNOWN);
    }

    #[test]
    fn a_frame_has_one_position() {
        let mut symbols = Symbols::default();
        let first = symbols.kernel(0);
        assert_eq!(symbols.kernel(1), first);
        assert_eq!(symbols.frame(first).to_string(), "[kernel]`[unknown]");
    }
}
