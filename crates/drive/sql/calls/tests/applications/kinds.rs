//! Kinds of operation that a group calls.

use std::collections::BTreeSet;

use model::OpKind;
use workload::{Group, Presence, Request};

use crate::{DATA, step, tables};

/// Goal: the kinds of a group are those it calls, so that each of its seconds can have them.
#[test]
fn kinds_are_those_of_the_group() {
    let tables = tables(2, 1, 100);
    let kinds = |name: &str, group: Group| {
        let (step, presence) = (&step(name, 2), Presence::Some);
        let request = Request { step, data: &DATA, seed: 1, presence, group };
        calls::kinds(&request, &tables)
    };
    let inserts = BTreeSet::from([OpKind::Insert, OpKind::Delete]);
    let queries = BTreeSet::from([OpKind::MultiGet, OpKind::Scan]);
    assert_eq!(kinds("churn", Group::Clients), inserts);
    assert_eq!(kinds("churn", Group::Writers), [].into());
    assert_eq!(kinds("query", Group::Clients), queries);
    assert_eq!(kinds("query", Group::Writers), inserts);
}
