//! A finding or a failure with the line it is about, drawn by `miette`.

use crate::text::{self, Style};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents, ThemeCharacters, ThemeStyles,
};
use skillgate_core::{LineIndex, Position, Severity, Span};
use std::fmt;

/// Characters of a long line, as they are spelled, that are shown before and after the place that is meant.
const BEFORE: usize = 40;
const AFTER: usize = 80;

/// What is drawn.
#[derive(Debug)]
pub(crate) struct Report<'r> {
    pub(crate) severity: Severity,
    /// The rule, where there is one.
    pub(crate) code: Option<&'r str>,
    pub(crate) message: &'r str,
    pub(crate) excerpt: Option<Excerpt>,
    /// The ways out, one a line.
    pub(crate) help: Vec<String>,
}

impl Report<'_> {
    /// The report as lines of text. Nothing in it acts on a terminal but the colours of `style`, and nothing is invisible:
    /// such characters of the file are spelled out.
    pub(crate) fn draw(&self, style: Style) -> String {
        let characters = if style.unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() };
        // The word says what the colour and the sign would say.
        let heading = match self.code {
            Some(code) => format!("{}[{}]:", self.severity, text::escaped(code)),
            None => format!("{}:", self.severity),
        };
        let theme = GraphicalTheme {
            characters: ThemeCharacters {
                error: heading.clone(),
                warning: heading.clone(),
                advice: heading,
                ..characters
            },
            styles: if style.on { ThemeStyles::ansi() } else { ThemeStyles::none() },
        };
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_context_lines(0);
        let handler = match style.width {
            Some(width) => handler.with_width(width),
            None => handler.with_wrap_lines(false),
        };
        let drawn = Drawn {
            message: text::escaped(self.message),
            help: self.help.iter().map(|help| text::escaped(help)).collect::<Vec<_>>().join("\n"),
            report: self,
        };
        let mut out = String::new();
        // Writing into a String fails only where an excerpt does not hold its own place.
        match handler.render_report(&mut out, &drawn) {
            Ok(()) => out,
            Err(fmt::Error) => format!("{}\n", drawn.message),
        }
    }
}

/// A report with its texts as they may be shown.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Drawn<'r> {
    message: String,
    help: String,
    report: &'r Report<'r>,
}

impl miette::Diagnostic for Drawn<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.report.severity {
            Severity::Info => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.report.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.report.excerpt.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_primary_with_span(None, excerpt.marked))))
    }
}

/// A line of a text with the place that is meant, cut around the place when it is long.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// Where the text is from.
    name: String,
    /// The line as it is shown.
    line: String,
    /// What is meant in `line`.
    marked: SourceSpan,
    /// Where that begins in the text.
    position: Position,
}

impl Excerpt {
    /// The line in which `span` begins; what the span covers of later lines is not marked.
    pub(crate) fn new(name: &str, source: &str, lines: &LineIndex<'_>, span: Span) -> Self {
        let start = floor(source, span.start);
        let line_start = source[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line_end = source[start..].find(['\n', '\r']).map_or(source.len(), |length| start + length);
        let end = floor(source, span.end).clamp(start, line_end);
        let mut room = BEFORE;
        let before = source[line_start..start].char_indices().rev();
        let from = before.take_while(|(_, c)| fits(*c, &mut room)).last().map_or(start, |(at, _)| line_start + at);
        let mut room = AFTER;
        let cut = source[start..line_end].char_indices().find(|(_, c)| !fits(*c, &mut room));
        let to = cut.map_or(line_end, |(at, _)| start + at);
        let mut line = String::from(if from > line_start { "… " } else { "" });
        let mut show = |from: usize, to: usize| {
            line.push_str(&text::escaped_line(&source[from..to]));
            line.len()
        };
        let marked_from = show(from, start);
        let marked_to = show(start, end.min(to));
        show(end.min(to), to);
        if to < line_end {
            line.push_str(" …");
        }
        Self {
            name: text::escaped(name),
            line,
            marked: (marked_from, marked_to - marked_from).into(),
            position: lines.position(start),
        }
    }
}

impl SourceCode for Excerpt {
    /// There is one line and nothing around it, whatever is asked for.
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let Position { line, column } = self.position;
        let whole = (0, self.line.len()).into();
        let name = self.name.clone();
        Ok(Box::new(MietteSpanContents::new_named(name, self.line.as_bytes(), whole, line - 1, column - 1, 1)))
    }
}

/// Whether there is room for a character as it is shown; it takes its part of the room.
fn fits(c: char, room: &mut usize) -> bool {
    let shown = text::escaped_line(c.encode_utf8(&mut [0; 4])).chars().count();
    let fits = shown <= *room;
    *room = room.saturating_sub(shown);
    fits
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(source: &str, span: Span) -> String {
        let report = Report {
            severity: Severity::Warning,
            code: Some("a-rule:key"),
            message: "something\u{1b}[31m is \u{200b}odd",
            excerpt: Some(Excerpt::new("p\u{202e}.md", source, &LineIndex::new(source), span)),
            help: vec!["do this".into(), "or that".into()],
        };
        report.draw(Style::plain())
    }

    #[test]
    fn a_report_names_its_place_and_marks_it() {
        let drawn = draw("one\ntwo three\nfour", Span::new(8, 13));
        assert_eq!(
            drawn,
            "  warning[a-rule:key]: something\\u{1b}[31m is \\u{200b}odd\n   ,-[p\\u{202e}.md:2:5]\n 2 | two three\n   :     ^^^^^\n   `----\n  help: do this\n        or that\n"
        );
    }

    #[test]
    fn what_a_terminal_would_act_on_or_not_show_is_spelled_out() {
        for (source, span, line) in [
            ("a\u{1b}[2Jb\u{202e}c", Span::new(0, 1), "1 | a\\u{1b}[2Jb\\u{202e}c\n   : ^\n"),
            ("\u{feff}---\r\nx", Span::new(0, 3), "1 | \\u{feff}---\n   : ^^^^^^^^\n"),
            ("x\n\ty", Span::new(3, 4), "2 |     y\n   :     ^\n"),
            ("", Span::new(0, 0), ",-[p\\u{202e}.md:1:1]\n   `----\n"),
            ("a\rb", Span::new(2, 3), "2 | b\n   : ^\n"),
            ("日本 x", Span::new(7, 99), "1 | 日本 x\n   :      ^\n"),
        ] {
            let drawn = draw(source, span);
            assert!(drawn.contains(line), "{source:?}\n{drawn}");
            assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'), "{drawn:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let source = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let drawn = draw(&source, Span::new(5000, 5004));
        let line = drawn.lines().nth(2).expect("the line");
        assert!(line.chars().count() < 150 && line.contains("aHEREb") && drawn.contains(":1:5001]"), "{drawn}");
        // What is spelled out takes the room that it is shown in.
        let drawn = draw(&"\0".repeat(5000), Span::new(2000, 2001));
        assert!(drawn.lines().nth(2).expect("the line").chars().count() < 150, "{drawn}");
    }
}
