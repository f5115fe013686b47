use ratatui::style::{Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};

/// Markdown as it is written, with what stands out marked: headings bold, code and fences dim, injections reversed. Nothing is
/// left out, because this is where a person looks before trusting a skill.
pub(super) fn lines(text: &str) -> Vec<Line<'static>> {
    let mut fence: Option<char> = None;
    text.lines()
        .map(|line| {
            let line = line.replace('\t', "    ");
            let trimmed = line.trim_start();
            let marker = ['`', '~'].into_iter().find(|marker| trimmed.starts_with(&marker.to_string().repeat(3)));
            match (fence, marker) {
                (None, Some(marker)) => {
                    fence = Some(marker);
                    Line::from(line).dim()
                }
                (Some(open), Some(marker)) if open == marker => {
                    fence = None;
                    Line::from(line).dim()
                }
                (Some(_), _) => Line::from(line).dim(),
                (None, None) if trimmed.starts_with('#') => Line::from(line).bold(),
                (None, None) => Line::from(spans(&line)),
            }
        })
        .collect()
}

/// The line with its inline code.
fn spans(line: &str) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut code = false;
    let mut runs_command = false;
    for (at, part) in line.split('`').enumerate() {
        if at > 0 {
            code = !code;
        }
        let style = match (code, runs_command) {
            (true, true) => Style::new().add_modifier(Modifier::REVERSED),
            (true, false) => Style::new().add_modifier(Modifier::DIM),
            (false, _) => Style::new(),
        };
        runs_command = !code && part.ends_with('!');
        let ticked = if at > 0 { format!("`{part}") } else { part.to_owned() };
        spans.push(Span::styled(ticked, style));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::lines;
    use ratatui::style::Modifier;

    #[test]
    fn nothing_of_the_text_is_left_out() {
        let text = "# Title\n\ntext with `code` and !`cmd` and ` alone\n```sh\n# no heading\n~~~\n```\n    end";
        let shown: Vec<String> = lines(text).iter().map(ToString::to_string).collect();
        assert_eq!(shown.join("\n"), text);
    }

    #[test]
    fn headings_code_and_commands_stand_out() {
        let shown = lines("# Title\n```\n# code\n```\n# Again\n!`cmd` and `code`");
        let has = |line: usize, modifier| shown[line].style.add_modifier.contains(modifier);
        assert!(has(0, Modifier::BOLD) && has(4, Modifier::BOLD));
        assert!(has(2, Modifier::DIM) && !has(2, Modifier::BOLD));
        let modifiers: Vec<Modifier> = shown[5].spans.iter().map(|span| span.style.add_modifier).collect();
        assert_eq!(modifiers[1], Modifier::REVERSED);
        assert_eq!(modifiers[3], Modifier::DIM);
    }
}
