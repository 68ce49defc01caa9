//! Mapped files: their names, and the parts of ELF files that unwinding needs.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::ModuleSectionInfo;
use linux_perf_data::linux_perf_event_reader::Mmap2InodeAndVersion;
use model::profile::UNKNOWN;
use object::read::{Object as _, ObjectSection as _, ObjectSegment as _, ReadCache};

/// The sections that unwinding reads. Source: framehop 0.16, `ModuleSectionInfo`.
const SECTIONS: [&str; 5] = [".text", ".got", ".eh_frame", ".eh_frame_hdr", ".debug_frame"];
/// A section of them whose content is not read: the code.
const CODE: &str = ".text";

/// A file that processes have mapped.
#[derive(Debug)]
pub(crate) struct MappedFile {
    /// Its path; `None` where the file is gone, was replaced, or is none.
    pub(crate) path: Option<PathBuf>,
    /// Its name in frames.
    pub(crate) module: String,
    elf: OnceCell<Option<Elf>>,
}

impl MappedFile {
    fn new(path: &str, inode: Option<&Mmap2InodeAndVersion>) -> Self {
        let is_file = path.starts_with('/') && !path.starts_with("//");
        let name = Path::new(path.trim_end_matches(" (deleted)")).file_name();
        let module = match name.and_then(|name| name.to_str()) {
            Some(name) if is_file || name.starts_with('[') => name,
            _ => UNKNOWN,
        };
        let path = (is_file && is_same(Path::new(path), inode)).then(|| PathBuf::from(path));
        Self { path, module: module.to_owned(), elf: OnceCell::new() }
    }

    /// Returns what unwinding needs; `None` where the file is no ELF file.
    pub(crate) fn elf(&self) -> Option<&Elf> {
        let read = || self.path.as_deref().and_then(Elf::read);
        self.elf.get_or_init(read).as_ref()
    }
}

/// Returns whether a path still names the file that was mapped.
///
/// File systems of several devices, as of containers, show another device than was mapped: there
/// the path decides.
fn is_same(path: &Path, mapped: Option<&Mmap2InodeAndVersion>) -> bool {
    let Ok(now) = fs::metadata(path) else { return false };
    let device = (rustix::fs::major(now.dev()), rustix::fs::minor(now.dev()));
    let is_other = |mapped: &Mmap2InodeAndVersion| {
        (mapped.major, mapped.minor) == device && mapped.inode != now.ino()
    };
    now.is_file() && !mapped.is_some_and(is_other)
}

/// Every mapped file.
#[derive(Debug, Default)]
pub(crate) struct Files {
    list: Vec<MappedFile>,
    positions: BTreeMap<(String, u64), usize>,
}

impl Files {
    /// Returns the position of a file, which is added where it is new.
    pub(crate) fn add(&mut self, path: &str, inode: Option<&Mmap2InodeAndVersion>) -> usize {
        let key = (path.to_owned(), inode.map_or(0, |inode| inode.inode));
        *self.positions.entry(key).or_insert_with(|| {
            self.list.push(MappedFile::new(path, inode));
            self.list.len() - 1
        })
    }

    /// Returns the file at a position that [`Files::add`] returned.
    pub(crate) fn get(&self, position: usize) -> &MappedFile {
        &self.list[position]
    }
}

/// A section: its addresses in the file, and its content unless it is code.
type Section = (Range<u64>, Option<Arc<[u8]>>);

/// The parts of an ELF file that unwinding needs.
#[derive(Debug)]
pub(crate) struct Elf {
    /// Loaded code: offsets in the file, and the address of the first one.
    segments: Vec<(Range<u64>, u64)>,
    sections: BTreeMap<&'static str, Section>,
}

impl Elf {
    fn read(path: &Path) -> Option<Self> {
        let cache = ReadCache::new(fs::File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let code = file.segments().filter(|segment| segment.permissions().executable());
        let segments = code.map(|segment| {
            let (offset, size) = segment.file_range();
            (offset..offset.saturating_add(size), segment.address())
        });
        let section = |name: &'static str| {
            let section = file.section_by_name(name)?;
            let end = section.address().saturating_add(section.size());
            let data = if name == CODE { None } else { section.data().ok().map(Arc::from) };
            Some((name, (section.address()..end, data)))
        };
        let sections = SECTIONS.into_iter().filter_map(section).collect();
        Some(Self { segments: segments.collect(), sections })
    }

    /// Returns the address at which the file's address 0 lies in a process that has mapped the
    /// offset `offset` at `start`.
    pub(crate) fn base(&self, start: u64, offset: u64) -> Option<u64> {
        let (file, address) = self.segments.iter().find(|(file, _)| {
            // The first page of a segment begins before it.
            file.contains(&offset) || (offset..offset.saturating_add(PAGE)).contains(&file.start)
        })?;
        Some(start.wrapping_sub(offset).wrapping_add(file.start).wrapping_sub(*address))
    }
}

/// Largest page of the architectures, bytes. Source: elf(5), alignment of segments on aarch64.
const PAGE: u64 = 65_536;

impl ModuleSectionInfo<Arc<[u8]>> for &Elf {
    fn base_svma(&self) -> u64 {
        0
    }

    fn section_svma_range(&mut self, name: &[u8]) -> Option<Range<u64>> {
        let name = std::str::from_utf8(name).ok()?;
        self.sections.get(name).map(|(range, _)| range.clone())
    }

    fn section_data(&mut self, name: &[u8]) -> Option<Arc<[u8]>> {
        let name = std::str::from_utf8(name).ok()?;
        self.sections.get(name).and_then(|(_, data)| data.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(segments: Vec<(Range<u64>, u64)>) -> Elf {
        Elf { segments, sections: BTreeMap::new() }
    }

    #[test]
    fn base_follows_from_the_segment_of_the_offset() {
        let file = elf(vec![(0..0x500, 0), (0x1000..0x3000, 0x11000)]);
        assert_eq!(file.base(0x7f00_0001_1000, 0x1000), Some(0x7f00_0000_0000));
        assert_eq!(file.base(0x7f00_0001_2000, 0x2000), Some(0x7f00_0000_0000));
        assert_eq!(file.base(0x1000, 0x9_0000), None);
    }

    #[test]
    fn base_of_a_segment_that_begins_within_a_page() {
        let file = elf(vec![(0x1234..0x3000, 0x2234)]);
        assert_eq!(file.base(0x5000_2000, 0x1000), Some(0x5000_0000));
    }

    #[test]
    fn the_own_program_has_unwind_tables() {
        let path = std::env::current_exe().unwrap();
        let own = Elf::read(&path).unwrap();
        assert!(own.sections[".eh_frame"].1.is_some() && own.sections[".text"].1.is_none());
        assert!(Elf::read(Path::new("/proc/self/status")).is_none());
    }

    #[test]
    fn a_file_that_is_gone_or_replaced_has_a_module_but_no_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libengine.so.7");
        fs::write(&path, "").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let mapped = |inode| Mmap2InodeAndVersion {
            major: rustix::fs::major(metadata.dev()),
            minor: rustix::fs::minor(metadata.dev()),
            inode,
            inode_generation: 0,
        };
        let text = path.to_str().unwrap();
        let mut files = Files::default();
        let same = files.add(text, Some(&mapped(metadata.ino())));
        let replaced = files.add(text, Some(&mapped(metadata.ino() + 1)));
        let gone = files.add(&format!("{text} (deleted)"), Some(&mapped(metadata.ino())));
        assert_eq!(files.add(text, Some(&mapped(metadata.ino()))), same);
        let paths = [same, replaced, gone].map(|file| files.get(file).path.is_some());
        assert_eq!(paths, [true, false, false]);
        for file in [same, replaced, gone] {
            assert_eq!(files.get(file).module, "libengine.so.7");
        }
    }

    #[test]
    fn memory_that_is_no_file_has_a_module_only_in_brackets() {
        let mut files = Files::default();
        let module = |files: &mut Files, path| {
            let file = files.add(path, None);
            assert_eq!(files.get(file).path, None);
            files.get(file).module.clone()
        };
        assert_eq!(module(&mut files, "[vdso]"), "[vdso]");
        assert_eq!(module(&mut files, "//anon"), UNKNOWN);
        assert_eq!(module(&mut files, ""), UNKNOWN);
        assert_eq!(module(&mut files, "anon_inode:[perf_event]"), UNKNOWN);
    }
}
