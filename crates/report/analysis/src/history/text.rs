//! Text of a file of any encoding that spreadsheets and shells write.

use super::problem::HistoryError;

/// First bytes of files that hold no text, what they are, and what to do.
const BINARY: [(&[u8], &str, &str); 7] = [
    (b"\x1f\x8b", "compressed with gzip", UNPACK),
    (b"BZh", "compressed with bzip2", UNPACK),
    (b"\xfd7zXZ", "compressed with xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", UNPACK),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", EXPORT),
    (b"PAR1", "a Parquet file", EXPORT),
    (b"SQLite format 3", "a SQLite database", EXPORT),
];
const UNPACK: &str = "decompress it, or pass its text to --import -";
const EXPORT: &str = "export it as CSV";

/// Returns the text of a file in UTF-8, or in UTF-16 with its byte-order mark.
///
/// # Errors
/// When it is neither.
pub(super) fn decode(bytes: &[u8]) -> Result<String, HistoryError> {
    let not_text =
        |what: &str, remedy: &str| HistoryError::Format(format!("the file is {what}: {remedy}"));
    if let Some((_, what, remedy)) = BINARY.iter().find(|(start, ..)| bytes.starts_with(start)) {
        return Err(not_text(what, remedy));
    }
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks(2).map(|pair| unit([pair[0], *pair.get(1).unwrap_or(&0)]));
        let text = String::from_utf16(&pairs.collect::<Vec<u16>>());
        text.map_err(|_lone_half| not_text("damaged UTF-16", "save it as UTF-8"))
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes)?,
        _ => String::from_utf8(bytes.to_vec()).map_err(|error| {
            let before = &bytes[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let what = format!("not UTF-8 in line {line}");
            not_text(&what, "convert it, such as with iconv -f latin1 -t utf-8")
        })?,
    };
    if text.contains('\0') {
        return Err(not_text("binary, or UTF-16 without its byte-order mark", "save it as UTF-8"));
    }
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_utf_8_and_in_utf_16_of_both_byte_orders() {
        let text = "time,gr\u{f6}\u{df}e\n1,2\n";
        let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
        };
        let marked = format!("\u{feff}{text}").into_bytes();
        let little = wide([0xff, 0xfe], u16::to_le_bytes);
        let big = wide([0xfe, 0xff], u16::to_be_bytes);
        for bytes in [text.as_bytes(), &marked, &little, &big] {
            assert_eq!(decode(bytes), Ok(text.to_owned()), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_kind() {
        let files: [(&[u8], &str); 5] = [
            (b"\x1f\x8b\x08\0", "compressed with gzip"),
            (b"PK\x03\x04\x14\0", "a zip archive or a spreadsheet"),
            (b"a,b\n1,\xf6\n", "not UTF-8 in line 2"),
            (b"a\0,\0b\0", "UTF-16 without its byte-order mark"),
            (b"\xff\xfe\0\xd8", "damaged UTF-16"),
        ];
        for (bytes, kind) in files {
            let refusal = decode(bytes).map_err(|error| error.to_string()).unwrap_err();
            assert!(refusal.contains(kind), "{refusal}");
        }
    }
}
