//! `$(…)` and backquotes.

use crate::ast::List;
use crate::error::{HolePlace, SyntaxErrorKind};
use crate::word::WordPart;

use super::cursor::{Parser, PendingDocument, Result};

impl Parser<'_> {
    /// At `$(`, which is not `$((`.
    pub(super) fn dollar_substitution(&mut self) -> Result<WordPart> {
        let start = self.pos;
        // bash drops line continuations before it decides between `$(` and `$((`.
        let mut ahead = 2;
        while self.continuation_at(ahead) > 0 {
            ahead += self.continuation_at(ahead);
        }
        if ahead > 2 && self.peek_at(ahead) == Some(b'(') {
            return Err(self.unsupported(ahead, "a line continuation in `$((`"));
        }
        self.advance(2);
        self.enter(start)?;
        let outer = self.begin_own_documents();
        let list = self.list()?;
        if self.at_end() {
            return Err(self.error(start, start + 2, SyntaxErrorKind::Unterminated("command substitution")));
        }
        if self.peek() != Some(b')') {
            return Err(self.unexpected("`)`"));
        }
        self.end_own_documents(outer)?;
        self.leave();
        self.advance(1);
        Ok(WordPart::Substitution { list, span: self.span_from(start) })
    }

    /// At a backquote. `quoted`: between double quotes, where a backslash also quotes `"`.
    pub(super) fn backquotes(&mut self, quoted: bool) -> Result<WordPart> {
        let start = self.pos;
        let bytes = self.bytes;
        let end = self.end();
        let removed = |at: usize| {
            at + 1 < end
                && bytes[at] == b'\\'
                && (matches!(bytes[at + 1], b'$' | b'`' | b'\\') || quoted && bytes[at + 1] == b'"')
        };
        let mut rewritten = false;
        let (close, has_hole) = self.scan(start + 1, |at| match bytes[at] {
            b'`' => 0,
            b'\\' if removed(at) => {
                rewritten = true;
                2
            }
            _ => 1,
        });
        if close >= end {
            return Err(self.error(start, start + 1, SyntaxErrorKind::Unterminated("backquote")));
        }
        self.advance(1);
        self.enter(start)?;
        let outer = self.begin_own_documents();
        let list = if !rewritten {
            self.within(close, whole_list)?
        } else if has_hole {
            return Err(self.unsafe_hole(HolePlace::Backquotes));
        } else {
            let mut text = String::with_capacity(close - start);
            let mut from = start + 1;
            let mut at = from;
            while at < close {
                if removed(at) {
                    text.push_str(&self.text[from..at]);
                    from = at + 1;
                    at += 1;
                }
                at += 1;
            }
            text.push_str(&self.text[from..close]);
            let mut inner = self.for_rewritten(&text, self.span(start, close + 1));
            let list = whole_list(&mut inner);
            #[cfg(test)]
            self.count(inner.work.get());
            list?
        };
        self.end_own_documents(outer)?;
        self.leave();
        self.seek(close + 1);
        Ok(WordPart::Substitution { list, span: self.span_from(start) })
    }

    /// What follows is a text of its own: its here-documents begin and end in it, and those of the line around it do not
    /// begin in it.
    fn begin_own_documents(&mut self) -> Outer {
        let outer = Outer {
            pending: std::mem::take(&mut self.pending),
            line_has_documents: self.line_has_documents,
            in_document: std::mem::replace(&mut self.in_document, false),
        };
        self.line_has_documents |= !outer.pending.is_empty();
        outer
    }

    fn end_own_documents(&mut self, outer: Outer) -> Result<()> {
        self.finish_here_documents()?;
        self.pending = outer.pending;
        self.line_has_documents = outer.line_has_documents;
        self.in_document = outer.in_document;
        Ok(())
    }
}

/// What belongs to the text around a substitution.
struct Outer {
    pending: Vec<PendingDocument>,
    line_has_documents: bool,
    in_document: bool,
}

fn whole_list(parser: &mut Parser<'_>) -> Result<List> {
    let list = parser.list()?;
    parser.expect_end("a command")?;
    parser.finish_here_documents()?;
    Ok(list)
}
