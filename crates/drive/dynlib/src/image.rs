//! Checks a library's ELF header before loading it.

/// Bytes of the ELF header of 64 bits.
const ELF_HEADER_BYTES: usize = 64;

/// Checks that an ELF file is a complete shared library for `arch`.
///
/// `arch` is Rust's name; the error completes a sentence about the file. For another machine the
/// loader reports "cannot open shared object file", and a truncated file ends the process with
/// SIGBUS.
/// Source: Tool Interface Standard, 1995, Executable and Linking Format 1.2, "ELF Header".
///
/// # Errors
/// What is wrong with the file.
pub fn check_image(image: &[u8], arch: &str) -> Result<(), String> {
    let head = image.first_chunk::<ELF_HEADER_BYTES>();
    let Some(head) = head.filter(|head| head.starts_with(b"\x7fELF")) else {
        return Err("is not a shared library".to_owned());
    };
    let number = |at: usize, bytes: usize| {
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let field = &head[at..at + bytes];
        if head[5] == 2 { field.iter().fold(0, join) } else { field.iter().rev().fold(0, join) }
    };
    let machine = match number(18, 2) {
        3 => "x86".to_owned(),
        21 => "powerpc64".to_owned(),
        22 => "s390x".to_owned(),
        40 => "arm".to_owned(),
        62 => "x86_64".to_owned(),
        183 => "aarch64".to_owned(),
        243 => "riscv64".to_owned(),
        number => format!("machine {number}"),
    };
    if machine != arch {
        return Err(format!("was built for {machine}; this program runs on {arch}"));
    }
    // Linkers put the section header table last: offset, entry size and entry count.
    let is_64_bits = head[4] == 2;
    let sections_end = number(40, 8).saturating_add(number(58, 2) * number(60, 2));
    if is_64_bits && sections_end > image.len() as u64 {
        return Err(format!("is truncated: {} of {sections_end} bytes", image.len()));
    }
    Ok(())
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
        let mut image = head(62);
        (image[40], image[58], image[60]) = (64, 64, 2);
        let reason = check_image(&image, "x86_64").unwrap_err();
        assert_eq!(reason, "is truncated: 64 of 192 bytes");
        image.resize(192, 0);
        assert_eq!(check_image(&image, "x86_64"), Ok(()));
    }
}
