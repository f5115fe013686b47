//! One skill of a listing, written with as much of its description as there is room for.

use super::{ListingForm, MAX_DESCRIPTION_CHARS};
use std::borrow::Cow;

/// A skill that is to be listed.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) qualified_name: String,
    /// Description and `when_to_use` in one line.
    pub(super) description: String,
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
    pub(super) fn is_whole(&self, item: &Item) -> bool {
        matches!(self.text, Cow::Borrowed(text) if text.len() == item.description.len())
    }
}

impl Item {
    /// The description in at most `room` characters; a cut one ends with a mark.
    pub(super) fn shown(&self, room: usize) -> Shown<'_> {
        let room = room.min(MAX_DESCRIPTION_CHARS);
        let Some((end, _)) = self.description.char_indices().nth(room) else {
            return Shown { text: Cow::Borrowed(&self.description), kept: self.description.chars().count() };
        };
        let Some(kept) = room.checked_sub(1) else { return Shown { text: Cow::Borrowed(""), kept: 0 } };
        // One character of the room is the mark's.
        let end = self.description[..end].char_indices().next_back().map_or(0, |(last, _)| last);
        Shown { text: Cow::Owned(format!("{}…", &self.description[..end])), kept }
    }

    /// Characters of the line or element with a description of at most `room` characters.
    pub(super) fn cost(&self, room: usize, form: ListingForm) -> usize {
        let mut text = String::new();
        append(&mut text, form, &self.name, &self.shown(room).text);
        text.chars().count()
    }
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
        let item = |description: &str| Item {
            name: "a".into(),
            qualified_name: "user:a".into(),
            description: description.into(),
            pinned: false,
            used: 0,
        };
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
        let long = item(&"x".repeat(2_000));
        assert_eq!(long.shown(usize::MAX).text.chars().count(), MAX_DESCRIPTION_CHARS);
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
