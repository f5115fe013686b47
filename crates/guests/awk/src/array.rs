//! Associative arrays, with the order of mawk's.
//!
//! `for (key in array)` gives keys in an order that no standard names, and that scripts show. It follows from how the elements
//! lie in memory, so they lie here as they do in mawk 1.3.4: a table of lists by the hash of the key's text, beside it lists by
//! the key's number for elements that were reached by one, both with the element last found in front, and the result of `split`
//! as a plain sequence until somebody treats it as a table.

use crate::number;
use crate::value::{Text, Value};
use std::rc::Rc;

/// Lists of a new table.
const LISTS: usize = 64;
/// Elements for each list before the table is doubled.
const PER_LIST: usize = 12;

/// The key of an element.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Key {
    /// A whole number that is printed without a format.
    Number(i64),
    Text(Text),
}

impl Key {
    /// The key that a subscript stands for.
    pub(crate) fn of(value: &Value, format: &[u8]) -> Self {
        if let Value::Number(number) = value
            && let Some(whole) = number::whole(*number)
        {
            return Key::Number(whole);
        }
        Key::Text(value.text(format))
    }

    fn text(&self) -> Text {
        match self {
            Key::Number(number) => number.to_string().into_bytes().into(),
            Key::Text(text) => Rc::clone(text),
        }
    }
}

type Link = Option<usize>;

#[derive(Clone, Copy, Default, Debug)]
struct Heads {
    by_text: Link,
    by_number: Link,
}

#[derive(Debug)]
struct Element {
    text: Option<Text>,
    hash: u32,
    number: Option<i64>,
    value: Value,
    next_by_text: Link,
    next_by_number: Link,
}

/// An array.
#[derive(Debug, Default)]
pub(crate) struct Array {
    /// The elements 1, 2, … of a `split`, until it is treated as a table.
    sequence: Vec<Value>,
    table: Vec<Heads>,
    elements: Vec<Element>,
    free: Vec<usize>,
    size: usize,
    /// Whether every element is on the lists by text.
    texts_known: bool,
}

fn hash(text: &[u8]) -> u32 {
    text.iter().fold(2_166_136_261, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(16_777_619))
}

impl Array {
    pub(crate) fn len(&self) -> usize {
        if self.sequence.is_empty() { self.size } else { self.sequence.len() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Makes it the elements 1, 2, … of a `split`.
    pub(crate) fn fill(&mut self, values: Vec<Value>) {
        self.clear();
        self.sequence = values;
    }

    pub(crate) fn contains(&mut self, key: &Key) -> bool {
        self.find(key, false).is_some()
    }

    /// The element of a key, made when it is not there.
    pub(crate) fn get(&mut self, key: &Key) -> &mut Value {
        let place = self.find(key, true).unwrap_or(Place::Sequence(0));
        match place {
            Place::Sequence(at) => &mut self.sequence[at],
            Place::Element(at) => &mut self.elements[at].value,
        }
    }

    pub(crate) fn delete(&mut self, key: &Key) {
        if self.len() == 0 {
            return;
        }
        if !self.sequence.is_empty() {
            match key {
                Key::Number(number) if !(1..=self.len_as_number()).contains(number) => return,
                _ => self.make_table(),
            }
        }
        let Some(Place::Element(at)) = self.find(key, false) else { return };
        let element = &self.elements[at];
        let (text, hash, number) = (element.text.is_some(), element.hash, element.number);
        if text {
            self.unlink_by_text(at, hash);
        }
        if let Some(number) = number {
            self.unlink_by_number(at, number);
        }
        let element = &mut self.elements[at];
        element.value = Value::Nothing;
        element.text = None;
        self.free.push(at);
        self.size -= 1;
        if self.size == 0 {
            self.clear();
        }
    }

    /// All keys, in the order of `for (key in array)`.
    pub(crate) fn keys(&mut self) -> Vec<Text> {
        if self.len() == 0 {
            return Vec::new();
        }
        self.know_texts();
        let mut keys = Vec::with_capacity(self.size);
        for heads in &self.table {
            let mut link = heads.by_text;
            while let Some(at) = link {
                let element = &self.elements[at];
                keys.extend(element.text.clone());
                link = element.next_by_text;
            }
        }
        keys
    }

    fn len_as_number(&self) -> i64 {
        i64::try_from(self.len()).unwrap_or(i64::MAX)
    }

    fn find(&mut self, key: &Key, create: bool) -> Option<Place> {
        if self.len() == 0 && !create {
            return None;
        }
        match key {
            Key::Number(number) if !self.sequence.is_empty() => {
                if (1..=self.len_as_number()).contains(number) {
                    let at = usize::try_from(number - 1).ok()?;
                    return Some(Place::Sequence(at));
                }
                if !create {
                    return None;
                }
                self.make_table();
                self.by_number(*number, true).map(Place::Element)
            }
            Key::Number(number) => self.by_number(*number, create).map(Place::Element),
            Key::Text(text) => self.by_text(text, create).map(Place::Element),
        }
    }

    fn slot(&self, hash: u32) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    fn number_slot(&self, number: i64) -> usize {
        // The low bits, also of a number below 0.
        usize::try_from(number.rem_euclid(i64::try_from(self.table.len()).unwrap_or(i64::MAX))).unwrap_or(0)
    }

    fn begin(&mut self) {
        if self.table.is_empty() {
            self.table = vec![Heads::default(); LISTS];
        }
    }

    fn add(&mut self, element: Element) -> usize {
        let at = match self.free.pop() {
            Some(at) => {
                self.elements[at] = element;
                at
            }
            None => {
                self.elements.push(element);
                self.elements.len() - 1
            }
        };
        self.size += 1;
        if self.size > self.table.len() * PER_LIST {
            self.double();
        }
        at
    }

    /// Finds by text; what was found or made is in front of its list then.
    fn by_text(&mut self, text: &Text, create: bool) -> Link {
        self.begin();
        self.know_texts();
        let hash = hash(text);
        let (mut before, mut link): (Link, Link) = (None, self.table[self.slot(hash)].by_text);
        while let Some(at) = link {
            let element = &self.elements[at];
            if element.hash == hash && element.text.as_ref() == Some(text) {
                if let Some(before) = before {
                    let next = element.next_by_text;
                    self.elements[before].next_by_text = next;
                    self.put_first_by_text(at, hash);
                }
                return Some(at);
            }
            before = Some(at);
            link = element.next_by_text;
        }
        if !create {
            return None;
        }
        let at = self.add(Element {
            text: Some(Rc::clone(text)),
            hash,
            number: None,
            value: Value::Nothing,
            next_by_text: None,
            next_by_number: None,
        });
        self.put_first_by_text(at, hash);
        Some(at)
    }

    fn by_number(&mut self, number: i64, create: bool) -> Link {
        self.begin();
        let (mut before, mut link): (Link, Link) = (None, self.table[self.number_slot(number)].by_number);
        while let Some(at) = link {
            let element = &self.elements[at];
            if element.number == Some(number) {
                if let Some(before) = before {
                    let next = element.next_by_number;
                    self.elements[before].next_by_number = next;
                    self.put_first_by_number(at, number);
                }
                return Some(at);
            }
            before = Some(at);
            link = element.next_by_number;
        }
        let at = if self.texts_known && self.size > 0 {
            let at = self.by_text(&Key::Number(number).text(), create)?;
            self.elements[at].number = Some(number);
            at
        } else if create {
            self.add(Element {
                text: None,
                hash: 0,
                number: Some(number),
                value: Value::Nothing,
                next_by_text: None,
                next_by_number: None,
            })
        } else {
            return None;
        };
        self.put_first_by_number(at, number);
        Some(at)
    }

    fn put_first_by_text(&mut self, at: usize, hash: u32) {
        let slot = self.slot(hash);
        self.elements[at].next_by_text = self.table[slot].by_text;
        self.table[slot].by_text = Some(at);
    }

    fn put_first_by_number(&mut self, at: usize, number: i64) {
        let slot = self.number_slot(number);
        self.elements[at].next_by_number = self.table[slot].by_number;
        self.table[slot].by_number = Some(at);
    }

    fn unlink_by_text(&mut self, at: usize, hash: u32) {
        let slot = self.slot(hash);
        let next = self.elements[at].next_by_text;
        let mut link = self.table[slot].by_text;
        if link == Some(at) {
            self.table[slot].by_text = next;
        }
        while let Some(other) = link {
            link = self.elements[other].next_by_text;
            if link == Some(at) {
                self.elements[other].next_by_text = next;
                break;
            }
        }
    }

    fn unlink_by_number(&mut self, at: usize, number: i64) {
        let slot = self.number_slot(number);
        let next = self.elements[at].next_by_number;
        let mut link = self.table[slot].by_number;
        if link == Some(at) {
            self.table[slot].by_number = next;
        }
        while let Some(other) = link {
            link = self.elements[other].next_by_number;
            if link == Some(at) {
                self.elements[other].next_by_number = next;
                break;
            }
        }
    }

    /// Puts elements that were only reached by number on the lists by text too.
    fn know_texts(&mut self) {
        if !self.sequence.is_empty() {
            self.make_table();
        }
        if std::mem::replace(&mut self.texts_known, true) {
            return;
        }
        for slot in 0..self.table.len() {
            let mut link = self.table[slot].by_number;
            while let Some(at) = link {
                if self.elements[at].text.is_none()
                    && let Some(number) = self.elements[at].number
                {
                    let text = Key::Number(number).text();
                    let hash = hash(&text);
                    self.elements[at].hash = hash;
                    self.elements[at].text = Some(text);
                    self.put_first_by_text(at, hash);
                }
                link = self.elements[at].next_by_number;
            }
        }
    }

    fn make_table(&mut self) {
        let values = std::mem::take(&mut self.sequence);
        let mut lists = LISTS;
        while values.len() > lists * PER_LIST {
            lists *= 2;
        }
        self.table = vec![Heads::default(); lists];
        (self.texts_known, self.size) = (false, values.len());
        for (number, value) in (1..).zip(values) {
            self.elements.push(Element {
                text: None,
                hash: 0,
                number: Some(number),
                value,
                next_by_text: None,
                next_by_number: None,
            });
            self.put_first_by_number(self.elements.len() - 1, number);
        }
    }

    /// Doubles the table. Each list falls into two, which keep its order.
    fn double(&mut self) {
        let lists = self.table.len();
        self.table.resize(lists * 2, Heads::default());
        for slot in 0..lists {
            let (mut kept, mut moved) = (Vec::new(), Vec::new());
            let mut link = self.table[slot].by_text;
            while let Some(at) = link {
                let stays = self.slot(self.elements[at].hash) == slot;
                if stays {
                    kept.push(at)
                } else {
                    moved.push(at)
                }
                link = self.elements[at].next_by_text;
            }
            self.table[slot].by_text = self.relink(&kept, |element, next| element.next_by_text = next);
            self.table[slot + lists].by_text = self.relink(&moved, |element, next| element.next_by_text = next);
            let (mut kept, mut moved) = (Vec::new(), Vec::new());
            let mut link = self.table[slot].by_number;
            while let Some(at) = link {
                let stays = self.elements[at].number.is_some_and(|number| self.number_slot(number) == slot);
                if stays {
                    kept.push(at)
                } else {
                    moved.push(at)
                }
                link = self.elements[at].next_by_number;
            }
            self.table[slot].by_number = self.relink(&kept, |element, next| element.next_by_number = next);
            self.table[slot + lists].by_number = self.relink(&moved, |element, next| element.next_by_number = next);
        }
    }

    /// Makes a list of elements and gives its beginning.
    fn relink(&mut self, list: &[usize], set: impl Fn(&mut Element, Link)) -> Link {
        for (index, at) in list.iter().enumerate() {
            set(&mut self.elements[*at], list.get(index + 1).copied());
        }
        list.first().copied()
    }
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Sequence(usize),
    Element(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(array: &mut Array) -> String {
        let keys: Vec<_> = array.keys().iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        keys.join(" ")
    }

    fn text(text: &str) -> Key {
        Key::Text(text.as_bytes().into())
    }

    /// The expected orders are what mawk 1.3.4 prints.
    #[test]
    fn keys_come_in_the_order_of_mawk() {
        let mut array = Array::default();
        for key in ["b", "a", "c", "a", "zeta", "alpha"] {
            array.get(&text(key));
        }
        assert_eq!(keys(&mut array), "c b alpha a zeta");
        let mut array = Array::default();
        (1..=12).for_each(|number| {
            array.get(&Key::Number(number));
        });
        assert_eq!(keys(&mut array), "3 10 8 6 5 2 11 1 4 12 9 7");
        let mut array = Array::default();
        array.fill(vec![Value::Nothing; 8]);
        assert_eq!(keys(&mut array), "3 8 6 5 2 1 4 7");
    }

    #[test]
    fn elements_are_found_by_number_and_by_text() {
        let mut array = Array::default();
        array.fill(vec![Value::Number(1.0), Value::Number(2.0)]);
        *array.get(&Key::Number(3)) = Value::Number(3.0);
        assert_eq!(*array.get(&text("3")), Value::Number(3.0));
        *array.get(&text("7")) = Value::Number(7.0);
        assert_eq!((array.get(&Key::Number(7)).clone(), array.len()), (Value::Number(7.0), 4));
        array.delete(&Key::Number(2));
        array.delete(&text("nope"));
        assert!(!array.contains(&text("2")) && array.contains(&Key::Number(1)));
        for number in 0..1_000 {
            array.get(&Key::Number(number));
        }
        assert_eq!((array.len(), array.keys().len()), (1_000, 1_000));
        for number in 0..1_000 {
            array.delete(&text(&number.to_string()));
        }
        assert_eq!((array.len(), keys(&mut array)), (0, String::new()));
    }
}
