//! Reads the processor's time stamp counter.
#![expect(unsafe_code, reason = "the instruction has no safe name")]

/// Whether this kind of processor has a counter that user programs read.
pub(super) const EXISTS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Returns the counter; 0 where there is none. One instruction, inlined.
///
/// Neither `rdtscp` nor a fence. The processor may thus move the reading by the few instructions in
/// flight (tens of nanoseconds at most, the same for every engine); a fence would empty the
/// pipeline twice per operation, and slow down the measured engine.
#[inline(always)]
pub(super) fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and Linux allows it to user programs.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: the register is readable in user mode on Linux; nothing else is touched.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
        count
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}
