//! Checksummed pieces of files, and numbers in bytes.

use crate::error::Error;
use crate::files::StoredFile;
use crate::options::Compression;

/// Bytes before the content of a frame or a block: checksum and length.
pub(crate) const HEADER: usize = 8;
/// Bit of a block's length: the content is compressed.
const IS_COMPRESSED: u32 = 1 << 31;

/// Returns the four bytes at `at` as a number; `None` beyond the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the eight bytes at `at` as a number; `None` beyond the end.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns a length as stored: 32 bits.
pub(crate) fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("lengths are checked when they are written")
}

/// Appends content with its length and the CRC-32 of both.
pub(crate) fn put_frame(to: &mut Vec<u8>, content: &[u8]) {
    put(to, length(content.len()), content);
}

/// Returns the content of the first frame and what follows; `None` when it is torn.
pub(crate) fn frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = HEADER + u32_at(bytes, 4)? as usize;
    let content = bytes.get(HEADER..end)?;
    (crc32fast::hash(&bytes[4..end]) == u32_at(bytes, 0)?).then_some((content, &bytes[end..]))
}

fn put(to: &mut Vec<u8>, head: u32, content: &[u8]) {
    let start = to.len();
    to.extend([0; 4]);
    to.extend(head.to_le_bytes());
    to.extend(content);
    let sum = crc32fast::hash(&to[start + 4..]);
    to[start..start + 4].copy_from_slice(&sum.to_le_bytes());
}

/// Appends a block: content that may be compressed, with a checksum; returns its stored bytes.
pub(crate) fn put_block(to: &mut Vec<u8>, content: &[u8], compression: Compression) -> u32 {
    let start = to.len();
    let compressed = match compression {
        Compression::Lz4 => Some(lz4_flex::block::compress(content)),
        Compression::None => None,
    };
    match compressed.filter(|compressed| compressed.len() < content.len()) {
        Some(compressed) => put(to, length(content.len()) | IS_COMPRESSED, &compressed),
        None => put(to, length(content.len()), content),
    }
    length(to.len() - start)
}

/// Reads a block.
pub(crate) fn block(file: &StoredFile, offset: u64, bytes: u32) -> Result<Vec<u8>, Error> {
    let stored = file.read_at(offset, bytes as usize)?;
    let (Some(sum), Some(head)) = (u32_at(&stored, 0), u32_at(&stored, 4)) else {
        return Err(file.damaged("a block is too short"));
    };
    if crc32fast::hash(&stored[4..]) != sum {
        return Err(file.damaged("the checksum of a block does not hold"));
    }
    let content = &stored[HEADER..];
    if head & IS_COMPRESSED == 0 {
        return Ok(content.to_vec());
    }
    lz4_flex::block::decompress(content, (head & !IS_COMPRESSED) as usize)
        .map_err(|_invalid| file.damaged("a block cannot be decompressed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_or_changed_frame_is_none() {
        let mut bytes = Vec::new();
        put_frame(&mut bytes, b"first");
        put_frame(&mut bytes, b"");
        let (content, rest) = frame(&bytes).unwrap();
        assert_eq!(content, b"first");
        assert_eq!(frame(rest), Some((&b""[..], &b""[..])));
        for end in 0..HEADER + 5 {
            assert_eq!(frame(&bytes[..end]), None, "{end}");
        }
        for at in 0..HEADER + 5 {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(frame(&changed), None, "{at}");
        }
    }
}
