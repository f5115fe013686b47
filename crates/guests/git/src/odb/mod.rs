//! The object database: packs and loose objects, read piece by piece. A pack is never read as a whole.

mod delta;
mod index;
mod loose;
mod pack;
mod window;

use crate::failure::{Failure, Outcome};
use crate::files;
use gix_hash::ObjectId;
use gix_object::Kind;
use pack::Pack;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The shortest abbreviation that git makes by itself.
const DEFAULT_ABBREVIATION: usize = 7;
/// Objects that are kept decoded.
const KEPT_OBJECTS: usize = 256;
/// Bytes above which an object is not kept.
const KEPT_SIZE: usize = 1 << 16;
/// How far `objects/info/alternates` are followed.
const MAX_ALTERNATES: usize = 5;

/// An object as it was stored.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) data: Rc<[u8]>,
}

/// The objects of one repository.
#[derive(Debug)]
pub(crate) struct Odb {
    directories: Vec<PathBuf>,
    packs: OnceCell<Vec<Pack>>,
    kept: RefCell<HashMap<ObjectId, Object>>,
    /// Ids of loose objects by their first byte, as far as somebody asked for them.
    loose: RefCell<HashMap<u8, Rc<Vec<ObjectId>>>>,
    replaced: RefCell<HashMap<ObjectId, ObjectId>>,
}

fn damaged(id: &ObjectId, error: &io::Error) -> Failure {
    Failure::Fatal(format!("object {id} is corrupt: {error}"))
}

impl Odb {
    pub(crate) fn open(objects: &Path) -> Self {
        let mut directories = vec![objects.to_owned()];
        collect_alternates(objects, &mut directories, 0);
        Self {
            directories,
            packs: OnceCell::new(),
            kept: RefCell::default(),
            loose: RefCell::default(),
            replaced: RefCell::default(),
        }
    }

    /// From now on, `id` means `other` (`refs/replace`).
    pub(crate) fn replace(&self, id: ObjectId, other: ObjectId) {
        self.replaced.borrow_mut().insert(id, other);
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| {
            let mut packs: Vec<Pack> = self.directories.iter().flat_map(|directory| Pack::find(directory)).collect();
            // The newest first, as git searches them.
            packs.sort_by_key(|pack| std::cmp::Reverse(pack.modified()));
            packs
        })
    }

    /// The object, `None` when it is not there.
    pub(crate) fn find(&self, id: &ObjectId) -> Outcome<Option<Object>> {
        let replaced = self.replaced.borrow().get(id).copied();
        let id = &replaced.unwrap_or(*id);
        if let Some(object) = self.kept.borrow().get(id) {
            return Ok(Some(object.clone()));
        }
        let object = self.find_anew(id).map_err(|error| damaged(id, &error))?;
        if let Some(object) = object.as_ref().filter(|object| object.data.len() <= KEPT_SIZE) {
            let mut kept = self.kept.borrow_mut();
            if kept.len() >= KEPT_OBJECTS {
                kept.clear();
            }
            kept.insert(*id, object.clone());
        }
        Ok(object)
    }

    fn find_anew(&self, id: &ObjectId) -> io::Result<Option<Object>> {
        if let Some((kind, data)) = self.find_packed(id)? {
            return Ok(Some(Object { kind, data }));
        }
        for directory in &self.directories {
            if let Some((kind, data)) = loose::read(directory, id)? {
                return Ok(Some(Object { kind, data: data.into() }));
            }
        }
        // Well known and never stored by some tools.
        let empty = [
            (ObjectId::empty_tree(gix_hash::Kind::Sha1), Kind::Tree),
            (ObjectId::empty_blob(gix_hash::Kind::Sha1), Kind::Blob),
        ];
        Ok(empty.iter().find(|(known, _)| known == id).map(|(_, kind)| Object { kind: *kind, data: Rc::from([]) }))
    }

    fn find_packed(&self, id: &ObjectId) -> io::Result<Option<(Kind, Rc<[u8]>)>> {
        for pack in self.packs() {
            if let Some(offset) = pack.offset_of(id)? {
                // A delta against an object by its id has it in the same pack, except in thin packs, which are never stored.
                return pack.object_at(offset).map(Some);
            }
        }
        Ok(None)
    }

    pub(crate) fn contains(&self, id: &ObjectId) -> Outcome<bool> {
        for pack in self.packs() {
            if pack.offset_of(id).map_err(|error| damaged(id, &error))?.is_some() {
                return Ok(true);
            }
        }
        Ok(self.directories.iter().any(|directory| files::exists(&loose::path(directory, id)))
            || id.is_empty_tree()
            || id.is_empty_blob())
    }

    /// The object, an error when it is not there.
    pub(crate) fn get(&self, id: &ObjectId) -> Outcome<Object> {
        self.find(id)?.ok_or_else(|| Failure::Fatal(format!("unable to read {id}")))
    }

    /// The object of this kind, an error when it is not there or another.
    pub(crate) fn get_kind(&self, id: &ObjectId, kind: Kind) -> Outcome<Rc<[u8]>> {
        let object = self.get(id)?;
        if object.kind == kind {
            Ok(object.data)
        } else {
            Err(Failure::Fatal(format!("object {id} is a {}, not a {kind}", object.kind)))
        }
    }

    /// Every object whose hexadecimal id begins with `prefix`, in the order of their ids.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Outcome<Vec<ObjectId>> {
        let matches = |id: &ObjectId| id.to_hex().to_string().starts_with(prefix);
        let mut found = Vec::new();
        for first in first_bytes(prefix) {
            for pack in self.packs() {
                let ids = pack.ids_with_first_byte(first).map_err(|error| unreadable_pack(&error))?;
                found.extend(ids.into_iter().filter(&matches));
            }
            found.extend(self.loose_with_first_byte(first).iter().copied().filter(&matches));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn loose_with_first_byte(&self, first: u8) -> Rc<Vec<ObjectId>> {
        let mut loose = self.loose.borrow_mut();
        let ids = loose.entry(first).or_insert_with(|| {
            Rc::new(
                self.directories.iter().flat_map(|directory| loose::ids_with_first_byte(directory, first)).collect(),
            )
        });
        Rc::clone(ids)
    }

    /// How many digits git gives an abbreviated id at least in a repository of this size.
    pub(crate) fn default_abbreviation(&self) -> usize {
        let count: usize = self.packs().iter().map(Pack::count).sum();
        let bits = usize::try_from(usize::BITS - count.leading_zeros()).unwrap_or_default();
        // As git: half of the bits that count the packed objects, rounded up.
        bits.max(1).div_ceil(2).max(DEFAULT_ABBREVIATION)
    }

    /// The abbreviation of an id: at least `length` digits, and as many as make it unique.
    pub(crate) fn abbreviate(&self, id: &ObjectId, length: usize) -> Outcome<String> {
        let hex = id.to_hex().to_string();
        if length >= hex.len() {
            return Ok(hex);
        }
        let mut length = length.max(4);
        let bytes = id.as_slice();
        let first = bytes[0];
        let mut consider = |other: &ObjectId| {
            if other != id {
                length = length.max(common_digits(bytes, other.as_slice()) + 1);
            }
        };
        for pack in self.packs() {
            for neighbour in pack.neighbours(id).map_err(|error| unreadable_pack(&error))? {
                consider(&neighbour);
            }
        }
        self.loose_with_first_byte(first).iter().for_each(consider);
        Ok(hex[..length.min(hex.len())].to_owned())
    }

    /// The number of loose objects and their directories, for `count-objects`.
    pub(crate) fn loose_directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let own = self.directories.first();
        own.into_iter().flat_map(|directory| (0..=u8::MAX).map(move |first| directory.join(format!("{first:02x}"))))
    }
}

fn unreadable_pack(error: &io::Error) -> Failure {
    Failure::Fatal(format!("cannot read a pack: {error}"))
}

fn collect_alternates(objects: &Path, directories: &mut Vec<PathBuf>, depth: usize) {
    let Ok(Some(list)) = files::read_optional(&objects.join("info/alternates")) else { return };
    for line in list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#') {
        let alternate = objects.join(files::path(line));
        if depth < MAX_ALTERNATES && !directories.contains(&alternate) {
            directories.push(alternate.clone());
            collect_alternates(&alternate, directories, depth + 1);
        }
    }
}

/// The values that the first byte of an id can have that begins with these digits.
fn first_bytes(prefix: &str) -> std::ops::RangeInclusive<u8> {
    let digit = |at: usize| prefix.get(at..=at).and_then(|digit| u8::from_str_radix(digit, 16).ok());
    match (digit(0), digit(1)) {
        (Some(high), Some(low)) => (high << 4 | low)..=(high << 4 | low),
        (Some(high), None) => high << 4..=(high << 4 | 0xf),
        (None, _) => 0..=u8::MAX,
    }
}

/// How many hexadecimal digits two ids have in common.
fn common_digits(one: &[u8], other: &[u8]) -> usize {
    match one.iter().zip(other).position(|(a, b)| a != b) {
        Some(at) => 2 * at + usize::from(one[at] >> 4 == other[at] >> 4),
        None => 2 * one.len(),
    }
}
