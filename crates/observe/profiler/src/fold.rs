//! Folds the samples of spans into profiles.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use linux_perf_data::linux_perf_event_reader::{
    EventRecord, Mmap2FileId, RawEventRecord, RecordType, SampleRecord,
};
use model::profile::{UNKNOWN, is_user_only};
use model::{Nanos, Profile, ProfileBuilder, ProfileTarget, float};

use crate::address_space::{AddressSpace, Mapping, Processes, Task};
use crate::data_file::DataFile;
use crate::elf::Files;
use crate::error::ProfilerError;
use crate::rooted::is_rooted;
use crate::span::Span;
use crate::stack::addresses;
use crate::symbols::Symbols;
use crate::unwind::Unwinders;

/// The samples of one span.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The stacks.
    pub profile: Profile,
    /// The sampled event, as the file names it.
    pub event: String,
    /// Samples of the span.
    pub samples: u64,
    /// Samples that the kernel lost. Those without a time count in every span.
    pub lost: u64,
    /// Share of the samples outside of the kernel whose stack reaches the process's entry or the
    /// client's call of the engine; 0 to 1, `None` without such samples.
    pub rooted_share: Option<f64>,
    /// Why functions of the kernel have no names, and the remedy; `None` where they have.
    pub kernel_note: Option<String>,
}

/// Returns the folded samples of each span.
pub(crate) fn fold(
    data: &DataFile,
    target: ProfileTarget,
    spans: &[Span],
) -> Result<Vec<Folded>, ProfilerError> {
    let mut folder = Folder::new(target, spans);
    let event = data.read(|record| folder.add(record))?;
    Ok(folder.finish(&event))
}

/// The samples of a span so far.
#[derive(Debug)]
struct Tally {
    span: Span,
    stacks: BTreeMap<(Rc<str>, Vec<u32>), u64>,
    samples: u64,
    lost: u64,
    /// Samples with a part outside of the kernel, and those of them whose stack is whole.
    user: u64,
    rooted: u64,
}

/// A sample's stack with names.
struct NamedStack {
    frames: Vec<u32>,
    /// Whether the stack is whole; `None` for a stack of the kernel alone.
    is_rooted: Option<bool>,
}

/// Follows the records of a file.
#[derive(Debug)]
struct Folder {
    target: ProfileTarget,
    tallies: Vec<Tally>,
    processes: Processes,
    files: Files,
    symbols: Symbols,
    unwinders: Unwinders,
    /// All lost samples: by records with a time, and by the counts at the end.
    lost_at_times: u64,
    lost_in_all: u64,
}

impl Folder {
    fn new(target: ProfileTarget, spans: &[Span]) -> Self {
        let tally = |span: &Span| Tally {
            span: *span,
            stacks: BTreeMap::new(),
            samples: 0,
            lost: 0,
            user: 0,
            rooted: 0,
        };
        Self {
            target,
            tallies: spans.iter().map(tally).collect(),
            processes: Processes::default(),
            files: Files::default(),
            symbols: Symbols::default(),
            unwinders: Unwinders::default(),
            lost_at_times: 0,
            lost_in_all: 0,
        }
    }

    /// Adds a record; records come in the order of their time.
    fn add(&mut self, record: &RawEventRecord<'_>) -> io::Result<()> {
        let time = Nanos(record.timestamp().unwrap_or(0));
        if record.record_type == RecordType::LOST_SAMPLES {
            let count = record.data.as_slice().first_chunk().copied();
            self.lost_in_all += count.map_or(0, u64::from_ne_bytes);
            return Ok(());
        }
        if record.record_type == RecordType::SAMPLE && self.at(time).next().is_none() {
            return Ok(());
        }
        match record.parse()? {
            EventRecord::Sample(sample) => self.add_sample(&sample, time),
            EventRecord::Lost(lost) => {
                self.lost_at_times += lost.count;
                self.at(time).for_each(|tally| tally.lost += lost.count);
            }
            EventRecord::Mmap2(map) => {
                let inode = match &map.file_id {
                    Mmap2FileId::InodeAndVersion(inode) => Some(inode),
                    Mmap2FileId::BuildId(_) => None,
                };
                let path = map.path.as_slice();
                let file = self.files.add(&String::from_utf8_lossy(&path), inode);
                let end = map.address.saturating_add(map.length);
                let (start, offset) = (map.address, map.page_offset);
                self.processes.map(map.pid, Mapping { start, end, offset, file });
            }
            EventRecord::Comm(comm) => {
                let name = comm.name.as_slice();
                let task = Task { pid: comm.pid, tid: comm.tid };
                self.processes.rename(task, &String::from_utf8_lossy(&name), comm.is_execve);
            }
            EventRecord::Fork(fork) => {
                let child = Task { pid: fork.pid, tid: fork.tid };
                self.processes.fork(child, Task { pid: fork.ppid, tid: fork.ptid });
            }
            // Threads that end stay in the tables, since their last records may follow.
            EventRecord::Exit(_)
            | EventRecord::Mmap(_)
            | EventRecord::Throttle(_)
            | EventRecord::Unthrottle(_)
            | EventRecord::ContextSwitch(_)
            | EventRecord::Raw(_)
            | _ => {}
        }
        Ok(())
    }

    /// Iterates over the spans of a time.
    fn at(&mut self, time: Nanos) -> impl Iterator<Item = &mut Tally> {
        self.tallies.iter_mut().filter(move |tally| tally.span.contains(time))
    }

    fn add_sample(&mut self, sample: &SampleRecord<'_>, time: Nanos) {
        let stack = self.stack(sample);
        let thread = self.processes.thread(sample.tid.unwrap_or(0));
        for tally in self.at(time) {
            tally.samples += 1;
            tally.user += u64::from(stack.is_rooted.is_some());
            tally.rooted += u64::from(stack.is_rooted == Some(true));
            let key = (Rc::clone(&thread), stack.frames.clone());
            *tally.stacks.entry(key).or_insert(0) += 1;
        }
    }

    /// Returns the stack of a sample, from the root to the sampled function.
    ///
    /// Frame pointers of functions that use the register otherwise end in data: an address outside
    /// of every mapped file ends the stack.
    fn stack(&mut self, sample: &SampleRecord<'_>) -> NamedStack {
        let Self { processes, files, symbols, unwinders, .. } = self;
        let mut found = addresses(sample);
        let none = AddressSpace::default();
        let space = processes.space(sample.pid.unwrap_or(0)).unwrap_or(&none);
        if sample.user_stack.is_some() {
            found.user = unwinders.unwind(space, files, sample);
        }
        let mapped = found.user.iter().map_while(|address| Some((*address, space.find(*address)?)));
        let mapped: Vec<(u64, &Mapping)> = mapped.collect();
        let mut frames = Vec::new();
        for (address, mapping) in mapped.into_iter().rev() {
            let (file, offset) = (mapping.file, mapping.file_offset(address));
            frames.extend_from_slice(&symbols.user(file, files.get(file), offset));
        }
        let client = match self.target {
            ProfileTarget::Worker => program(space, files),
            ProfileTarget::Server => None,
        };
        let named: Vec<_> = frames.iter().map(|frame| symbols.frame(*frame)).collect();
        let is_rooted = (!found.user.is_empty()).then(|| is_rooted(&named, client));
        frames.extend(found.kernel.iter().rev().map(|address| symbols.kernel(*address)));
        NamedStack { frames, is_rooted }
    }

    /// Returns the profiles.
    fn finish(self, event: &str) -> Vec<Folded> {
        let Self { target, tallies, symbols, .. } = self;
        let kernel_note = kernel_note(event, symbols.has_kernel());
        let lost_without_time = self.lost_in_all.saturating_sub(self.lost_at_times);
        let folded = |tally: Tally| {
            let mut profile = ProfileBuilder::default();
            for ((thread, frames), samples) in &tally.stacks {
                let frames = frames.iter().map(|frame| symbols.frame(*frame).clone());
                profile.add(target, thread, &frames.collect::<Vec<_>>(), *samples);
            }
            Folded {
                profile: profile.build(),
                event: event.to_owned(),
                samples: tally.samples,
                lost: tally.lost.saturating_add(lost_without_time),
                rooted_share: (tally.user > 0).then(|| float(tally.rooted) / float(tally.user)),
                kernel_note: kernel_note.clone(),
            }
        };
        tallies.into_iter().map(folded).collect()
    }
}

/// Returns the module of a process's program, which lies at the lowest address.
fn program<'a>(space: &AddressSpace, files: &'a Files) -> Option<&'a str> {
    let mut modules = space.mappings().map(|mapping| files.get(mapping.file).module.as_str());
    modules.find(|module| *module != UNKNOWN)
}

/// Returns why functions of the kernel have no names, and the remedy.
fn kernel_note(event: &str, has_kernel: bool) -> Option<String> {
    if is_user_only(event) {
        let remedy = "CAP_PERFMON or kernel.perf_event_paranoid=1 permits it";
        return Some(format!("time in the kernel is not sampled: {remedy}"));
    }
    let remedy = "kernel.kptr_restrict=0 permits to read them, for an ordinary account with \
                  kernel.perf_event_paranoid=1";
    (!has_kernel).then(|| format!("addresses of the kernel's functions are hidden: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_functions_of_the_kernel_have_a_remedy() {
        assert_eq!(kernel_note("cpu-clock", true), None);
        assert_eq!(kernel_note("cpu_core/cycles/P", true), None);
        let hidden = kernel_note("cycles:P", false).unwrap();
        assert!(hidden.contains("kernel.kptr_restrict=0"), "{hidden}");
        let user = kernel_note("cpu-clock:u", true).unwrap();
        assert!(user.contains("kernel.perf_event_paranoid=1"), "{user}");
    }

    #[test]
    fn the_program_of_a_process_is_its_lowest_file() {
        let mut files = Files::default();
        let mut processes = Processes::default();
        for (start, path) in
            [(0x9000, "/lib/libc.so.6"), (0x1000, "//anon"), (0x5000, "/bin/assay")]
        {
            let file = files.add(path, None);
            processes.map(1, Mapping { start, end: start + 0x1000, offset: 0, file });
        }
        assert_eq!(program(processes.space(1).unwrap(), &files), Some("assay"));
        assert_eq!(program(&AddressSpace::default(), &files), None);
    }
}
