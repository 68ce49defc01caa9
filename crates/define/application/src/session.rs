//! Sessions of a step beyond one per client: connections, held transactions.

use model::OpKind;
use model::limits::HOLD_SECONDS_MAX;
use model::sql::{CallMix, Connections, Hold, Procedure};
use model::units::Nanos;
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node};

use crate::names::Names;

impl<'a> Names<'a> {
    /// Checks how many connections the procedures of a list have for each client.
    pub(super) fn connections(
        &self,
        node: Option<&'a Node<'a>>,
        call_mix: Option<&CallMix>,
    ) -> Result<Connections, PlanError> {
        let Some(node) = node else { return Ok(Connections::One) };
        let known = Connections::ALL.map(|connections| (connections.name(), connections));
        let connections = self.keyword(node, "connections", &known)?;
        let is_list = matches!(call_mix, Some(CallMix::InTurn(list)) if list.len() > 1);
        if connections.is_one() || is_list {
            return Ok(connections);
        }
        let why = "separate connections need a list of several procedures";
        refuse(node.span(), why, "list the procedures, such as [\"insert\", \"delete\"]")
    }

    /// Checks the transaction that a session of each client holds open; `None` for 0 seconds.
    pub(super) fn hold(
        &self,
        node: Option<&'a Node<'a>>,
        procedures: &[Procedure],
    ) -> Result<Option<Hold>, PlanError> {
        let Some(node) = node else { return Ok(None) };
        let fields = Fields::of(node, "a hold", &["procedure", "seconds"])?;
        let name = fields.text("procedure")?;
        let procedure = self.procedure(&name)?;
        let called = &procedures[usize::from(procedure)];
        let is_read = matches!(called.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet);
        if !is_read || called.is_transaction {
            let why = format!("`{name}` cannot be read in a transaction held open");
            let remedy = "name a procedure of kind get, scan or multi_get without `transaction`";
            return refuse(name.span(), why, remedy);
        }
        let most = HOLD_SECONDS_MAX.into();
        let what = "the seconds that a transaction is held";
        let held: u32 = self.number_within(fields.required("seconds")?, (0, most), what)?;
        let time_ns = Nanos::from_secs(held.into());
        Ok((held > 0).then_some(Hold { procedure, time_ns }))
    }
}
