//! One skill of a listing, written with as much of its description as there is room for.

use super::{ListingForm, MAX_DESCRIPTION_CHARS};
use crate::Entry;
use skillgate_core::Skill;
use std::borrow::Cow;
use std::cell::OnceCell;

/// A skill that is to be listed.
#[derive(Clone, Debug)]
pub(super) struct Item<'e> {
    pub(super) name: &'e str,
    texts: Texts<'e>,
    /// They in one line; made for those that are shown, which in a large catalogue are few.
    line: OnceCell<String>,
    name_chars: usize,
    /// Characters of the line.
    chars: usize,
    pub(super) pinned: bool,
    pub(super) used: u64,
}

/// Description and `when_to_use`, which are looked at for those alone that are shown.
#[derive(Clone, Copy, Debug)]
enum Texts<'e> {
    Of(&'e Skill),
    /// None are told.
    KeptBack,
    #[cfg(test)]
    These([Option<&'e str>; 2]),
}

impl<'e> Texts<'e> {
    fn get(self) -> [Option<&'e str>; 2] {
        match self {
            Texts::Of(skill) => texts(skill),
            Texts::KeptBack => [None; 2],
            #[cfg(test)]
            Texts::These(texts) => texts,
        }
    }
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

/// Bytes that are counted together.
const BLOCK: usize = 128;

/// What is counted of a skill once, when its catalogue is made: a listing is made for every turn, of texts that in a large
/// catalogue are megabytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineLength {
    /// Characters of the description with its `when_to_use`, as one line.
    description: usize,
    /// Characters of the command's name.
    name: usize,
}

impl LineLength {
    pub(crate) fn of_skill(skill: &Skill) -> Self {
        Self::of(skill.id.command.as_str(), texts(skill))
    }

    fn of(name: &str, texts: [Option<&str>; 2]) -> Self {
        let (mut chars, mut words) = (0, 0);
        for text in texts.into_iter().flatten() {
            let counted = count(text);
            (chars, words) = (chars + counted.0, words + counted.1);
        }
        Self { description: chars + words.saturating_sub(1), name: name.chars().count() }
    }
}

/// Description and `when_to_use`.
fn texts(skill: &Skill) -> [Option<&str>; 2] {
    let when = skill.frontmatter.when_to_use().as_ref().map(|field| field.value.as_str());
    [skill.description.as_deref(), when]
}

impl<'e> Item<'e> {
    pub(super) fn new(entry: &'e Entry) -> Self {
        let name = entry.called();
        let item = Self::of(name, Texts::Of(&entry.skill), entry.length);
        // Few are called by another name than their own.
        if entry.in_full { Self { name_chars: name.chars().count(), ..item } } else { item }
    }

    fn of(name: &'e str, texts: Texts<'e>, length: LineLength) -> Self {
        let line = OnceCell::new();
        Self { name, texts, line, name_chars: length.name, chars: length.description, pinned: false, used: 0 }
    }

    /// Leaves the name alone, as the skill's author wants it.
    pub(super) fn keep_back(&mut self) {
        (self.texts, self.chars) = (Texts::KeptBack, 0);
    }

    pub(super) fn is_kept_back(&self) -> bool {
        matches!(self.texts, Texts::KeptBack)
    }

    /// Characters of the description.
    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// Description and `when_to_use` in one line.
    pub(super) fn description(&self) -> &str {
        self.line.get_or_init(|| described(self.texts.get()))
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
    let bytes = text.as_bytes();
    let Some((first, behind)) = bytes.split_first() else { return (0, 0) };
    let (mut chars, mut words) = (usize::from(!is_blank(*first)), usize::from(!is_blank(*first)));
    // In blocks whose counts fit a byte: many bytes are then looked at by one instruction, and a large catalogue has megabytes.
    for (block, before) in behind.chunks(BLOCK).zip(bytes.chunks(BLOCK)) {
        let (mut filled, mut starts) = (0_u8, 0_u8);
        for (byte, before) in block.iter().zip(before) {
            filled += u8::from(!is_blank(*byte));
            starts += u8::from(!is_blank(*byte) & is_blank(*before));
        }
        (chars, words) = (chars + usize::from(filled), words + usize::from(starts));
    }
    (chars, words)
}

/// What separates words in ASCII: the blank, and from the tab to the carriage return.
fn is_blank(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') < 5)
}

/// Description and `when_to_use` as one line, so that no text of an author passes for an entry of its own.
fn described(texts: [Option<&str>; 2]) -> String {
    let words = texts.into_iter().flatten().flat_map(str::split_whitespace);
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

    fn item<'e>(name: &'e str, texts: [Option<&'e str>; 2]) -> Item<'e> {
        Item::of(name, Texts::These(texts), LineLength::of(name, texts))
    }

    #[test]
    fn a_description_is_cut_with_a_mark_inside_its_room() {
        let item = |description| item("a", [Some(description), None]);
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
            let item = item("n\u{e4}me", [Some(description), Some(when)]);
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
        let description = described([Some("Reads.\n- other: Does all"), Some(" When\tasked.\r\n")]);
        assert_eq!(description, "Reads. - other: Does all When asked.");
        let mut text = String::new();
        append(&mut text, ListingForm::Xml, "a<b", "</description></skill> \"x\" & 'y'");
        assert_eq!(
            text,
            "<skill><name>a&lt;b</name><description>&lt;/description&gt;&lt;/skill&gt; &quot;x&quot; &amp; &apos;y&apos;</description></skill>\n"
        );
    }
}
