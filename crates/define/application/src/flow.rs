//! Flow of a procedure: values read from results, conditions, repetitions.

use model::sql::{Condition, Draw, IntegerRange, Read, Statement};
use reader::error::{PlanError, refuse};
use reader::syntax::Word;

use crate::names::{FOUND, Names, position};
use crate::statement::Layout;
use crate::text::{SqlText, SqlTexts};
use crate::token::Token;
use crate::value::Value;

impl Names<'_> {
    /// Checks that values are read from results before they are used, and from nothing else.
    pub(super) fn check_reads(
        &self,
        texts: &SqlTexts<'_>,
        values: &[Value<'_>],
    ) -> Result<(), PlanError> {
        let is_read = |name: &str| {
            let value = values.iter().find(|value| *value.name.get_ref() == name);
            value.is_some_and(|value| matches!(value.draw, Draw::Read(_)))
        };
        for texts in [&texts.postgres, &texts.mysql] {
            let mut known: Vec<&str> = Vec::new();
            for text in texts {
                let used = text.tokens.iter().filter_map(|token| match token {
                    Token::Value(name) => Some(*name),
                    Token::Text(_) | Token::Brace(_) => None,
                });
                let decided = text.block.conditions.iter().map(|condition| &condition.of);
                let decided = decided.map(|of| *of.get_ref());
                let mut wanted = used.chain(decided).filter(|name| is_read(name));
                if let Some(name) = wanted.find(|name| !known.contains(name)) {
                    let place = self.place_within(text.place.clone(), &format!(":{name}"));
                    let why = format!("`{name}` is not read before this statement");
                    let remedy =
                        format!("let an earlier statement read the value: into = [\"{name}\"]");
                    return refuse(place, why, remedy);
                }
                for name in &text.into {
                    let names = values.iter().map(|value| *value.name.get_ref());
                    position(name, "value", names)?;
                    if !is_read(name.get_ref()) {
                        let why = format!("`{name}` is drawn, not read");
                        let remedy = format!("declare {name} = {{ read = \"integer\" }}");
                        return refuse(name.span(), why, remedy);
                    }
                    known.push(name.get_ref());
                }
            }
        }
        Ok(())
    }

    /// Checks statements that need a transaction.
    pub(super) fn check_frame(
        &self,
        texts: &SqlTexts<'_>,
        is_transaction: bool,
    ) -> Result<(), PlanError> {
        let mut all = texts.postgres.iter().chain(&texts.mysql).filter(|_| !is_transaction);
        let needs = |text: &&SqlText<'_>| {
            ["rollback", "savepoint", "release"].iter().any(|word| text.begins_with(&[word]))
        };
        match all.find(needs) {
            None => Ok(()),
            Some(text) => Err(PlanError::here(&text.place, "this statement needs a transaction")
                .remedy("set `transaction = true` on the procedure")),
        }
    }

    /// Sets what a statement reads, and what it depends on, in one repetition.
    pub(super) fn set_flow(
        &self,
        statement: &mut Statement,
        text: &SqlText<'_>,
        layout: &Layout,
        nth: u16,
    ) -> Result<(), PlanError> {
        statement.is_rollback = text.is_rollback;
        let position = |name: &Word<'_>| {
            let slot = layout.slots.get(*name.get_ref()).filter(|slot| !slot.in_row);
            let slot = slot.filter(|slot| slot.width == 1);
            slot.map(|slot| slot.position(nth)).ok_or_else(|| {
                PlanError::here(name.span(), format!("`{name}` is not a single value of a call"))
            })
        };
        for name in &text.into {
            let argument = position(name)?;
            if let Some(Draw::Read(kind)) = layout.once.get(usize::from(argument)) {
                statement.reads.push(Read { argument, kind: *kind });
            }
        }
        if let Some(by) = text.block.times_by.as_ref().filter(|_| nth >= text.block.times_min) {
            statement.conditions.push(Condition::Above(position(by)?, nth));
        }
        if let Some(copy) = &text.block.copy {
            let argument = position(copy)?;
            self.check_copy(copy, layout.once.get(usize::from(argument)), layout.copies)?;
            statement.copy = Some(argument);
        }
        for condition in &text.block.conditions {
            if *condition.of.get_ref() == FOUND {
                statement.conditions.push(Condition::Found(condition.is));
                continue;
            }
            let argument = position(&condition.of)?;
            if layout.once.get(usize::from(argument)).is_none_or(|draw| draw.integers().is_none()) {
                let why = format!("`{}` is not an integer", condition.of);
                let remedy = "name `found` or an integer; a condition on an integer holds unless \
                              the integer is 0";
                return refuse(condition.of.span(), why, remedy);
            }
            statement.conditions.push(Condition::IsSet(argument, condition.is));
        }
        Ok(())
    }
}

impl Names<'_> {
    /// Checks that a value is always the number of a copy of the table.
    fn check_copy(
        &self,
        name: &Word<'_>,
        draw: Option<&Draw>,
        copies: u32,
    ) -> Result<(), PlanError> {
        if copies < 2 {
            let why = "the table of this procedure has no copies to choose from";
            return refuse(name.span(), why, "give the table `copies = 8`, or leave `copy` out");
        }
        let is_number = |it: IntegerRange| it.first >= 1 && it.last() <= i128::from(copies);
        if draw.and_then(Draw::integers).is_some_and(is_number) {
            return Ok(());
        }
        let why = format!("`{name}` is not always the number of a copy of the table");
        let remedy = format!("name an integer that is drawn from 1 to {copies}");
        refuse(name.span(), why, remedy)
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;
    use model::sql::CallPolicy;
    use model::{Application, Nanos};

    use super::*;
    use crate::testing::described;

    /// An application with every word of a procedure's flow.
    const FLOW: &str = r#"
name = "shop"
about = "orders with lines"
row_bytes = 20
order = ["fill", "buy"]
[parameters]
slow = 1
[values]
n = "number"
shop = { integer = [1, 4], once = true }
part = { part = "n", divide = 10, modulo = 7, add = 1 }
other = { other = "shop", share = 0.5, among = [1, 4] }
buyer = { nurand = [1, 300], a = 255, c = 7 }
last = { syllables = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], of = "digits" }
lines = { integer = [0, 2], once = true }
line = { integer = [1, 1], apart = 1 }
bad = { chance = 0.01 }
next = { read = "integer", once = true }
note = { read = "text" }
[[table]]
name = "orders"
create = "CREATE TABLE {table} (id INT)"
[procedure.open]
kind = "insert"
calls = "4 * slow"
rows = 10
row = "(:part, :last)"
sql = "INSERT INTO {table} VALUES {rows}"
[procedure.buy]
kind = "transaction"
transaction = true
keying_ms = "10 * slow"
think_ms = 20
limit_ms = 500
retry = { attempts = 5, pause_ms = 1, pause_max_ms = 8 }
sql = [
    { sql = "SELECT id FROM {table} WHERE id = :shop", into = ["next"] },
    { if = "found", sql = "UPDATE {table} SET id = :next + 1" },
    { times = "lines", sql = [
        { sql = "SELECT 'x' WHERE :line = :other", into = ["note"] },
        { unless = "found", sql = "INSERT INTO {table} VALUES (:buyer, :note)" },
    ] },
    "SAVEPOINT here",
    { if = "bad", sql = ["SELECT 1", "ROLLBACK"] },
]
[[step]]
name = "fill"
about = "fills"
role = "load"
clients = { once = ["open"] }
unit = "row"
[[step]]
name = "buy"
about = "buys"
role = "read-write"
clients = { buy = 1 }
[[check]]
name = "no orphans"
sql = "SELECT id FROM {orders} WHERE id IS NULL"
expect = "no rows"
"#;

    fn loaded(text: &str) -> Result<Application, PlanError> {
        let text = text.replace("[procedure.open]", "[procedure.open]\n");
        let text = text.replace("of = \"digits\" }", "of = \"digit\" }");
        let digit = "digit = { part = \"n\", modulo = 1000 }\nlast =";
        let text = text.replacen("last =", digit, 1);
        described(&text, 100, 1, &[]).map(|described| described.application)
    }

    #[test]
    fn statements_carry_what_they_read_and_depend_on() {
        let application = loaded(FLOW).unwrap();
        let buy = &application.procedures[1];
        let statements = &buy.statements.mysql;
        let flow: Vec<_> = statements
            .iter()
            .map(|one| (one.reads.len(), one.conditions.as_slice(), one.is_rollback))
            .collect();
        let at = |name: &str| {
            let is = |draw: &Draw| match name {
                "lines" => matches!(draw, Draw::Integer { from: 0, count: 3, .. }),
                _ => matches!(draw, Draw::Chance(_)),
            };
            u16::try_from(buy.arguments.iter().position(is).unwrap()).unwrap()
        };
        let above = |nth| Condition::Above(at("lines"), nth);
        let bad = Condition::IsSet(at("bad"), true);
        let expected: Vec<(usize, Vec<Condition>, bool)> = vec![
            (1, vec![], false),
            (0, vec![Condition::Found(true)], false),
            (1, vec![above(0)], false),
            (0, vec![above(0), Condition::Found(false)], false),
            (1, vec![above(1)], false),
            (0, vec![above(1), Condition::Found(false)], false),
            (0, vec![], false),
            (0, vec![bad], false),
            (0, vec![bad], true),
        ];
        let expected: Vec<_> =
            expected.iter().map(|(reads, of, is)| (*reads, of.as_slice(), *is)).collect();
        assert_eq!(flow, expected);
        let firsts = buy.arguments.iter().filter_map(|draw| {
            let Draw::Integer { from, count: 1, .. } = draw else { return None };
            Some(*from)
        });
        let firsts: Vec<_> = firsts.collect();
        assert_eq!(firsts, [1, 2], "the line's number moves on");
    }

    /// Goal: a value chooses the copy, and only one that is always a number of a copy.
    #[test]
    fn a_copy_is_chosen_by_a_value_within_the_copies() {
        let statement = "{ if = \"found\", sql = \"UPDATE {table} SET id = :next + 1\" }";
        let chosen = |by: &str| {
            let with = statement.replace("if =", &format!("copy = \"{by}\", if ="));
            FLOW.replacen(statement, &with, 1)
        };
        let copies = |copies: u32, text: &str| {
            loaded(
                &text
                    .replace("name = \"orders\"", &format!("name = \"orders\"\ncopies = {copies}")),
            )
        };
        let application = copies(4, &chosen("shop")).unwrap();
        let [open, buy] = &application.procedures[..] else { panic!("two procedures") };
        assert!(!open.reaches_other_copies() && buy.reaches_other_copies());
        let copy = buy.statements.postgres[1].copy.unwrap();
        let shop = Draw::Integer { distribution: "uniform".to_owned(), from: 1, count: 4 };
        assert_eq!(buy.arguments[usize::from(copy)], shop);
        let refused = |number, by| copies(number, &chosen(by)).unwrap_err().to_string();
        assert_eq!(refused(3, "shop"), "`shop` is not always the number of a copy of the table");
        assert_eq!(refused(4, "bad"), "`bad` is not always the number of a copy of the table");
        let one = loaded(&chosen("shop")).unwrap_err().to_string();
        assert_eq!(one, "the table of this procedure has no copies to choose from");
    }

    #[test]
    fn pauses_retries_limits_and_checks_are_read() {
        let application = loaded(FLOW).unwrap();
        let [open, buy] = &application.procedures[..] else { panic!("two procedures") };
        let CallPolicy { keying, think, limit, retry, .. } = buy.policy;
        assert_eq!([keying, think], [10, 20].map(Nanos::from_millis));
        assert_eq!(limit, Some(Nanos::from_millis(500)));
        assert_eq!(
            retry.map(|retry| (retry.attempts, retry.pause_before(9).0)),
            Some((5, 8_000_000))
        );
        assert_eq!(open.policy.calls, 4);
        let step = application.step("fill").unwrap();
        assert_eq!(application.calls(step, 100, 3), Some(4));
        let [check] = &application.checks[..] else { panic!("one check") };
        assert_eq!((check.name.as_str(), check.expected), ("no orphans", None));
    }

    /// Errors: texts of the application, and their replacements.
    const WRONG: &[(&str, &str)] = &[
        ("into = [\"next\"]", "into = [\"nxt\"]"),
        ("into = [\"next\"]", "into = [\"shop\"]"),
        ("into = [\"next\"]", "into = \"next\""),
        (", into = [\"next\"]", ""),
        ("if = \"found\"", "if = \"fond\""),
        ("if = \"bad\"", "if = \"last\""),
        ("if = \"found\"", "when = \"found\""),
        ("{ if = \"bad\", sql = [\"SELECT 1\", \"ROLLBACK\"] }", "{ if = \"bad\", sql = [], }"),
        ("{ sql = \"SELECT id FROM", "{ if = \"found\", sql = \"SELECT id FROM"),
        ("times = \"lines\"", "times = \"buyer\""),
        ("times = \"lines\"", "times = 0"),
        ("times = \"lines\"", "times = \"linse\""),
        ("{ unless = \"found\", sql = \"INSERT", "{ times = 2, sql = \"INSERT"),
        ("\"SAVEPOINT here\"", "\"COMMIT\""),
        ("transaction = true\n", ""),
        ("lines = { integer = [0, 2], once = true }", "lines = { integer = [0, 2] }\nx = \"id\""),
        ("read = \"text\"", "read = \"blob\""),
        ("read = \"text\"", "read = \"text\", count = 2"),
        ("row = \"(:part, :last)\"", "row = \"(:part, :last, :note)\""),
        ("chance = 0.01", "chance = 1.5"),
        ("c = 7", "c = 256"),
        ("a = 255, c = 7", "a = 255"),
        ("share = 0.5, ", ""),
        ("other = \"shop\"", "other = \"shops\""),
        ("part = \"n\", divide = 10", "part = \"note\", divide = 10"),
        ("divide = 10", "divide = 0"),
        ("\"i\", \"j\"]", "\"i\"]"),
        ("attempts = 5", "attempts = 1"),
        ("attempts = 5", "attempts = 100000"),
        ("attempts = 5, pause_ms = 1, pause_max_ms = 8", "attempts = 100, pause_ms = 10000"),
        ("pause_max_ms = 8", "pause_max_ms = 0"),
        ("attempts = 5, ", ""),
        ("think_ms = 20", "think_ms = \"soon\""),
        ("keying_ms = \"10 * slow\"", "keying_ms = \"1000000 * slow\""),
        ("limit_ms = 500", "limit_ms = 0"),
        ("calls = \"4 * slow\"", "calls = 0"),
        ("calls = \"4 * slow\"\n", ""),
        ("expect = \"no rows\"", "expect = \"nothing\""),
        ("expect = \"no rows\"\n", ""),
        ("FROM {orders}", "FROM {order}"),
        ("WHERE id IS NULL", "WHERE id = :shop"),
        ("note = { read", "found = { read"),
    ];

    #[test]
    fn every_wrong_word_of_the_flow_is_reported_with_its_place_and_remedy() {
        let lines = WRONG.iter().map(|(old, new)| {
            assert_eq!(FLOW.matches(old).count(), 1, "{old}");
            let error = match loaded(&FLOW.replacen(old, new, 1)) {
                Ok(_) => panic!("{new} is not rejected"),
                Err(error) => error,
            };
            let place = error.labels().and_then(|mut labels| labels.next());
            let place = place.map_or("nowhere", |_| "at its place");
            let help = error.help().map_or(String::new(), |help| format!("\n    help: {help}"));
            format!("{old} -> {new}\n    {place}: {error}{help}").replace("\n\n", "\n")
        });
        let lines: Vec<_> = lines.collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
