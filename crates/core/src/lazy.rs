//! A header's values, made when somebody asks for them, and texts that stay where they were kept.

use crate::{Field, Frontmatter, Guarded, Requires};
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Holds headers in another form than as values, and makes those.
pub trait FrontmatterStore: fmt::Debug + Send + Sync {
    /// The values of the header at this place, always the same ones: every copy of a skill makes its own.
    fn frontmatter(&self, place: usize) -> Frontmatter;

    /// The text from the first of these bytes to the last, which [`KeptText::kept`] was told of; always the same.
    fn text(&self, start: usize, end: usize) -> &str;
}

/// A text of a skill that belongs to it, or to the store that has the skill's header.
#[derive(Clone)]
pub struct KeptText(Text);

#[derive(Clone)]
enum Text {
    Own(Box<str>),
    Kept { store: Arc<dyn FrontmatterStore>, start: u32, end: u32 },
}

impl KeptText {
    /// The text that the store has from the first of these bytes to the last.
    #[must_use]
    pub fn kept(store: Arc<dyn FrontmatterStore>, start: usize, end: usize) -> Self {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => Self(Text::Kept { store, start, end }),
            _ => store.text(start, end).into(),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Own(text) => text,
            // A number of 32 bits is one of a place in memory wherever this is compiled.
            Text::Kept { store, start, end } => store.text(*start as usize, *end as usize),
        }
    }
}

impl Deref for KeptText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for KeptText {
    fn from(text: &str) -> Self {
        Self(Text::Own(text.into()))
    }
}

impl From<String> for KeptText {
    fn from(text: String) -> Self {
        Self(Text::Own(text.into_boxed_str()))
    }
}

impl PartialEq for KeptText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for KeptText {}

impl PartialEq<str> for KeptText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for KeptText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<KeptText> for &str {
    fn eq(&self, other: &KeptText) -> bool {
        *self == other.as_str()
    }
}

impl fmt::Debug for KeptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for KeptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Serialize for KeptText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Which keys a header gives a value to, a bit for each field of [`Frontmatter`] in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GivenKeys(u32);

impl GivenKeys {
    /// The keys of these bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// A bit for each.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// The [`Frontmatter`] of a skill.
///
/// Most of what is loaded is never used, and of most headers nothing but name and description is asked for. So the values of a
/// header that was kept from an earlier load are made when one of them is first asked for that the header gives; the methods here
/// answer for the keys that it does not give without making any.
#[derive(Clone, Default)]
pub struct LazyFrontmatter {
    made: OnceLock<Box<Frontmatter>>,
    kept: Option<Kept>,
}

#[derive(Clone)]
struct Kept {
    store: Arc<dyn FrontmatterStore>,
    place: usize,
    given: GivenKeys,
}

/// Methods that answer for one field each; `None` when its key is not given.
macro_rules! fields {
    ($( $(#[doc = $doc:literal])+ $field:ident: $type:ty = $absent:expr; )+) => { $(
        $(#[doc = $doc])+
        #[must_use]
        pub fn $field(&self) -> &$type {
            if self.lacks(const { GivenKeys::of_field(stringify!($field)) }) { const { &$absent } } else { &self.get().$field }
        }
    )+ };
}

impl LazyFrontmatter {
    /// What the store has at this place. `given` are the keys that it gives, all of them.
    #[must_use]
    pub fn kept(store: Arc<dyn FrontmatterStore>, place: usize, given: GivenKeys) -> Self {
        Self { made: OnceLock::new(), kept: Some(Kept { store, place, given }) }
    }

    fn get(&self) -> &Frontmatter {
        self.made.get_or_init(|| match &self.kept {
            Some(Kept { store, place, .. }) => Box::new(store.frontmatter(*place)),
            None => Box::default(),
        })
    }

    /// Whether it is known without the values that the header gives none for this key.
    fn lacks(&self, key: GivenKeys) -> bool {
        self.made.get().is_none() && self.kept.as_ref().is_some_and(|kept| kept.given.0 & key.0 == 0)
    }

    /// Whether the header gives a description of its own.
    #[must_use]
    pub fn gives_description(&self) -> bool {
        match (self.made.get(), &self.kept) {
            (None, Some(kept)) => kept.given.0 & const { GivenKeys::of_field("description").0 } != 0,
            _ => self.get().description.is_some(),
        }
    }

    fields! {
        /// [`Frontmatter::when_to_use`].
        when_to_use: Option<Field<String>> = None;
        /// [`Frontmatter::disable_model_invocation`].
        disable_model_invocation: Guarded<bool> = Guarded::Absent;
        /// [`Frontmatter::user_invocable`].
        user_invocable: Guarded<bool> = Guarded::Absent;
        /// [`Frontmatter::paths`].
        paths: Guarded<Vec<Field<String>>> = Guarded::Absent;
        /// [`Frontmatter::deferred`].
        deferred: Option<Field<bool>> = None;
        /// [`Frontmatter::requires`].
        requires: Option<Requires> = None;
    }
}

impl Deref for LazyFrontmatter {
    type Target = Frontmatter;

    fn deref(&self) -> &Frontmatter {
        self.get()
    }
}

impl From<Box<Frontmatter>> for LazyFrontmatter {
    fn from(made: Box<Frontmatter>) -> Self {
        Self { made: OnceLock::from(made), kept: None }
    }
}

impl From<Frontmatter> for LazyFrontmatter {
    fn from(made: Frontmatter) -> Self {
        Box::new(made).into()
    }
}

impl PartialEq for LazyFrontmatter {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for LazyFrontmatter {}

impl fmt::Debug for LazyFrontmatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for LazyFrontmatter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Debug)]
    struct Store {
        values: Frontmatter,
        asked: AtomicUsize,
    }

    impl FrontmatterStore for Store {
        fn frontmatter(&self, place: usize) -> Frontmatter {
            assert_eq!(place, 7);
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.values.clone()
        }

        fn text(&self, start: usize, end: usize) -> &str {
            &"Kept in a store."[start..end]
        }
    }

    #[test]
    fn values_are_made_once_and_not_for_a_key_that_is_not_given() {
        let values = Frontmatter {
            description: Some(Field::new("Says so.".to_owned(), Span::new(3, 11))),
            user_invocable: Guarded::Present(Field::new(false, Span::new(20, 25))),
            ..Frontmatter::default()
        };
        let store = Arc::new(Store { values: values.clone(), asked: AtomicUsize::new(0) });
        let lazy = LazyFrontmatter::kept(Arc::clone(&store) as _, 7, values.given());
        assert_eq!((lazy.when_to_use(), lazy.requires()), (&None, &None));
        assert!(lazy.paths().is_absent() && lazy.disable_model_invocation().is_absent());
        assert!(lazy.gives_description());
        assert_eq!(store.asked.load(Ordering::Relaxed), 0, "that it is given is known");
        assert_eq!(lazy.user_invocable().present(), Some(&false));
        assert_eq!(*lazy, values);
        assert_eq!(store.asked.load(Ordering::Relaxed), 1);
        assert_eq!(lazy, LazyFrontmatter::from(values));
        assert_eq!(lazy.clone(), lazy);
        assert_eq!(store.asked.load(Ordering::Relaxed), 1, "a copy has what was made");
        assert!(!LazyFrontmatter::default().gives_description());
    }

    #[test]
    fn a_text_is_the_same_wherever_it_is() {
        let store = Arc::new(Store { values: Frontmatter::default(), asked: AtomicUsize::new(0) });
        let kept = KeptText::kept(store, 8, 15);
        assert_eq!(kept, "a store");
        assert_eq!(kept, KeptText::from("a store"));
        assert_ne!(kept, KeptText::from("a shelf".to_owned()));
        assert_eq!((kept.to_string(), format!("{kept:?}")), ("a store".to_owned(), "\"a store\"".to_owned()));
        assert_eq!(serde_json::to_value(&kept).expect("a text is JSON"), "a store");
    }
}
