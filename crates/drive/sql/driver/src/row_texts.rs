//! Rows of an answer that are stored as text: descriptions, counters and plans of a server.

use crate::failure::Failure;

/// Most bytes that are stored of one answer. Our choice, above the statistics of a full server.
const BYTES_MAX: usize = 64 << 20;

/// Rows as text; what a server sends without end takes no memory beyond a limit.
#[derive(Debug, Default)]
pub(crate) struct RowTexts {
    rows: Vec<Vec<String>>,
    bytes: usize,
}

impl RowTexts {
    /// Adds a row, unless it exceeds the limit; null becomes empty.
    pub(crate) fn add<'r>(&mut self, fields: impl Iterator<Item = Option<&'r [u8]>>) {
        if self.bytes > BYTES_MAX {
            return;
        }
        let text = |text: Option<&[u8]>| {
            text.map(String::from_utf8_lossy).unwrap_or_default().into_owned()
        };
        let row: Vec<String> = fields.map(text).collect();
        let bytes = row.iter().map(|text| size_of::<String>() + text.len()).sum::<usize>();
        self.bytes += size_of::<Vec<String>>() + bytes;
        self.rows.push(row);
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// When the server sent more than the limit.
    pub(crate) fn all<E>(self) -> Result<Vec<Vec<String>>, Failure<E>> {
        match self.bytes > BYTES_MAX {
            true => {
                let limit = BYTES_MAX >> 20;
                Err(Failure::Lost(format!("an answer about the server is longer than {limit} MiB")))
            }
            false => Ok(self.rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_the_limit_are_not_stored_and_an_error() {
        let mut rows = RowTexts::default();
        rows.add([Some(&b"one"[..]), None].into_iter());
        let mut more = RowTexts::default();
        let long = vec![b'x'; BYTES_MAX / 4];
        (0..1_000).for_each(|_| more.add([Some(&long[..])].into_iter()));
        assert!(more.rows.len() <= 4, "{}", more.rows.len());
        let error = more.all::<String>().unwrap_err().to_string();
        assert!(error.contains("longer than 64 MiB"), "{error}");
        assert_eq!(rows.all::<String>(), Ok(vec![vec!["one".to_owned(), String::new()]]));
    }
}
