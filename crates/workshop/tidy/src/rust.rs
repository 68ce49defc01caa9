//! A Rust source: pieces by class, and syntax tree.

use std::cmp::Reverse;
use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// An identifier or a keyword.
    Ident,
    /// A literal of text: string, byte string or character.
    Text,
    /// A comment, for documentation or not.
    Comment,
    /// Everything else: numbers and punctuation.
    Other,
}

/// One piece of source: its class, and where it stands, in bytes.
pub(crate) type Piece = (Class, Range<usize>);

/// A parsed source.
pub(crate) struct Rust {
    /// Every piece, in order.
    pub(crate) pieces: Vec<Piece>,
    /// The syntax tree.
    pub(crate) syntax: syn::File,
}

impl Rust {
    /// Parses a source; `None` when it is not Rust.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let stream = TokenStream::from_str(text).ok()?;
        let mut spans = Vec::new();
        collect(stream.clone(), &mut spans);
        Some(Self { pieces: classify(text, spans), syntax: syn::parse2(stream).ok()? })
    }

    /// Returns the line, 1-based, on which the unit tests begin.
    pub(crate) fn tests_line(&self) -> Option<usize> {
        let syn::Item::Mod(last) = self.syntax.items.last()? else { return None };
        let has_tests = last.content.is_some() && is_test(&last.attrs);
        has_tests.then(|| last.attrs[0].pound_token.span.start().line)
    }
}

/// Turns spans into pieces; what lies between them is white space or a comment.
fn classify(text: &str, mut spans: Vec<Range<usize>>) -> Vec<Piece> {
    // A doc comment comes as several tokens within one range: the whole of it goes first.
    spans.sort_by_key(|range| (range.start, Reverse(range.end)));
    spans.dedup();
    let mut pieces = Vec::new();
    let mut end = 0;
    for range in spans {
        if range.start < end {
            continue;
        }
        push_comments(text, end..range.start, &mut pieces);
        end = range.end;
        pieces.push((class_of(&text[range.clone()]), range));
    }
    push_comments(text, end..text.len(), &mut pieces);
    pieces
}

/// Adds the comments of a gap between tokens, line by line.
fn push_comments(text: &str, gap: Range<usize>, pieces: &mut Vec<Piece>) {
    let mut start = gap.start;
    for line in text[gap].split_inclusive('\n') {
        let lead = line.len() - line.trim_start().len();
        let length = line.trim().len();
        if length > 0 {
            pieces.push((Class::Comment, start + lead..start + lead + length));
        }
        start += line.len();
    }
}

/// Returns the line, 1-based, of the byte at `at`.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// Returns whether what has these attributes is compiled for unit tests only.
pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let condition = list.tokens.to_string().replace(' ', "");
        list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all(test,"))
    })
}

/// Iterates over the texts of attributes `#[name = "..."]`.
pub(crate) fn values<'a>(
    attributes: &'a [syn::Attribute],
    name: &'a str,
) -> impl Iterator<Item = String> + 'a {
    attributes.iter().filter(|attribute| attribute.path().is_ident(name)).filter_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(value) = &pair.value else { return None };
        let syn::Lit::Str(text) = &value.lit else { return None };
        Some(text.value())
    })
}

/// Returns an item's attributes, of the kinds that tests have.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not exhaustive")]
pub(crate) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Collects where every token stands, delimiters included.
fn collect(stream: TokenStream, spans: &mut Vec<Range<usize>>) {
    for tree in stream {
        if let TokenTree::Group(group) = tree {
            spans.push(group.span_open().byte_range());
            spans.push(group.span_close().byte_range());
            collect(group.stream(), spans);
        } else {
            spans.push(tree.span().byte_range());
        }
    }
}

/// Returns the class of a token from how it is written.
fn class_of(token: &str) -> Class {
    let is_comment = token.starts_with("//") || token.starts_with("/*");
    let first = token.chars().next().unwrap_or(' ');
    match first {
        _ if is_comment => Class::Comment,
        '"' | '\'' => Class::Text,
        _ if first == '_' || first.is_alphabetic() => {
            let is_text = token.ends_with(['"', '#', '\'']);
            if is_text { Class::Text } else { Class::Ident }
        }
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! Docs.\n\n/// Does it.\n#[must_use]\npub fn run(x: u8) -> u8 {\n    \
                          // why\n    let s = \"a // b\"; /* c */\n    x\n}\n\n#[cfg(test)]\nmod \
                          tests {\n    #[test]\n    #[ignore]\n    fn t() {}\n}\n";

    #[test]
    fn comments_docs_and_texts_are_classified() {
        let rust = Rust::parse(SOURCE).unwrap();
        let of = |class| rust.pieces.iter().filter(move |piece| piece.0 == class);
        let texts = |class| of(class).map(|piece| &SOURCE[piece.1.clone()]).collect::<Vec<_>>();
        let comments = ["//! Docs.", "/// Does it.", "// why", "/* c */"];
        assert_eq!(texts(Class::Comment), comments);
        assert_eq!(texts(Class::Text), ["\"a // b\""]);
        let (_, third) = of(Class::Comment).nth(2).unwrap();
        assert_eq!(line_at(SOURCE, third.start), 6);
    }

    #[test]
    fn attributes_are_read() {
        let rust = Rust::parse(SOURCE).unwrap();
        let [syn::Item::Fn(run), syn::Item::Mod(tests)] = &rust.syntax.items[..] else { panic!() };
        assert_eq!(values(&run.attrs, "doc").collect::<Vec<_>>(), [" Does it."]);
        assert!(is_test(&tests.attrs) && !is_test(&run.attrs));
    }

    #[test]
    fn the_tests_at_the_end_are_found() {
        assert_eq!(Rust::parse(SOURCE).unwrap().tests_line(), Some(11));
        assert_eq!(Rust::parse("fn f() {}").unwrap().tests_line(), None);
        assert!(Rust::parse("fn f( {}").is_none());
    }
}
