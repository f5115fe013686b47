use super::markdown;
use super::state::{Browser, Row};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, List, ListItem, ListState, Paragraph, Wrap};

/// Columns from which list and text stand side by side.
const SIDE_BY_SIDE: u16 = 80;

const KEYS: &str = " type to search · ↑↓ choose · PgUp PgDn scroll · Enter text alone · Esc back, quit ";

pub(super) fn draw(frame: &mut Frame<'_>, browser: &mut Browser) {
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    let (listed, all) = browser.count();
    frame.render_widget(Line::from(format!("search: {}▏  {listed} of {all} skills", browser.query())), top);
    frame.render_widget(Line::from(KEYS).dim(), bottom);
    if browser.is_wide() {
        draw_text(frame, middle, browser);
        return;
    }
    let parts = [Constraint::Percentage(40), Constraint::Percentage(60)];
    let [list, text] = if middle.width >= SIDE_BY_SIDE {
        Layout::horizontal(parts).areas(middle)
    } else {
        Layout::vertical(parts).areas(middle)
    };
    draw_list(frame, list, browser);
    draw_text(frame, text, browser);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, browser: &Browser) {
    let mut items = Vec::new();
    let mut at = None;
    let mut group = "";
    for (place, row) in browser.listed().enumerate() {
        if row.group != group {
            group = row.group;
            items.push(ListItem::new(Line::from(group).bold()));
        }
        if browser.selected() == Some(place) {
            at = Some(items.len());
        }
        items.push(ListItem::new(item(row)));
    }
    let list = List::new(items).block(Block::new().borders(Borders::ALL).title(" skills "));
    let list = list.highlight_symbol("> ").highlight_style(ratatui::style::Style::new().reversed());
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(at));
}

fn item(row: &Row) -> Line<'static> {
    let state = Span::from(format!("  {}", row.state));
    let state = if row.state == "active" { state.dim() } else { state.italic() };
    Line::from(vec![Span::from(row.name.clone()), state])
}

fn draw_text(frame: &mut Frame<'_>, area: Rect, browser: &mut Browser) {
    let Some(row) = browser.row() else {
        let empty = Paragraph::new("No skill has all of these words.").block(Block::new().borders(Borders::ALL));
        frame.render_widget(empty, area);
        return;
    };
    let mut lines = vec![
        Line::from(row.reason.clone().unwrap_or_else(|| row.state.to_owned())),
        Line::from(row.path.clone()).dim(),
        Line::default(),
    ];
    if !row.description.is_empty() {
        lines.extend([Line::from(row.description.clone()).italic(), Line::default()]);
    }
    lines.extend(markdown::lines(browser.body()));
    let title = format!(" {} ", row.qualified_name.escape_debug());
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).block(Block::new().borders(Borders::ALL).title(title));
    let height = usize::from(area.height.saturating_sub(2));
    let most = wrapped_height(browser, area.width.saturating_sub(2)).saturating_sub(height);
    browser.bound_scroll(u16::try_from(most).unwrap_or(u16::MAX));
    frame.render_widget(text.scroll((browser.scroll(), 0)), area);
}

/// How many lines the text takes at least: an estimate from its characters, so that the end can always be reached.
fn wrapped_height(browser: &Browser, width: u16) -> usize {
    let width = usize::from(width.max(1));
    let of = |line: &str| line.chars().count().div_ceil(width).max(1) + usize::from(line.chars().count() > width);
    let head = browser.row().map_or(0, |row| of(&row.path) + of(&row.description) + 4);
    head + browser.body().lines().map(of).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::browse::state::{Browser, Row};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent};
    use skillgate_core::Source;

    fn screen(browser: &mut Browser, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        browser.read_body(|row| format!("# {}\n\nBody of it with !`ls`.\n", row.name));
        terminal.draw(|frame| draw(frame, browser)).expect("drawn");
        let buffer = terminal.backend().buffer().clone();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(line).collect::<Vec<_>>().join("\n")
    }

    fn browser() -> Browser {
        Browser::new(vec![
            Row::new("deploy", "user:deploy", Source::User, "active", None, "Ships it.", "/home/a/deploy/SKILL.md"),
            Row::new(
                "lint",
                "user:lint",
                Source::User,
                "disabled",
                Some(&"disabled by `lint*`".to_owned()),
                "Lints.",
                "/l",
            ),
            Row::new("evil\u{1b}[2J", "project:evil\u{1b}[2J", Source::Project, "active", None, "", "/e"),
        ])
    }

    #[test]
    fn groups_states_reasons_and_the_text_are_on_the_screen() {
        let mut browser = browser();
        let shown = screen(&mut browser, 100, 14);
        for part in [
            "search: ▏  3 of 3 skills",
            "> deploy  active",
            "  lint  disabled",
            "Ships it.",
            "# deploy",
            "!`ls`",
            "user",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        browser.on_key(KeyEvent::from(KeyCode::Down));
        assert!(screen(&mut browser, 100, 14).contains("disabled by `lint*`"));
    }

    #[test]
    fn nothing_that_a_terminal_would_act_on_is_drawn() {
        let mut browser = browser();
        browser.on_key(KeyEvent::from(KeyCode::End));
        assert!(!screen(&mut browser, 100, 14).contains('\u{1b}'));
    }

    #[test]
    fn any_size_can_be_drawn() {
        for (width, height) in [(1, 1), (3, 2), (10, 5), (40, 10), (79, 24), (200, 60)] {
            let mut browser = browser();
            screen(&mut browser, width, height);
            browser.on_key(KeyEvent::from(KeyCode::Enter));
            screen(&mut browser, width, height);
        }
        screen(&mut Browser::new(Vec::new()), 80, 24);
    }

    #[test]
    fn the_text_alone_has_the_whole_width_and_scrolls_to_its_end_and_no_further() {
        let mut browser = browser();
        browser.on_key(KeyEvent::from(KeyCode::Enter));
        screen(&mut browser, 60, 8);
        for _ in 0..50 {
            browser.on_key(KeyEvent::from(KeyCode::PageDown));
        }
        let shown = screen(&mut browser, 60, 8);
        assert!(shown.contains("Body of it") && !shown.contains("skills ┐"), "{shown}");
    }
}
