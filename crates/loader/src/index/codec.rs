//! Values as bytes: numbers and texts apart, so that all texts of a header are checked to be UTF-8 at once.
//!
//! What is read was written by this module, or is damaged, or was made by somebody: every length is checked before anything
//! is allocated for it, and nesting is bounded.

/// Bytes that all of one header may have; a larger one is not kept.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Values inside each other. The reader of headers allows fewer.
const MAX_DEPTH: u8 = 96;
/// Elements that memory is set aside for before they are read.
const MAX_RESERVED: usize = 4;

/// A value that can be kept.
pub(super) trait Kept: Sized {
    /// Appends it.
    fn write(&self, to: &mut Writer);

    /// Takes it from the front; `None` when it is not there.
    fn read(from: &mut Reader<'_>) -> Option<Self>;

    /// Passes over it; `None` exactly where [`Kept::read`] gives that. Types that allocate do better than to read.
    fn skip(from: &mut Reader<'_>) -> Option<()> {
        Self::read(from).map(drop)
    }
}

/// A value that is mostly absent, which then costs one bit of its owner.
pub(super) trait Absent: Kept {
    const ABSENT: Self;

    fn is_absent(&self) -> bool;
}

/// Values on their way into bytes; what was set aside for one header serves for the next.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    numbers: Vec<u8>,
    texts: String,
    /// Bytes of the text that spans are in.
    extent: usize,
    depth: u8,
    /// Whether something cannot be kept.
    failed: bool,
}

impl Writer {
    /// Begins with what was made of a text of so many bytes.
    pub(super) fn begin(&mut self, extent: usize) {
        self.numbers.clear();
        self.texts.clear();
        (self.extent, self.depth, self.failed) = (extent, 0, false);
        self.number(extent);
    }

    /// Seven bits a byte, the lowest first; all but the last have the eighth set.
    pub(super) fn number(&mut self, number: usize) {
        self.wide(number as u64);
    }

    pub(super) fn wide(&mut self, mut number: u64) {
        while number > 0x7f {
            self.numbers.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.numbers.push(number.to_le_bytes()[0]);
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.numbers.push(byte);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.numbers.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len());
        self.texts.push_str(text);
    }

    /// A part of the text that everything was made of.
    pub(super) fn part(&mut self, start: usize, end: usize) {
        self.failed |= end > self.extent;
        self.number(start);
        self.number(end - start);
    }

    pub(super) fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.failed = true;
        } else {
            write(self);
        }
        self.depth -= 1;
    }

    /// The length of the numbers, the numbers, the texts; `None` for what cannot be kept.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        let length = u32::try_from(self.numbers.len()).ok()?;
        let size = 4 + self.numbers.len() + self.texts.len();
        if self.failed || size > MAX_BYTES {
            return None;
        }
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&self.numbers);
        bytes.extend_from_slice(self.texts.as_bytes());
        Some(bytes)
    }
}

/// Bytes on their way to values.
#[derive(Clone, Debug)]
pub(super) struct Reader<'k> {
    numbers: &'k [u8],
    texts: &'k str,
    extent: usize,
    depth: u8,
}

impl<'k> Reader<'k> {
    pub(super) fn new(bytes: &'k [u8]) -> Option<Self> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let (length, rest) = bytes.split_first_chunk()?;
        let (numbers, texts) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let mut reader = Self { numbers, texts: std::str::from_utf8(texts).ok()?, extent: 0, depth: 0 };
        reader.extent = reader.number()?;
        Some(reader)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(*first)
    }

    pub(super) fn raw<const N: usize>(&mut self) -> Option<&'k [u8; N]> {
        let (first, rest) = self.numbers.split_first_chunk()?;
        self.numbers = rest;
        Some(first)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Option<&'k [u8]> {
        let (first, rest) = self.numbers.split_at_checked(length)?;
        self.numbers = rest;
        Some(first)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let first = self.byte()?;
        if first <= 0x7f {
            return Some(first.into());
        }
        usize::try_from(self.long(first)?).ok()
    }

    pub(super) fn wide(&mut self) -> Option<u64> {
        let first = self.byte()?;
        self.long(first)
    }

    /// A number whose first byte is this. Each number has one form, so that what is read and written again is the same.
    fn long(&mut self, first: u8) -> Option<u64> {
        let mut number = u64::from(first & 0x7f);
        let (mut byte, mut shift) = (first, 0);
        while byte > 0x7f {
            byte = self.byte()?;
            shift += 7;
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || (bits << shift) >> shift != bits || byte == 0 {
                return None;
            }
            number |= bits << shift;
        }
        Some(number)
    }

    pub(super) fn text(&mut self) -> Option<&'k str> {
        let length = self.number()?;
        let (text, rest) = self.texts.split_at_checked(length)?;
        self.texts = rest;
        Some(text)
    }

    /// Bytes of texts that were not read. They are the last bytes of all.
    pub(super) fn texts_left(&self) -> usize {
        self.texts.len()
    }

    /// Start and end of a part of the text that everything was made of.
    pub(super) fn part(&mut self) -> Option<(usize, usize)> {
        let start = self.number()?;
        let end = start.checked_add(self.number()?)?;
        (end <= self.extent).then_some((start, end))
    }

    pub(super) fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH { None } else { read(self) };
        self.depth -= 1;
        value
    }

    /// Whether nothing is left, as when everything was read that was written.
    pub(super) fn is_done(&self) -> bool {
        self.numbers.is_empty() && self.texts.is_empty()
    }
}

impl Kept for String {
    fn write(&self, to: &mut Writer) {
        to.text(self);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.text().map(str::to_owned)
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        from.text().map(drop)
    }
}

impl Kept for bool {
    fn write(&self, to: &mut Writer) {
        to.byte((*self).into());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// Appends what [`Vec`] reads.
pub(super) fn write_all<T: Kept>(all: &[T], to: &mut Writer) {
    to.number(all.len());
    all.iter().for_each(|each| each.write(to));
}

impl<T: Kept> Kept for Vec<T> {
    fn write(&self, to: &mut Writer) {
        write_all(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let count = from.number()?;
        let mut all = Vec::with_capacity(count.min(MAX_RESERVED));
        for _ in 0..count {
            all.push(T::read(from)?);
        }
        Some(all)
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        (0..from.number()?).try_for_each(|_| T::skip(from))
    }
}

impl<T: Kept> Absent for Vec<T> {
    const ABSENT: Self = Vec::new();

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Kept> Kept for Option<T> {
    fn write(&self, to: &mut Writer) {
        to.byte(self.is_some().into());
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        if bool::read(from)? { T::skip(from) } else { Some(()) }
    }
}

impl<T: Kept> Absent for Option<T> {
    const ABSENT: Self = None;

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer for what was made of a text of ten bytes.
    fn begun() -> Writer {
        let mut writer = Writer::default();
        writer.begin(10);
        writer
    }

    fn kept<T: Kept>(value: &T) -> Vec<u8> {
        let mut writer = begun();
        value.write(&mut writer);
        writer.finish().expect("it can be kept")
    }

    fn read<T: Kept>(bytes: &[u8]) -> Option<T> {
        let mut reader = Reader::new(bytes)?;
        let mut ahead = reader.clone();
        let value = T::read(&mut reader);
        assert_eq!(T::skip(&mut ahead).is_some(), value.is_some(), "what is passed over is what can be read");
        value.filter(|_| reader.is_done() && ahead.is_done())
    }

    #[test]
    fn numbers_of_every_size_have_one_form() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut writer = begun();
            writer.wide(number);
            let bytes = writer.finish().expect("it can be kept");
            let mut reader = Reader::new(&bytes).expect("it begins well");
            assert_eq!((reader.wide(), reader.is_done()), (Some(number), true), "{number}");
        }
        for numbers in
            [&[0x80][..], &[0x80, 0], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            let mut reader = Reader { numbers, texts: "", extent: 0, depth: 0 };
            assert_eq!(reader.wide(), None, "{numbers:?}");
        }
    }

    #[test]
    fn lengths_that_are_not_there_are_refused_before_anything_is_made() {
        let bytes = kept(&vec!["a".to_owned(), "bc".to_owned()]);
        assert_eq!(read::<Vec<String>>(&bytes), Some(vec!["a".to_owned(), "bc".to_owned()]));
        for length in 0..bytes.len() {
            assert_eq!(read::<Vec<String>>(&bytes[..length]), None, "cut at {length}");
        }
        let mut writer = begun();
        writer.wide(u64::MAX);
        let many = writer.finish().expect("it can be kept");
        assert_eq!(read::<Vec<bool>>(&many), None, "as many as there are numbers");
        assert_eq!(read::<String>(&many), None, "as long");
    }

    #[test]
    fn parts_lie_in_the_text() {
        for (start, end, fits) in [(0, 10, true), (10, 10, true), (0, 11, false), (11, 11, false)] {
            let mut writer = begun();
            writer.part(start, end);
            assert_eq!(writer.finish().is_some(), fits, "{start}..{end}");
        }
        let mut writer = begun();
        writer.number(4);
        writer.number(7);
        let bytes = writer.finish().expect("two numbers");
        assert_eq!(Reader::new(&bytes).and_then(|mut reader| reader.part()), None);
    }
}
