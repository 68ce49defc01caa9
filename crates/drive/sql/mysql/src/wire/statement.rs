//! Prepared statements and their parameter values.

use driver_sql::{Moment, Value};

use super::failure::Failure;

/// Command: prepare a statement.
pub(super) const PREPARE: u8 = 0x16;
/// Command: execute a prepared statement.
pub(super) const EXECUTE: u8 = 0x17;
/// Command: run a statement given as text.
pub(super) const QUERY: u8 = 0x03;
/// Command: answer nothing but success.
pub(super) const PING: u8 = 0x0e;
/// Command: end the connection.
pub(super) const QUIT: u8 = 0x01;

/// A statement prepared on one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    number: u32,
    pub(super) parameters: usize,
    /// The argument of each parameter.
    pub(super) positions: Vec<usize>,
    /// Types sent to the server, one code per parameter.
    types: Vec<u8>,
    /// Whether columns of its rows are read.
    pub(super) is_read: bool,
}

/// Returns the code of a value's type.
///
/// Source: MySQL's source documentation, `enum_field_types`.
#[inline]
fn code(value: Value<'_>) -> u8 {
    match value {
        Value::Integer(_) => 8,
        Value::Real(_) => 5,
        Value::Moment(_) => 12,
        Value::Text(_) => 253,
        Value::Bytes(_) => 252,
        Value::Keys(_) => unreachable!("MySQL has no arrays"),
    }
}

/// Appends a value in the binary protocol.
#[inline]
fn encode(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Integer(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Real(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Moment(seconds) => {
            let moment = Moment::clamped(seconds);
            let [low, high, ..] = moment.year.to_le_bytes();
            let [month, day] = moment.day;
            let [hour, minute, second] = moment.time;
            out.extend_from_slice(&[7, low, high, month, day, hour, minute, second]);
        }
        Value::Text(bytes) | Value::Bytes(bytes) => {
            put_length(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Keys(_) => unreachable!("MySQL has no arrays"),
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
        Some((Self { number, parameters, ..Self::default() }, columns))
    }

    /// Appends the request to execute the statement; returns the bytes of its values.
    ///
    /// Types are sent once, and again when they change.
    #[inline]
    pub(super) fn encode<'v>(
        &mut self,
        value: impl Fn(usize) -> Value<'v> + Copy,
        out: &mut Vec<u8>,
    ) -> Result<u64, Failure> {
        out.push(EXECUTE);
        out.extend_from_slice(&self.number.to_le_bytes());
        // No cursor, and once.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if self.parameters == 0 {
            return Ok(0);
        }
        out.resize(out.len() + self.parameters.div_ceil(8), 0);
        let values = self.positions.iter().map(|position| value(*position));
        let codes = values.clone().map(code);
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
        Ok(values.fold(0, |sum, value| {
            encode(value, out);
            sum + value.bytes()
        }))
    }

    #[cold]
    fn wrong_count(&mut self) -> Failure {
        let given = std::mem::take(&mut self.types).len();
        let wanted = self.parameters;
        Failure::Rejected(format!("a statement of {wanted} parameters was given {given} values"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(parameters: usize) -> Statement {
        let packet = [0, 9, 0, 0, 0, 2, 0, u8::try_from(parameters).unwrap(), 0, 0, 0, 0];
        let (statement, columns) = Statement::read(&packet).unwrap();
        assert_eq!((statement.parameters, columns), (parameters, 2));
        Statement { positions: (0..parameters).collect(), ..statement }
    }

    fn encoded(statement: &mut Statement, values: &[Value<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        statement.encode(|position| values[position], &mut out).unwrap();
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
        let mut statement = Statement { positions: vec![0], ..statement(2) };
        assert!(statement.encode(|_| Value::Integer(1), &mut Vec::new()).is_err());
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
    fn moment_is_encoded_by_its_fields() {
        let mut out = Vec::new();
        encode(Value::Moment(1_700_000_000), &mut out);
        assert_eq!(out, [7, 0xe7, 7, 11, 14, 22, 13, 20]);
    }
}
