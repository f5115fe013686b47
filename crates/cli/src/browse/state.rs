use crate::text;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use skillgate_core::Source;
use skillgate_registry::Entry;
use skillgate_runtime::Session;

/// Lines that a page key moves the text by.
const PAGE: u16 = 10;

/// What the loop does after a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Go,
    Quit,
}

/// One skill, in words that can be shown.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) qualified_name: String,
    pub(super) group: &'static str,
    pub(super) state: &'static str,
    pub(super) reason: Option<String>,
    pub(super) description: String,
    pub(super) path: String,
    /// What a search looks at, in lower case.
    haystack: String,
}

impl Row {
    /// Every skill of the session by source, broken ones last in their group.
    pub(super) fn all(session: &Session) -> Vec<Self> {
        let catalogue = session.catalogue();
        let mut rows: Vec<Self> = catalogue.entries().iter().map(|entry| Self::of(entry)).collect();
        rows.extend(catalogue.broken().iter().map(|failure| {
            Self::new(
                &failure.name,
                &format!("{}:{}", failure.source, failure.name),
                failure.source,
                "broken",
                Some(&failure.diagnostic.message),
                "",
                &failure.path.display().to_string(),
            )
        }));
        let order = |row: &Self| Source::ALL.iter().position(|source| source.as_str() == row.group);
        rows.sort_by_key(order);
        rows
    }

    fn of(entry: &Entry) -> Self {
        let (skill, state) = (entry.skill(), entry.state());
        let reason = state.to_string();
        Self::new(
            skill.id.command.as_str(),
            entry.qualified_name(),
            skill.id.source,
            state.as_str(),
            (reason != state.as_str()).then_some(&reason),
            skill.description.as_deref().unwrap_or_default(),
            &skill.path.display().to_string(),
        )
    }

    pub(super) fn new(
        name: &str,
        qualified_name: &str,
        source: Source,
        state: &'static str,
        reason: Option<&String>,
        description: &str,
        path: &str,
    ) -> Self {
        Self {
            name: text::shown(name),
            qualified_name: qualified_name.to_owned(),
            group: source.as_str(),
            state,
            reason: reason.map(|reason| text::shown(reason)),
            description: text::shown(description),
            path: text::shown(path),
            haystack: format!("{name} {description} {state}").to_lowercase(),
        }
    }

    /// The text of the skill, or why it cannot be shown.
    pub(super) fn read(&self, session: &Session) -> String {
        let catalogue = session.catalogue();
        let Some(entry) = catalogue.qualified(&self.qualified_name) else {
            return String::new();
        };
        match session.roots().document(entry.skill(), session.load_options()) {
            Ok(document) => text::safe(&document.body()),
            Err(error) => format!("The text cannot be read: {error}"),
        }
    }

    fn has(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.haystack.contains(word))
    }
}

/// What is on the screen.
#[derive(Debug)]
pub(super) struct Browser {
    rows: Vec<Row>,
    query: String,
    /// The rows that the query leaves.
    visible: Vec<usize>,
    /// A place in `visible`.
    selected: usize,
    scroll: u16,
    /// The text of the selected skill, with its row.
    body: Option<(usize, String)>,
    /// Whether the text has the whole screen.
    wide: bool,
}

impl Browser {
    pub(super) fn new(rows: Vec<Row>) -> Self {
        let visible = (0..rows.len()).collect();
        Self { rows, query: String::new(), visible, selected: 0, scroll: 0, body: None, wide: false }
    }

    pub(super) fn query(&self) -> &str {
        &self.query
    }

    pub(super) fn count(&self) -> (usize, usize) {
        (self.visible.len(), self.rows.len())
    }

    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    pub(super) fn scroll(&self) -> u16 {
        self.scroll
    }

    /// The rows that are listed, in order.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Row> {
        self.visible.iter().map(|row| &self.rows[*row])
    }

    /// The place of the selected row among the listed ones.
    pub(super) fn selected(&self) -> Option<usize> {
        (!self.visible.is_empty()).then_some(self.selected)
    }

    pub(super) fn row(&self) -> Option<&Row> {
        self.visible.get(self.selected).map(|row| &self.rows[*row])
    }

    pub(super) fn body(&self) -> &str {
        self.body.as_ref().map_or("", |(_, body)| body)
    }

    /// Reads the text of the selected row, once.
    pub(super) fn read_body(&mut self, read: impl FnOnce(&Row) -> String) {
        let Some(&row) = self.visible.get(self.selected) else {
            self.body = None;
            return;
        };
        if self.body.as_ref().is_none_or(|(of, _)| *of != row) {
            self.body = Some((row, read(&self.rows[row])));
            self.scroll = 0;
        }
    }

    /// Letters search, arrows move, page keys scroll, Enter shows the text alone, Escape takes back one thing, then quits.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Flow {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'q') if control => return Flow::Quit,
            KeyCode::Char('u') if control => self.search(String::new()),
            KeyCode::Char('n') if control => self.select(self.selected.saturating_add(1)),
            KeyCode::Char('p') if control => self.select(self.selected.saturating_sub(1)),
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.search(format!("{}{c}", self.query));
            }
            KeyCode::Backspace => {
                let mut query = self.query.clone();
                query.pop();
                self.search(query);
            }
            KeyCode::Esc if self.wide => self.wide = false,
            KeyCode::Esc if !self.query.is_empty() => self.search(String::new()),
            KeyCode::Esc => return Flow::Quit,
            KeyCode::Enter => self.wide = !self.wide && self.row().is_some(),
            KeyCode::Down if self.wide => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up if self.wide => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down => self.select(self.selected.saturating_add(1)),
            KeyCode::Up => self.select(self.selected.saturating_sub(1)),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(PAGE),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(usize::MAX),
            _ => {}
        }
        Flow::Go
    }

    /// Keeps the text's position within what there is of it.
    pub(super) fn bound_scroll(&mut self, most: u16) {
        self.scroll = self.scroll.min(most);
    }

    fn select(&mut self, place: usize) {
        self.selected = place.min(self.visible.len().saturating_sub(1));
    }

    fn search(&mut self, query: String) {
        let kept = self.visible.get(self.selected).copied();
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        self.visible = (0..self.rows.len()).filter(|row| self.rows[*row].has(&words)).collect();
        self.query = query;
        // The selected skill stays selected while it is listed.
        let place = self.visible.iter().position(|row| Some(*row) == kept);
        self.selected = place.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser(names: &[&str]) -> Browser {
        let row = |name: &&str| Row::new(name, name, Source::User, "active", None, "about it", "/x");
        Browser::new(names.iter().map(row).collect())
    }

    fn press(browser: &mut Browser, keys: &[KeyCode]) -> Flow {
        keys.iter().map(|key| browser.on_key(KeyEvent::from(*key))).last().unwrap_or(Flow::Go)
    }

    fn listed(browser: &Browser) -> Vec<&str> {
        browser.listed().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn letters_search_and_the_selected_skill_stays_selected() {
        let mut browser = browser(&["alpha", "beta", "gamma"]);
        press(&mut browser, &[KeyCode::End, KeyCode::Char('m')]);
        assert_eq!(listed(&browser), ["gamma"]);
        press(&mut browser, &[KeyCode::Backspace]);
        assert_eq!((listed(&browser).len(), browser.selected()), (3, Some(2)));
        press(&mut browser, &[KeyCode::Char('Z')]);
        assert_eq!((listed(&browser).len(), browser.selected(), browser.row().is_none()), (0, None, true));
        assert_eq!(press(&mut browser, &[KeyCode::Down, KeyCode::Enter, KeyCode::PageDown]), Flow::Go);
        assert!(!browser.is_wide());
    }

    #[test]
    fn all_words_have_to_stand_in_the_name_or_description() {
        let mut browser = browser(&["alpha", "beta"]);
        for c in "ABOUT alp".chars() {
            press(&mut browser, &[KeyCode::Char(c)]);
        }
        assert_eq!(listed(&browser), ["alpha"]);
    }

    #[test]
    fn escape_takes_back_one_thing_at_a_time_and_then_quits() {
        let mut browser = browser(&["alpha"]);
        press(&mut browser, &[KeyCode::Char('a'), KeyCode::Enter]);
        assert!(browser.is_wide());
        assert_eq!(press(&mut browser, &[KeyCode::Esc]), Flow::Go);
        assert_eq!((browser.is_wide(), browser.query()), (false, "a"));
        assert_eq!(press(&mut browser, &[KeyCode::Esc]), Flow::Go);
        assert_eq!(press(&mut browser, &[KeyCode::Esc]), Flow::Quit);
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(browser.on_key(control_c), Flow::Quit);
    }

    #[test]
    fn a_text_is_read_once_and_scrolled_from_its_beginning() {
        let mut browser = browser(&["alpha", "beta"]);
        let mut reads = 0;
        for _ in 0..2 {
            browser.read_body(|row| {
                reads += 1;
                row.name.clone()
            });
        }
        press(&mut browser, &[KeyCode::PageDown]);
        assert_eq!((reads, browser.scroll()), (1, PAGE));
        browser.bound_scroll(3);
        assert_eq!(browser.scroll(), 3);
        press(&mut browser, &[KeyCode::Down]);
        browser.read_body(|row| row.name.clone());
        assert_eq!((browser.body(), browser.scroll()), ("beta", 0));
    }
}
