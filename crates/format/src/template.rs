//! A body as text with placeholders and injections, found in one pass over the author's bytes.

use crate::lines::{is_blank, lines};
use crate::markdown::{CodeSpan, Fence, Markdown, inline_injections, scan, whole_line_injection};
use crate::placeholder::{Grammar, PlaceholderKind};
use memchr::{memchr, memmem};
use skillgate_core::{Code, Diagnostic, Frontmatter, InjectionForm, Profile, Span};
use std::sync::Arc;

/// Findings about inert placeholders that are reported one by one.
const MAX_REPORTED: usize = 32;

/// How a body is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TemplateOptions {
    /// Which description of the format is followed. Under `strict` nothing is a placeholder: the open standard has none.
    pub profile: Profile,
    /// The names that the header declares, by position.
    pub arguments: Vec<String>,
}

impl TemplateOptions {
    /// The options for the body of a document with this header.
    #[must_use]
    pub fn new(profile: Profile, frontmatter: &Frontmatter) -> Self {
        Self { profile, arguments: frontmatter.arguments.iter().map(|name| name.value.clone()).collect() }
    }
}

/// A placeholder inside an injection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoleSite {
    /// The placeholder's bytes in the injection's source.
    pub span: Span,
    /// What it stands for.
    pub kind: PlaceholderKind,
    /// Whether it stands between single quotes, as far as the text shows.
    pub in_single_quotes: bool,
}

/// An injection of the body, without values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InjectionSite {
    /// The program exactly as the author wrote it.
    pub source: String,
    /// The whole injection in the body, delimiters included.
    pub span: Span,
    /// Where `source` starts in the body.
    pub source_start: usize,
    /// Inline or block.
    pub form: InjectionForm,
    /// The placeholders in `source`, in order.
    pub holes: Vec<HoleSite>,
}

/// A part of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Segment {
    /// Bytes that stay.
    Text(Span),
    /// A placeholder outside injections.
    Placeholder { span: Span, kind: PlaceholderKind },
    /// The injection of this number.
    Injection(usize),
}

/// A body, parsed. What is text, placeholder and injection is settled here, before any value is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub(crate) body: Arc<str>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) injections: Vec<InjectionSite>,
    /// Whether positions inside single quotes of a program belong to the program.
    pub(crate) quoted_positions_stay: bool,
    /// The number of the first position, as the author counts.
    pub(crate) base: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Template {
    /// Reads a body.
    #[must_use]
    pub fn parse(body: &str, options: &TemplateOptions) -> Self {
        let mut template = Self {
            body: Arc::from(body),
            segments: Vec::new(),
            injections: Vec::new(),
            quoted_positions_stay: options.profile != Profile::Claude,
            base: 0,
            diagnostics: Vec::new(),
        };
        if options.profile == Profile::Strict {
            template.segments.push(Segment::Text(Span::new(0, body.len())));
            return template;
        }
        let grammar = Grammar::new(options.profile, &options.arguments);
        let safe = options.profile == Profile::Safe;
        let regions = regions(body, &scan(body), safe);
        let mut at = 0;
        for injection in regions.injections {
            template.text(Span::new(at, injection.span.start), &grammar, &regions.code);
            at = injection.span.end;
            template.segments.push(Segment::Injection(template.injections.len()));
            template.injections.push(InjectionSite {
                holes: holes(&body[injection.source.range()], &grammar),
                source: body[injection.source.range()].to_owned(),
                span: injection.span,
                source_start: injection.source.start,
                form: injection.form,
            });
        }
        template.text(Span::new(at, body.len()), &grammar, &regions.code);
        template.base = usize::from(safe && !template.counts_from_zero());
        template
    }

    /// The injections in order.
    #[must_use]
    pub fn injections(&self) -> &[InjectionSite] {
        &self.injections
    }

    /// The placeholders outside injections, in order, with their places in the body.
    pub fn placeholders(&self) -> impl Iterator<Item = (Span, &PlaceholderKind)> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Placeholder { span, kind } => Some((*span, kind)),
            Segment::Text(_) | Segment::Injection(_) => None,
        })
    }

    /// The number that the first argument has in this text: 0, or 1 where the author counts from one.
    #[must_use]
    pub fn first_position(&self) -> usize {
        self.base
    }

    /// What was found while reading; spans are offsets in the body.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether the text uses `$0` or `$ARGUMENTS[0]` where it is live.
    fn counts_from_zero(&self) -> bool {
        let zero = |kind: &PlaceholderKind| matches!(kind, PlaceholderKind::Position(0) | PlaceholderKind::Indexed(0));
        let in_command = |hole: &HoleSite| {
            zero(&hole.kind) && !(hole.in_single_quotes && matches!(hole.kind, PlaceholderKind::Position(_)))
        };
        self.placeholders().any(|(_, kind)| zero(kind))
            || self.injections.iter().any(|injection| injection.holes.iter().any(in_command))
    }

    /// Finds the placeholders of text outside injections. `code` is where positions are inert.
    fn text(&mut self, span: Span, grammar: &Grammar, code: &[Span]) {
        let body = Arc::clone(&self.body);
        let bytes = body.as_bytes();
        let mut kept = span.start;
        let mut at = span.start;
        let mut region = code.partition_point(|region| region.end <= span.start);
        let mut reported = None;
        while let Some(dollar) = memchr(b'$', &bytes[at..span.end]).map(|skip| at + skip) {
            at = dollar + 1;
            while code.get(region).is_some_and(|region| region.end <= dollar) {
                region += 1;
            }
            let in_code = code.get(region).is_some_and(|region| region.start <= dollar);
            let rest = &body[dollar..span.end];
            let token = grammar.read(rest, false);
            let is_position = matches!(token.as_ref().map(|token| &token.kind), Some(PlaceholderKind::Position(_)));
            let position_like = is_position || rest[1..].starts_with(|c: char| c.is_ascii_digit());
            if in_code && position_like {
                if is_position && reported != Some(region) && self.diagnostics.len() < MAX_REPORTED {
                    reported = Some(region);
                    let length = token.map_or(1, |token| token.length);
                    self.diagnostics.push(
                        Diagnostic::new(Code::PlaceholderInFence, "a position in code is left as it is")
                            .at(Span::new(dollar, dollar + length))
                            .help("`$ARGUMENTS`, `$ARGUMENTS[N]` and declared names are replaced in code too"),
                    );
                }
                continue;
            }
            let backslashes = bytes[span.start..dollar].iter().rev().take(2).take_while(|byte| **byte == b'\\').count();
            if backslashes == 1 && grammar.escapes(rest) {
                self.keep(Span::new(kept, dollar - 1));
                kept = dollar;
                continue;
            }
            if let Some(token) = token {
                let end = dollar + token.length;
                self.keep(Span::new(kept, dollar));
                self.segments.push(Segment::Placeholder { span: Span::new(dollar, end), kind: token.kind });
                kept = end;
                at = end;
            }
        }
        self.keep(Span::new(kept, span.end));
    }

    fn keep(&mut self, span: Span) {
        if !span.is_empty() {
            self.segments.push(Segment::Text(span));
        }
    }
}

/// A place of an injection.
struct Place {
    span: Span,
    source: Span,
    form: InjectionForm,
}

/// Where injections stand, and where positions are inert.
struct Regions {
    injections: Vec<Place>,
    code: Vec<Span>,
}

/// The injections of a body under the profile `safe`, in order: the whole of each, and its program.
pub(crate) fn injections(body: &str, markdown: &Markdown) -> Vec<(Span, Span)> {
    let marked = |fence: &Fence| body[fence.info.range()].starts_with('!');
    if memmem::find(body.as_bytes(), b"!`").is_none() && !markdown.fences.iter().any(marked) {
        return Vec::new();
    }
    regions(body, markdown, true).injections.into_iter().map(|place| (place.span, place.source)).collect()
}

fn regions(body: &str, markdown: &Markdown, safe: bool) -> Regions {
    let Markdown { fences, spans } = markdown;
    let mut injections: Vec<Place> = Vec::new();
    let mut code: Vec<Span> = Vec::new();
    let inline =
        |span: &CodeSpan| span.injection.map(|source| Place { span: span.whole, source, form: InjectionForm::Inline });
    for fence in fences {
        if fence.closed && &body[fence.info.range()] == "!" {
            let content = fence.content.slice(body).unwrap_or_default();
            let kept = content.strip_suffix('\n').map_or(content, |rest| rest.strip_suffix('\r').unwrap_or(rest));
            let kept = kept.strip_suffix('\r').unwrap_or(kept);
            if !is_blank(kept) {
                let source = Span::new(fence.content.start, fence.content.start + kept.len());
                injections.push(Place { span: fence.whole, source, form: InjectionForm::Block });
                continue;
            }
        }
        let live = live_lines(body, fence.content, &body[fence.info.range()]).filter(|_| safe && fence.closed);
        match live {
            Some(found) => injections.extend(found.iter().filter_map(inline)),
            None => code.push(fence.whole),
        }
    }
    if safe {
        for span in spans {
            match inline(span) {
                Some(place) => injections.push(place),
                None => code.push(span.whole),
            }
        }
    } else {
        code.clear();
        let mut at = 0;
        let blocks: Vec<Span> = injections.iter().map(|place| place.span).collect();
        for end in blocks.iter().map(|block| block.start).chain([body.len()]) {
            injections.extend(inline_injections(body, Span::new(at, end)).iter().filter_map(inline));
            at = blocks.iter().find(|block| block.start == end).map_or(end, |block| block.end);
        }
    }
    injections.sort_by_key(|place| place.span.start);
    code.sort_by_key(|span| span.start);
    Regions { injections, code }
}

/// The injections of a fence that holds nothing else and is no example of Markdown.
fn live_lines(body: &str, content: Span, info: &str) -> Option<Vec<CodeSpan>> {
    let language = info.split([' ', '\t', ',', '{', ':']).next().unwrap_or_default().to_ascii_lowercase();
    if matches!(language.as_str(), "markdown" | "md" | "mdx") {
        return None;
    }
    let mut found = Vec::new();
    for line in lines(body, content).filter(|line| !is_blank(line.text(body))) {
        found.push(whole_line_injection(body, line)?);
    }
    (!found.is_empty()).then_some(found)
}

/// The placeholders in a program. A backslash before the dollar sign is the shell's own and leaves it to the shell.
fn holes(source: &str, grammar: &Grammar) -> Vec<HoleSite> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let (mut single, mut double) = (false, false);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if single => {
                // Here the shell has no escapes; the format's own still holds.
                let escaped = bytes.get(at + 1) == Some(&b'$') && (at == 0 || bytes[at - 1] != b'\\');
                at += if escaped && grammar.escapes(&source[at + 1..]) { 2 } else { 1 };
                continue;
            }
            b'\\' => {
                at += 1 + source.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                continue;
            }
            b'\'' if !double => single = !single,
            b'"' if !single => double = !double,
            b'$' => {
                if let Some(token) = grammar.read(&source[at..], true) {
                    let span = Span::new(at, at + token.length);
                    found.push(HoleSite { span, kind: token.kind, in_single_quotes: single });
                    at = span.end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injections_stand_where_the_rule_lets_them() {
        for (body, safe, claude) in [
            ("!`a`", vec!["a"], vec!["a"]),
            ("x !`a` y\n\t!`b`", vec!["a", "b"], vec!["a", "b"]),
            ("K=!`a` (!`b`) **!`c`**", vec![], vec![]),
            ("`println!` and `vec!`", vec![], vec![]),
            ("`` !`a` ``", vec![], vec!["a"]),
            ("```md\n!`a`\n```", vec![], vec!["a"]),
            ("```\n!`a`\n\n  !`b`\n```\n", vec!["a", "b"], vec!["a", "b"]),
            ("```\n!`a`\ntext\n```\n", vec![], vec!["a"]),
            ("```!\na\nb\n```\nx", vec!["a\nb"], vec!["a\nb"]),
            ("```! \na\n```", vec!["a"], vec!["a"]),
            ("```!\n\n```", vec![], vec![]),
            ("```!\nopen", vec![], vec![]),
            ("````\n```!\na\n```\n````", vec![], vec![]),
            ("!` ` !`` !`a", vec![], vec![]),
            ("wow !`a\nb` c", vec![], vec![]),
            ("```!\na\n```\n!`b`\n```!\nc\n```", vec!["a", "b", "c"], vec!["a", "b", "c"]),
        ] {
            for (profile, expected) in [(Profile::Safe, safe), (Profile::Claude, claude), (Profile::Strict, vec![])] {
                let template = Template::parse(body, &TemplateOptions { profile, arguments: vec![] });
                let found: Vec<_> = template.injections().iter().map(|site| site.source.as_str()).collect();
                assert_eq!(found, expected, "{body:?} under {profile}");
                for site in template.injections() {
                    assert!(body[site.source_start..].starts_with(&site.source));
                }
            }
        }
    }

    #[test]
    fn holes_are_found_and_escapes_left_to_the_shell() {
        for (source, expected) in [
            ("gh pr view \"$0\"", vec![("$0", false)]),
            ("awk '{print $1}' $2", vec![("$1", true), ("$2", false)]),
            ("echo \\$1 \\\\$2", vec![("$2", false)]),
            ("echo \"it's $1\"", vec![("$1", false)]),
            ("echo '\\$1' $2", vec![("$2", false)]),
            ("ls $ARGUMENTS ${CLAUDE_SKILL_DIR}/x $HOME", vec![("$ARGUMENTS", false), ("${CLAUDE_SKILL_DIR}", false)]),
        ] {
            let grammar = Grammar::new(Profile::Safe, &[]);
            let found: Vec<_> = holes(source, &grammar)
                .iter()
                .map(|hole| (&source[hole.span.range()], hole.in_single_quotes))
                .collect();
            assert_eq!(found, expected, "{source}");
        }
    }
}
