//! The generator of a client, chosen when the step begins.

use super::client::{Action, Client};
use super::multigets::MultiGets;
use super::parts::{Appends, FieldReads, NewestRows, PartialUpdates};
use super::single::{Deletes, Gets, Scans, Single};
use crate::distribution::Picker;
use crate::generator::Generator;
use crate::value::ValueWriter;

/// Returns the generator of `client`, which picks its rows by `picker`.
pub(crate) fn generator(picker: Picker, client: &Client<'_>) -> Box<dyn Generator> {
    let checker = || client.checker();
    match client.action {
        Action::Get => Box::new(Single::new(picker, client, Gets(checker()))),
        Action::GetAbsent => Box::new(Single::absent(picker, client)),
        Action::MultiGet => Box::new(MultiGets::new(picker, client)),
        Action::Scan(direction) => {
            let scans = Scans(client.range_rows, direction, checker());
            Box::new(Single::new(picker, client, scans))
        }
        Action::Put => {
            let values = ValueWriter::new(&client.bodies, client.stream);
            Box::new(Single::new(picker, client, values))
        }
        Action::Delete => Box::new(Single::new(picker, client, Deletes)),
        Action::PartialUpdate => Box::new(Single::new(picker, client, PartialUpdates::new(client))),
        Action::FieldRead => Box::new(Single::new(picker, client, FieldReads::new(client))),
        Action::Append => Box::new(Single::new(picker, client, Appends::new(client))),
        Action::ScanSequence => Box::new(Single::new(picker, client, NewestRows::new(client))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{DataShape, Direction};
    use proptest::prelude::*;

    use super::*;
    use crate::distribution::{Access, Space, Uniform};
    use crate::random::Stream;
    use crate::request::Presence;
    use crate::value::Bodies;

    fn next(generator: &mut dyn Generator) -> String {
        format!("{:?}", generator.next().expect("no end"))
    }

    /// Returns operation `n` of a generator run from 0 and of one that jumps there.
    macro_rules! both_ways {
        ($n:expr, $make:expr) => {{
            let (mut run, mut jumped) = ($make, $make);
            (0..$n).for_each(|_| assert!(run.next().is_some()));
            next(&mut jumped);
            jumped.position.jump($n);
            (next(&mut run), next(&mut jumped))
        }};
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn operation_n_does_not_depend_on_the_way_to_it(seed: u64, n in 0u64..2000) {
            let data =
                DataShape { rows: 500, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
            let client = Client {
                action: Action::Get,
                stream: Stream::fixed(seed),
                operations: u64::MAX,
                data: &data,
                presence: Presence::Some,
                bodies: Arc::new(Bodies::new(&data)),
                range_rows: 10,
                batch_keys: 4,
                field_bytes: 30,
            };
            let space = Space { rows: 500, access: Access::Point, first: 0 };
            let keys = Picker::Uniform(Uniform::new(space));
            let scans = || Scans(10, Direction::Reverse, client.checker());
            let values = || ValueWriter::new(&client.bodies, client.stream);
            for (run, jumped) in [
                both_ways!(n, Single::new(keys, &client, Gets(client.checker()))),
                both_ways!(n, Single::absent(keys, &client)),
                both_ways!(n, MultiGets::new(keys, &client)),
                both_ways!(n, Single::new(keys, &client, scans())),
                both_ways!(n, Single::new(keys, &client, values())),
                both_ways!(n, Single::new(keys, &client, Deletes)),
                both_ways!(n, Single::new(keys, &client, PartialUpdates::new(&client))),
                both_ways!(n, Single::new(keys, &client, FieldReads::new(&client))),
                both_ways!(n, Single::new(keys, &client, Appends::new(&client))),
                both_ways!(n, Single::new(keys, &client, NewestRows::new(&client))),
            ] {
                prop_assert_eq!(run, jumped);
            }
        }
    }
}
