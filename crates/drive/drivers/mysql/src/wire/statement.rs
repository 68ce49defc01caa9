//! Prepared statements and their parameter values.

use super::failure::Failure;

/// Command: prepare a statement.
pub(super) const PREPARE: u8 = 0x16;
/// Command: execute a prepared statement.
pub(super) const EXECUTE: u8 = 0x17;
/// Command: run a statement given as text.
pub(super) const QUERY: u8 = 0x03;
/// Command: end the connection.
pub(super) const QUIT: u8 = 0x01;

const SECONDS_PER_DAY: i64 = 86_400;

/// A statement prepared on one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    number: u32,
    parameters: usize,
    /// Types sent to the server, one code per parameter.
    types: Vec<u8>,
}

/// A value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'v> {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Seconds since 1970.
    Moment(i64),
    /// Text in the connection's character set.
    Text(&'v [u8]),
    /// Bytes.
    Bytes(&'v [u8]),
}

impl Value<'_> {
    /// Returns the code of the value's type.
    ///
    /// Source: MySQL's source documentation, `enum_field_types`.
    #[inline]
    const fn code(self) -> u8 {
        match self {
            Self::Integer(_) => 8,
            Self::Real(_) => 5,
            Self::Moment(_) => 12,
            Self::Text(_) => 253,
            Self::Bytes(_) => 252,
        }
    }

    /// Appends the value in the binary protocol.
    #[inline]
    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Real(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Moment(seconds) => {
                let moment = Moment::of(seconds);
                let [low, high] = moment.year.to_le_bytes();
                let [month, day] = moment.day;
                let [hour, minute, second] = moment.time;
                out.extend_from_slice(&[7, low, high, month, day, hour, minute, second]);
            }
            Self::Text(bytes) | Self::Bytes(bytes) => {
                put_length(bytes.len() as u64, out);
                out.extend_from_slice(bytes);
            }
        }
    }

    /// Returns the value's size in bytes: 8 for a number or a moment.
    #[inline]
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Integer(_) | Self::Real(_) | Self::Moment(_) => 8,
            Self::Text(bytes) | Self::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// Appends a length-encoded integer.
///
/// Source: MySQL's source documentation, "Length-Encoded Integer".
#[inline]
fn put_length(number: u64, out: &mut Vec<u8>) {
    let bytes = number.to_le_bytes();
    match number {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => out.extend_from_slice(&[252, bytes[0], bytes[1]]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[253, bytes[0], bytes[1], bytes[2]]),
        _ => {
            out.push(254);
            out.extend_from_slice(&bytes);
        }
    }
}

impl Statement {
    /// Parses the answer to a prepare request.
    ///
    /// Also returns the number of column descriptions that follow.
    ///
    /// Source: MySQL's source documentation, `COM_STMT_PREPARE_OK`.
    pub(super) fn read(packet: &[u8]) -> Option<(Self, u64)> {
        let (&[_, a, b, c, d], rest) = packet.split_first_chunk::<5>()?;
        let (&[e, f, g, h], _) = rest.split_first_chunk::<4>()?;
        let parameters = usize::from(u16::from_le_bytes([g, h]));
        let columns = u64::from(u16::from_le_bytes([e, f]));
        let number = u32::from_le_bytes([a, b, c, d]);
        Some((Self { number, parameters, types: Vec::new() }, columns))
    }

    /// Returns how many parameters it has.
    pub(super) const fn parameters(&self) -> usize {
        self.parameters
    }

    /// Clears the types sent: the request with them was dropped.
    pub(super) fn clear_types(&mut self) {
        self.types.clear();
    }

    /// Appends the request to execute the statement with `values`, one for each parameter.
    ///
    /// Types are sent once, and again when they change.
    #[inline]
    pub(super) fn encode<'v>(
        &mut self,
        values: impl Iterator<Item = Value<'v>> + Clone,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        out.push(EXECUTE);
        out.extend_from_slice(&self.number.to_le_bytes());
        // No cursor, and once.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if self.parameters == 0 {
            return Ok(());
        }
        out.resize(out.len() + self.parameters.div_ceil(8), 0);
        let codes = values.clone().map(Value::code);
        if codes.clone().eq(self.types.iter().copied()) {
            out.push(0);
        } else {
            self.types.clear();
            self.types.extend(codes);
            if self.types.len() != self.parameters {
                let wrong = self.wrong_count();
                self.types.clear();
                return Err(wrong);
            }
            out.push(1);
            self.types.iter().for_each(|code| out.extend_from_slice(&[*code, 0]));
        }
        values.for_each(|value| value.encode(out));
        Ok(())
    }

    #[cold]
    fn wrong_count(&mut self) -> Failure {
        let given = std::mem::take(&mut self.types).len();
        let wanted = self.parameters;
        Failure::Login(format!("a statement of {wanted} parameters was given {given} values"))
    }
}

/// A date and time of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Year, clamped to 0 to 9999.
    pub(crate) year: u16,
    /// Month and day, from 1.
    pub(crate) day: [u8; 2],
    /// Hour, minute and second.
    pub(crate) time: [u8; 3],
}

impl Moment {
    /// Converts seconds since 1970.
    ///
    /// Source: Howard Hinnant 2013, "chrono-Compatible Low-Level Date Algorithms",
    /// `civil_from_days`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    pub(crate) fn of(seconds: i64) -> Self {
        let (days, second) =
            (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
        let days = days.clamp(-719_528, 2_932_896) + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        Self {
            year: year as u16,
            day: [month as u8, (day - (153 * shifted + 2) / 5 + 1) as u8],
            time: [second / 3600, second / 60 % 60, second % 60].map(|part| part as u8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(parameters: usize) -> Statement {
        let packet = [0, 9, 0, 0, 0, 2, 0, u8::try_from(parameters).unwrap(), 0, 0, 0, 0];
        let (statement, columns) = Statement::read(&packet).unwrap();
        assert_eq!((statement.parameters(), columns), (parameters, 2));
        statement
    }

    fn encoded(statement: &mut Statement, values: &[Value<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        statement.encode(values.iter().copied(), &mut out).unwrap();
        out
    }

    #[test]
    fn types_are_sent_once_and_when_they_change() {
        let mut statement = statement(2);
        let values = [Value::Integer(-2), Value::Bytes(b"ab")];
        let head = b"\x17\x09\0\0\0\0\x01\0\0\0\0".to_vec();
        let body = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x02ab";
        let first = [&head, &b"\x01\x08\0\xfc\0"[..], body].concat();
        assert_eq!(encoded(&mut statement, &values), first);
        assert_eq!(encoded(&mut statement, &values), [&head, &b"\0"[..], body].concat());
        let other = encoded(&mut statement, &[Value::Integer(1), Value::Text(b"")]);
        assert_eq!(other[..16], *b"\x17\x09\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0");
        assert_eq!(encoded(&mut statement, &values), first);
    }

    #[test]
    fn statement_without_parameters_has_no_types() {
        assert_eq!(encoded(&mut statement(0), &[]), b"\x17\x09\0\0\0\0\x01\0\0\0");
    }

    #[test]
    fn too_few_values_are_rejected() {
        let mut statement = statement(2);
        let values = [Value::Integer(1)];
        assert!(statement.encode(values.iter().copied(), &mut Vec::new()).is_err());
    }

    #[test]
    fn lengths_are_written_in_all_four_widths() {
        let put = |number| {
            let mut out = Vec::new();
            put_length(number, &mut out);
            out
        };
        assert_eq!(put(250), [250]);
        assert_eq!(put(251), [252, 251, 0]);
        assert_eq!(put(0x1_0000), [253, 0, 0, 1]);
        assert_eq!(put(0x100_0000), [254, 0, 0, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        let moment = Moment::of(1_700_000_000);
        assert_eq!(moment, Moment { year: 2023, day: [11, 14], time: [22, 13, 20] });
        assert_eq!(Moment::of(0), Moment { year: 1970, day: [1, 1], time: [0, 0, 0] });
        assert_eq!(Moment::of(951_782_400).day, [2, 29], "2000 was a leap year");
        assert_eq!(Moment::of(-1), Moment { year: 1969, day: [12, 31], time: [23, 59, 59] });
        assert_eq!(Moment::of(i64::MAX).year, 9999);
        let mut out = Vec::new();
        Value::Moment(1_700_000_000).encode(&mut out);
        assert_eq!(out, [7, 0xe7, 7, 11, 14, 22, 13, 20]);
    }
}
