//! Unwinds the stack of a sample by the tables of the mapped files.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use framehop::{CacheNative, MayAllocateDuringUnwind, Module, UnwindRegsNative};
use framehop::{Unwinder as _, UnwinderNative};
use linux_perf_data::linux_perf_event_reader::{Regs, SampleRecord, constants};

use crate::address_space::AddressSpace;
use crate::elf::Files;

/// Frames of a stack at most. Our choice: twice what `perf` records by frame pointers.
const MAX_FRAMES: usize = 256;

type Tables = UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>;

/// The unwind tables of the sampled processes.
#[derive(Default)]
pub(crate) struct Unwinders {
    /// By the version of the mappings.
    tables: BTreeMap<u64, Tables>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl fmt::Debug for Unwinders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwinders").field("tables", &self.tables.len()).finish_non_exhaustive()
    }
}

impl Unwinders {
    /// Returns the addresses of a sample's stack from the sampled function to the root; empty where
    /// the sample has no copy of a stack.
    pub(crate) fn unwind(
        &mut self,
        space: &AddressSpace,
        files: &Files,
        sample: &SampleRecord<'_>,
    ) -> Vec<u64> {
        let start = sample.user_regs.as_ref().and_then(start);
        let (Some(start), Some((stack, size))) = (start, sample.user_stack.as_ref()) else {
            return Vec::new();
        };
        let bytes = stack.as_slice();
        let size = usize::try_from(*size).unwrap_or(usize::MAX).min(bytes.len());
        let mut read = |address: u64| read_word(&bytes[..size], start.sp, address).ok_or(());
        let tables = self.tables.entry(space.version()).or_insert_with(|| tables(space, files));
        let mut frames = tables.iter_frames(start.pc, start.regs, &mut self.cache, &mut read);
        let mut addresses = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(frame.address_for_lookup());
            if addresses.len() == MAX_FRAMES {
                break;
            }
        }
        addresses
    }
}

/// Returns a word of a stack whose copy begins at the address `begin`.
fn read_word(stack: &[u8], begin: u64, address: u64) -> Option<u64> {
    let offset = usize::try_from(address.checked_sub(begin)?).ok()?;
    let (word, _) = stack.get(offset..)?.split_first_chunk()?;
    Some(u64::from_ne_bytes(*word))
}

/// Returns the tables of the files that a process has mapped.
fn tables(space: &AddressSpace, files: &Files) -> Tables {
    let mut tables = Tables::new();
    for mapping in space.mappings() {
        let file = files.get(mapping.file);
        let Some(elf) = file.elf() else { continue };
        let Some(base) = elf.base(mapping.start, mapping.offset) else { continue };
        let range = mapping.start..mapping.end;
        tables.add_module(Module::new(file.module.clone(), range, base, elf));
    }
    tables
}

/// Where unwinding starts.
struct Start {
    pc: u64,
    sp: u64,
    regs: UnwindRegsNative,
}

/// Returns the registers of a sample. Source: Linux, arch/x86/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "x86_64")]
fn start(regs: &Regs<'_>) -> Option<Start> {
    let pc = regs.get(constants::PERF_REG_X86_IP)?;
    let sp = regs.get(constants::PERF_REG_X86_SP)?;
    let frame = regs.get(constants::PERF_REG_X86_BP)?;
    Some(Start { pc, sp, regs: UnwindRegsNative::new(pc, sp, frame) })
}

/// Returns the registers of a sample. Source: Linux, arch/arm64/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "aarch64")]
fn start(regs: &Regs<'_>) -> Option<Start> {
    use framehop::aarch64::PtrAuthMask;

    /// Bits of an address of a process; signatures of return addresses use those above.
    /// Source: Linux, Documentation/arch/arm64/memory.rst, 48-bit addresses.
    const ADDRESS_BITS: u64 = (1 << 48) - 1;

    let pc = regs.get(constants::PERF_REG_ARM64_PC)?;
    let sp = regs.get(constants::PERF_REG_ARM64_SP)?;
    let frame = regs.get(constants::PERF_REG_ARM64_X29)?;
    let link = regs.get(constants::PERF_REG_ARM64_LR)?;
    let mask = PtrAuthMask(ADDRESS_BITS);
    let regs = UnwindRegsNative::new_with_ptr_auth_mask(mask, link, sp, frame);
    Some(Start { pc, sp, regs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_within_the_copy_of_the_stack() {
        let stack: Vec<u8> = (0..16).collect();
        let word = |bytes: [u8; 8]| Some(u64::from_ne_bytes(bytes));
        assert_eq!(read_word(&stack, 0x1000, 0x1000), word([0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(read_word(&stack, 0x1000, 0x1008), word([8, 9, 10, 11, 12, 13, 14, 15]));
        for address in [0xfff, 0x1009, 0x1010, u64::MAX] {
            assert_eq!(read_word(&stack, 0x1000, address), None);
        }
    }
}
