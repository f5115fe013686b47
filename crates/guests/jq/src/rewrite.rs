//! A program as jq means it, written for jaq: assignments go by paths, a caught message is in jq's words, and what is put into
//! a string is written by our own writer.

use jaq_core::load::lex::{Lexer, StrPart};
use jaq_core::load::parse::{BinaryOp, Def, Parser, Pattern, Term};
use jaq_core::path::{Opt, Part};
use std::fmt::Write as _;

/// Rewrites a program.
///
/// # Errors
/// What is wrong with its syntax, and the byte where it is.
pub(crate) fn rewrite(code: &str) -> Result<String, (String, usize)> {
    let at = |part: &str| (part.as_ptr() as usize).saturating_sub(code.as_ptr() as usize).min(code.len());
    let tokens = Lexer::new(code).lex().map_err(|errors| {
        let (expected, found) = errors.first().map_or(("", ""), |(expected, found)| (expected.as_str(), *found));
        (format!("syntax error, expecting {expected}"), at(found))
    })?;
    if tokens.is_empty() {
        return Ok(".".to_owned());
    }
    let term = Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| {
        let first = errors.first();
        let expected = first.map_or("", |(expected, _)| expected.as_str());
        let found = first.and_then(|(_, token)| token.map(|token| token.0));
        let unexpected = found.map_or("$end", |text| text.split_whitespace().next().unwrap_or(text));
        let place = found.map_or(code.len(), at);
        (format!("syntax error, unexpected {unexpected}, expecting {expected}"), place)
    })?;
    let mut printer = Printer { code, out: String::with_capacity(code.len() * 2) };
    printer.term(&term);
    Ok(printer.out)
}

struct Printer<'c> {
    code: &'c str,
    out: String,
}

/// Binds the right side of an arithmetic assignment. It is used only where no program text is, so it hides nothing.
const OPERAND: &str = "$__operand";

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn term(&mut self, term: &Term<&str>) {
        match term {
            Term::Id => self.put("."),
            Term::Recurse => self.put(".."),
            Term::Num(text) => self.put(text),
            Term::Str(format, parts) => self.string(*format, parts),
            Term::Arr(None) => self.put("[]"),
            Term::Arr(Some(inner)) => self.around("[", inner, "]"),
            Term::Obj(entries) => self.object(entries),
            Term::Neg(inner) => self.around("(-(", inner, "))"),
            Term::BinOp(left, operator, right) => self.binary(left, operator, right),
            Term::Label(name, inner) => {
                let head = format!("(label {} | ", variable(name));
                self.around(&head, inner, ")");
            }
            Term::Break(name) => self.put(&format!("(break {})", variable(name))),
            Term::Fold(name, source, pattern, arguments) => {
                self.put("(");
                self.put(name);
                self.around(" (", source, ") as ");
                self.pattern(pattern);
                self.put(" ");
                self.arguments(arguments);
                self.put(")");
            }
            Term::TryCatch(body, handler) => {
                self.around("(try (", body, ")");
                if let Some(handler) = handler {
                    self.around(" catch (_message | ", handler, ")");
                }
                self.put(")");
            }
            Term::IfThenElse(branches, otherwise) => {
                for (index, (condition, body)) in branches.iter().enumerate() {
                    self.around(if index == 0 { "(if (" } else { " elif (" }, condition, ") then ");
                    self.around("(", body, ")");
                }
                if let Some(otherwise) = otherwise {
                    self.around(" else (", otherwise, ")");
                }
                self.put(" end)");
            }
            Term::Def(definitions, inner) => {
                self.put("(");
                definitions.iter().for_each(|definition| self.definition(definition));
                self.around("", inner, ")");
            }
            Term::Call(name, arguments) => {
                self.put(name);
                if !arguments.is_empty() {
                    self.arguments(arguments);
                }
            }
            Term::Var("$__loc__") => self.location(term),
            Term::Var(name) => self.put(name),
            Term::Path(source, path) => {
                // A bare identity is no term that `[` could follow after `..`, so it is in parentheses too.
                self.around("(", source, ")");
                for (part, optional) in &path.0 {
                    self.part(part);
                    if matches!(optional, Opt::Optional) {
                        self.put("?");
                    }
                }
            }
        }
    }

    fn around(&mut self, before: &str, term: &Term<&str>, after: &str) {
        self.put(before);
        self.term(term);
        self.put(after);
    }

    fn location(&mut self, term: &Term<&str>) {
        let Term::Var(name) = term else { return };
        let offset = (name.as_ptr() as usize).saturating_sub(self.code.as_ptr() as usize).min(self.code.len());
        let line = 1 + self.code.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count();
        self.put(&format!("{{\"file\":\"<top-level>\",\"line\":{line}}}"));
    }

    fn part(&mut self, part: &Part<Term<&str>>) {
        match part {
            Part::Index(index) => self.around("[", index, "]"),
            Part::Range(None, None) => self.put("[]"),
            Part::Range(from, to) => {
                self.put("[");
                if let Some(from) = from {
                    self.around("(", from, ")");
                }
                self.put(":");
                if let Some(to) = to {
                    self.around("(", to, ")");
                }
                self.put("]");
            }
        }
    }

    fn arguments(&mut self, arguments: &[Term<&str>]) {
        for (index, argument) in arguments.iter().enumerate() {
            self.around(if index == 0 { "(" } else { "; " }, argument, "");
        }
        self.put(")");
    }

    fn string(&mut self, format: Option<&str>, parts: &[StrPart<&str, Term<&str>>]) {
        let interpolated = parts.iter().any(|part| matches!(part, StrPart::Term(_)));
        match format {
            Some(format) => self.put(&format!("{format} ")),
            None if interpolated => self.put("@text "),
            None => {}
        }
        self.put("\"");
        for part in parts {
            match part {
                StrPart::Str(text) => self.put(text),
                StrPart::Char(c @ ('"' | '\\')) => self.put(&format!("\\{c}")),
                StrPart::Char(c) if *c < ' ' => self.put(&format!("\\u{:04x}", u32::from(*c))),
                StrPart::Char(c) => self.out.push(*c),
                StrPart::Term(term) => self.around("\\(", term, ")"),
            }
        }
        self.put("\"");
    }

    fn object(&mut self, entries: &[(Term<&str>, Option<Term<&str>>)]) {
        self.put("{");
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            match (key, value) {
                (Term::Var("$__loc__"), None) => self.put("\"__loc__\": "),
                (Term::Str(..), _) | (Term::Var(_), None) => self.term(key),
                _ => self.around("(_key(", key, "))"),
            }
            match value {
                Some(value) => self.around(": (", value, ")"),
                None if matches!(key, Term::Var("$__loc__")) => self.location(key),
                None => {}
            }
        }
        self.put("}");
    }

    fn pattern(&mut self, pattern: &Pattern<&str>) {
        match pattern {
            Pattern::Var(name) => self.put(name),
            Pattern::Arr(patterns) => {
                for (index, pattern) in patterns.iter().enumerate() {
                    self.put(if index == 0 { "[" } else { ", " });
                    self.pattern(pattern);
                }
                self.put("]");
            }
            Pattern::Obj(entries) => {
                for (index, (key, pattern)) in entries.iter().enumerate() {
                    self.put(if index == 0 { "{" } else { ", " });
                    match key {
                        Term::Str(..) | Term::Var(_) => self.term(key),
                        _ => self.around("(", key, ")"),
                    }
                    self.put(": ");
                    self.pattern(pattern);
                }
                self.put("}");
            }
        }
    }

    fn definition(&mut self, definition: &Def<&str, Term<&str>>) {
        let _infallible = write!(self.out, "def {}", definition.name);
        if !definition.args.is_empty() {
            let _infallible = write!(self.out, "({})", definition.args.join("; "));
        }
        self.around(": ", &definition.body, "; ");
    }

    fn binary(&mut self, left: &Term<&str>, operator: &BinaryOp<&str>, right: &Term<&str>) {
        let sign = match operator {
            BinaryOp::Pipe(Some(pattern)) => {
                self.around("((", left, ") as ");
                self.pattern(pattern);
                self.around(" | ", right, ")");
                return;
            }
            BinaryOp::Assign => {
                self.around("_assign(", left, "; ");
                self.around("", right, ")");
                return;
            }
            BinaryOp::Update => {
                self.around("_modify(", left, "; ");
                self.around("", right, ")");
                return;
            }
            BinaryOp::UpdateMath(operator) => return self.update(left, operator.as_str(), right),
            BinaryOp::UpdateAlt => return self.update(left, "//", right),
            BinaryOp::Pipe(None) => "|",
            BinaryOp::Comma => ",",
            BinaryOp::Alt => "//",
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Math(operator) => operator.as_str(),
            BinaryOp::Cmp(operator) => operator.as_str(),
        };
        self.around("((", left, ") ");
        self.put(sign);
        self.around(" (", right, "))");
    }

    fn update(&mut self, left: &Term<&str>, operator: &str, right: &Term<&str>) {
        self.around("((", right, &format!(") as {OPERAND} | _modify("));
        self.around("", left, &format!("; . {operator} {OPERAND}))"));
    }
}

fn variable(name: &str) -> String {
    if name.starts_with('$') { name.to_owned() } else { format!("${name}") }
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn assignments_and_strings_are_rewritten() {
        for (code, expected) in [
            (".a = 1", "_assign((.)[\"a\"]; 1)"),
            (".a += 1", "((1) as $__operand | _modify((.)[\"a\"]; . + $__operand))"),
            ("\"a\\(.b)\"", "@text \"a\\((.)[\"b\"])\""),
            ("try . catch .", "(try (.) catch (_message | .))"),
            ("[.[]?]", "[(.)[]?]"),
            ("", "."),
        ] {
            assert_eq!(rewrite(code).as_deref(), Ok(expected), "{code}");
        }
    }

    #[test]
    fn what_was_rewritten_can_be_read_again() {
        for code in [
            "def f($a; b): $a + b; f(1; .[0])", "reduce .[] as [$x, {a: $y}] (0; . + $x)", "if . then 1 elif 2 then 3 else 4 end",
            "{a: 1, (\"b\" + \"c\"): 2, $x, \"d\", \"e\\(1)\": 3, @base64 \"f\": 4}", "label $f | 1, break $f",
            ".. | .a?.b[1:]?", "-1 - -(.a)", ". as {a: $b, $c} | $b", "\"\\u0000\\\"\\\\\"", "$__loc__", "{$__loc__}",
        ] {
            let once = rewrite(code).unwrap_or_default();
            assert!(rewrite(&once).is_ok(), "{code} became {once}");
        }
    }

    #[test]
    fn the_place_of_an_error_is_given() {
        assert_eq!(rewrite(".a | }").err().map(|(_, at)| at), Some(5));
        assert_eq!(rewrite(". as [$a").err().map(|(_, at)| at.min(5)), Some(5));
    }
}
