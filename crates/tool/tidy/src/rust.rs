//! A Rust source: pieces by class, syntax tree and functions.

use std::cmp::Reverse;
use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::Visit;

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An identifier or a keyword.
    Ident,
    /// A literal of text: string, byte string or character.
    Text,
    /// A comment for documentation.
    Doc,
    /// Any other comment.
    Comment,
    /// Everything else: numbers and punctuation.
    Other,
}

/// One piece of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its class.
    pub class: Class,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// Line of its first byte, 1-based.
    pub line: usize,
}

/// One function of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of its `fn`, 1-based.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both counted.
    pub lines: usize,
    /// Whether it is declared `pub`.
    pub is_public: bool,
    /// Whether it stands by itself, in no `impl` and no trait.
    pub is_free: bool,
    /// Its documentation.
    pub docs: String,
    /// Its attributes without documentation, as tokens (`ignore`, `cfg (test)`).
    pub attributes: Vec<String>,
}

/// A parsed source.
pub struct Rust {
    text: String,
    line_starts: Vec<usize>,
    /// Every piece, in order.
    pub pieces: Vec<Piece>,
    /// The syntax tree.
    pub syntax: syn::File,
    /// Every function with a body, in order.
    pub functions: Vec<Function>,
}

impl Rust {
    /// Parses a source; `None` when it is not Rust.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let stream = TokenStream::from_str(text).ok()?;
        let mut spans = Vec::new();
        collect(stream.clone(), &mut spans);
        let syntax: syn::File = syn::parse2(stream).ok()?;
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1),
            )
            .collect();
        let mut functions = Functions(Vec::new());
        functions.visit_file(&syntax);
        let mut rust = Self {
            text: text.to_owned(),
            line_starts,
            pieces: Vec::new(),
            syntax,
            functions: functions.0,
        };
        rust.pieces = rust.classify(spans);
        Some(rust)
    }

    /// Returns the text of a piece.
    #[must_use]
    pub fn slice(&self, piece: &Piece) -> &str {
        &self.text[piece.range.clone()]
    }

    /// Iterates over the pieces of one class with their text.
    pub fn of(&self, class: Class) -> impl Iterator<Item = (&Piece, &str)> {
        self.pieces
            .iter()
            .filter(move |piece| piece.class == class)
            .map(|piece| (piece, self.slice(piece)))
    }

    /// Returns the lines of the source.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// Returns the line, 1-based, on which the unit tests begin.
    #[must_use]
    pub fn tests_line(&self) -> Option<usize> {
        let syn::Item::Mod(last) = self.syntax.items.last()? else { return None };
        let is_tests = last.content.is_some() && last.attrs.iter().any(is_cfg_test);
        is_tests.then(|| line_of(last.attrs.first().map_or(last.mod_token.span, pound)))
    }

    /// Turns spans into pieces; what lies between them is white space or a comment.
    fn classify(&self, mut spans: Vec<Range<usize>>) -> Vec<Piece> {
        // A doc comment comes as several tokens within one range: the whole of it goes first.
        spans.sort_by_key(|range| (range.start, Reverse(range.end)));
        spans.dedup();
        let mut pieces = Vec::new();
        let mut end = 0;
        for range in spans {
            if range.start < end {
                continue;
            }
            self.push_comments(end..range.start, &mut pieces);
            end = range.end;
            pieces.push(self.piece(class_of(&self.text[range.clone()]), range));
        }
        self.push_comments(end..self.text.len(), &mut pieces);
        pieces
    }

    /// Adds the comments of a gap between tokens, line by line.
    fn push_comments(&self, gap: Range<usize>, pieces: &mut Vec<Piece>) {
        let mut start = gap.start;
        for line in self.text[gap].split_inclusive('\n') {
            let lead = line.len() - line.trim_start().len();
            let length = line.trim().len();
            if length > 0 {
                pieces.push(self.piece(Class::Comment, start + lead..start + lead + length));
            }
            start += line.len();
        }
    }

    fn piece(&self, class: Class, range: Range<usize>) -> Piece {
        let line = self.line_at(range.start);
        Piece { class, range, line }
    }

    /// Returns the line, 1-based, of the byte at `at`.
    #[must_use]
    pub fn line_at(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }
}

/// Returns whether the attribute is `#[cfg(test)]`.
fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    written(attribute) == "cfg (test)"
}

/// Writes an attribute's content as tokens with single spaces.
fn written(attribute: &syn::Attribute) -> String {
    let path: Vec<_> =
        attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    let path = path.join("::");
    if let syn::Meta::List(list) = &attribute.meta {
        return format!("{path} ({})", list.tokens);
    }
    if matches!(attribute.meta, syn::Meta::NameValue(_)) {
        return format!("{path} =");
    }
    path
}

/// Returns the documentation among these attributes, one line per attribute.
fn documentation(attributes: &[syn::Attribute]) -> String {
    let mut docs = String::new();
    for attribute in attributes {
        let syn::Meta::NameValue(pair) = &attribute.meta else { continue };
        let syn::Expr::Lit(value) = &pair.value else { continue };
        if let (true, syn::Lit::Str(text)) = (pair.path.is_ident("doc"), &value.lit) {
            docs.push_str(&text.value());
            docs.push('\n');
        }
    }
    docs
}

fn pound(attribute: &syn::Attribute) -> Span {
    attribute.pound_token.span
}

fn line_of(span: Span) -> usize {
    span.start().line
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
        _ if is_comment => Class::Doc,
        '"' | '\'' => Class::Text,
        _ if first == '_' || first.is_alphabetic() => {
            let is_text = token.ends_with(['"', '#', '\'']);
            if is_text { Class::Text } else { Class::Ident }
        }
        _ => Class::Other,
    }
}

/// Gathers the functions of a syntax tree.
struct Functions(Vec<Function>);

impl Functions {
    fn add(
        &mut self,
        attributes: &[syn::Attribute],
        is_public: bool,
        signature: &syn::Signature,
        block: &syn::Block,
    ) {
        let line = line_of(signature.fn_token.span);
        let end = block.brace_token.span.close().end().line;
        self.0.push(Function {
            name: signature.ident.to_string(),
            line,
            lines: end + 1 - line,
            is_public,
            is_free: false,
            docs: documentation(attributes),
            attributes: attributes
                .iter()
                .filter(|attribute| !attribute.path().is_ident("doc"))
                .map(written)
                .collect(),
        });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_public = matches!(item.vis, syn::Visibility::Public(_));
        self.add(&item.attrs, is_public, &item.sig, &item.block);
        if let Some(added) = self.0.last_mut() {
            added.is_free = true;
        }
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let is_public = matches!(item.vis, syn::Visibility::Public(_));
        self.add(&item.attrs, is_public, &item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.attrs, true, &item.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, item);
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
        let texts = |class| rust.of(class).map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(Class::Doc), ["//! Docs.", "/// Does it."]);
        assert_eq!(texts(Class::Comment), ["// why", "/* c */"]);
        assert_eq!(texts(Class::Text), ["\"a // b\""]);
        assert_eq!(rust.of(Class::Comment).next().unwrap().0.line, 6);
    }

    #[test]
    fn functions_carry_their_size_docs_and_attributes() {
        let rust = Rust::parse(SOURCE).unwrap();
        let run = &rust.functions[0];
        assert_eq!((run.name.as_str(), run.line, run.lines), ("run", 5, 5));
        assert_eq!((run.docs.trim(), run.is_public), ("Does it.", true));
        assert_eq!(rust.functions[1].attributes, ["test", "ignore"]);
    }

    #[test]
    fn the_tests_at_the_end_are_found() {
        assert_eq!(Rust::parse(SOURCE).unwrap().tests_line(), Some(11));
        assert_eq!(Rust::parse("fn f() {}").unwrap().tests_line(), None);
        assert!(Rust::parse("fn f( {}").is_none());
    }
}
