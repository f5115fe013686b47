//! One skill of a listing, written with as much of its description as there is room for.

use super::{ListingForm, MAX_DESCRIPTION_CHARS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// A skill that is to be listed.
#[derive(Clone, Debug)]
pub(super) struct Item<'e> {
    pub(super) name: &'e str,
    pub(super) qualified_name: &'e str,
    description: Option<&'e str>,
    when_to_use: Option<&'e str>,
    /// Both in one line; made for those that are shown, which in a large catalogue are few.
    line: OnceCell<String>,
    name_chars: usize,
    /// Characters of the line.
    chars: usize,
    pub(super) pinned: bool,
    pub(super) used: u64,
}

/// A description as it stands in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shown<'a> {
    pub(super) text: Cow<'a, str>,
    /// Characters of the description that stand there.
    pub(super) kept: usize,
}

impl Shown<'_> {
    pub(super) fn is_whole(&self, item: &Item<'_>) -> bool {
        matches!(self.text, Cow::Borrowed(text) if text.len() == item.description().len())
    }
}

impl<'e> Item<'e> {
    pub(super) fn new(names: [&'e str; 2], description: Option<&'e str>, when_to_use: Option<&'e str>) -> Self {
        let [name, qualified_name] = names;
        let (mut chars, mut words) = (0, 0);
        for text in description.into_iter().chain(when_to_use) {
            let counted = count(text);
            (chars, words) = (chars + counted.0, words + counted.1);
        }
        Self {
            name,
            qualified_name,
            description,
            when_to_use,
            line: OnceCell::new(),
            name_chars: name.chars().count(),
            chars: chars + words.saturating_sub(1),
            pinned: false,
            used: 0,
        }
    }

    /// Characters of the description.
    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// Description and `when_to_use` in one line.
    pub(super) fn description(&self) -> &str {
        self.line.get_or_init(|| described(self.description, self.when_to_use))
    }

    /// The description in at most `room` characters; a cut one ends with a mark.
    pub(super) fn shown(&self, room: usize) -> Shown<'_> {
        let room = room.min(MAX_DESCRIPTION_CHARS);
        if room >= self.chars {
            return Shown { text: Cow::Borrowed(self.description()), kept: self.chars };
        }
        // One character of the room is the mark's.
        let Some(kept) = room.checked_sub(1) else { return Shown { text: Cow::Borrowed(""), kept: 0 } };
        let line = self.description();
        let end = line.char_indices().nth(kept).map_or(line.len(), |(end, _)| end);
        Shown { text: Cow::Owned(format!("{}…", &line[..end])), kept }
    }

    /// Characters of the line or element with a description of at most `room` characters.
    pub(super) fn cost(&self, room: usize, form: ListingForm) -> usize {
        let shown = self.chars.min(room.min(MAX_DESCRIPTION_CHARS));
        match form {
            // `- NAME`, `: ` before a description, and the line end.
            ListingForm::Text if shown == 0 => self.name_chars + 3,
            ListingForm::Text => self.name_chars + 5 + shown,
            ListingForm::Xml => {
                let mut text = String::new();
                let description =
                    if shown == 0 { Shown { text: Cow::Borrowed(""), kept: 0 } } else { self.shown(room) };
                append(&mut text, form, self.name, &description.text);
                text.chars().count()
            }
        }
    }
}

/// The characters of the words of a text, and how many words there are.
fn count(text: &str) -> (usize, usize) {
    if !text.is_ascii() {
        return text.split_whitespace().fold((0, 0), |(chars, words), word| (chars + word.chars().count(), words + 1));
    }
    // What separates words in ASCII: the blank, and from the tab to the carriage return.
    let is_blank = |byte: u8| byte == b' ' || byte.wrapping_sub(b'\t') < 5;
    let (mut chars, mut words, mut in_word) = (0, 0, false);
    for byte in text.bytes() {
        let blank = is_blank(byte);
        chars += usize::from(!blank);
        words += usize::from(!blank && !in_word);
        in_word = !blank;
    }
    (chars, words)
}

/// Description and `when_to_use` as one line, so that no text of an author passes for an entry of its own.
pub(super) fn described(description: Option<&str>, when_to_use: Option<&str>) -> String {
    let words = description.into_iter().chain(when_to_use).flat_map(str::split_whitespace);
    words.collect::<Vec<_>>().join(" ")
}

/// Writes one skill.
pub(super) fn append(text: &mut String, form: ListingForm, name: &str, description: &str) {
    let parts = match (form, description) {
        (ListingForm::Text, "") => ["- ", name, "\n", "", ""],
        (ListingForm::Text, _) => ["- ", name, ": ", description, "\n"],
        (ListingForm::Xml, "") => {
            return text.push_str(&format!("<skill><name>{}</name></skill>\n", escaped(name)));
        }
        (ListingForm::Xml, _) => {
            let (name, description) = (escaped(name), escaped(description));
            return text
                .push_str(&format!("<skill><name>{name}</name><description>{description}</description></skill>\n"));
        }
    };
    parts.iter().for_each(|part| text.push_str(part));
}

/// Says how many skills are not named.
pub(super) fn rest(form: ListingForm, count: usize) -> String {
    let skills = if count == 1 { "skill is" } else { "skills are" };
    let words = format!("{count} more {skills} not named here; DiscoverSkills finds them");
    match form {
        ListingForm::Text => format!("({words})\n"),
        ListingForm::Xml => format!("<more>{words}</more>\n"),
    }
}

/// The text with what is special in XML written as references.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_with_a_mark_inside_its_room() {
        let item = |description| Item::new(["a", "user:a"], Some(description), None);
        for (description, room, text, kept) in [
            ("äbcdef", 6, "äbcdef", 6),
            ("äbcdef", 5, "äbcd…", 4),
            ("äbcdef", 1, "…", 0),
            ("äbcdef", 0, "", 0),
            ("", 0, "", 0),
        ] {
            let item = item(description);
            let shown = item.shown(room);
            assert_eq!((shown.text.as_ref(), shown.kept), (text, kept), "{description} {room}");
            assert_eq!(shown.is_whole(&item), text == description, "{description} {room}");
        }
        let long = "x".repeat(2_000);
        let long = item(&long);
        assert_eq!(long.shown(usize::MAX).text.chars().count(), MAX_DESCRIPTION_CHARS);
    }

    #[test]
    fn the_cost_is_what_is_written() {
        let texts =
            ["", "one", " two  words ", "a\tb\nc\u{b}d\u{c}e\rf", "\u{e4}\u{a0}\u{f6} x", "<&> \u{1f600}", "\u{1}x"];
        for (description, when) in texts.iter().flat_map(|one| texts.map(|other| (*one, other))) {
            let item = Item::new(["n\u{e4}me", "user:name"], Some(description), Some(when));
            assert_eq!(item.chars(), item.description().chars().count(), "{description:?} {when:?}");
            for form in [ListingForm::Text, ListingForm::Xml] {
                for room in [0, 1, 2, 3, 4, 5, 100, usize::MAX] {
                    let mut text = String::new();
                    append(&mut text, form, item.name, &item.shown(room).text);
                    assert_eq!(item.cost(room, form), text.chars().count(), "{description:?} {when:?} {room}");
                }
            }
        }
    }

    #[test]
    fn no_text_of_an_author_passes_for_an_entry() {
        let description = described(Some("Reads.\n- other: Does all"), Some(" When\tasked.\r\n"));
        assert_eq!(description, "Reads. - other: Does all When asked.");
        let mut text = String::new();
        append(&mut text, ListingForm::Xml, "a<b", "</description></skill> \"x\" & 'y'");
        assert_eq!(
            text,
            "<skill><name>a&lt;b</name><description>&lt;/description&gt;&lt;/skill&gt; &quot;x&quot; &amp; &apos;y&apos;</description></skill>\n"
        );
    }
}
