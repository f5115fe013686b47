//! The parts of a header as they are kept.
//!
//! The bits of the keys that a header gives are those of [`GivenKeys`](skillgate_core::GivenKeys).

use super::codec::{Absent, Kept, Reader, Writer};
use skillgate_core::{
    Code, Context, Diagnostic, Digest, Effort, Entry, Field, Fix, Frontmatter, Guarded, HeaderState, ModelChoice,
    Requires, Scalar, ScalarStyle, Severity, Span, Value, ValueKind, Version,
};

/// A type whose values are few: each is one byte, by its place in the list.
macro_rules! choice {
    ($type:ident { $($variant:ident = $byte:literal),+ $(,)? }) => {
        impl Kept for $type {
            fn write(&self, to: &mut Writer) {
                to.byte(match self { $( $type::$variant => $byte, )+ });
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                match from.byte()? { $( $byte => Some($type::$variant), )+ _ => None }
            }
        }
    };
}

choice!(HeaderState { Parsed = 0, Recovered = 1, Absent = 2, Empty = 3, Unclosed = 4, Unparseable = 5 });
choice!(Context { Inline = 0, Fork = 1 });
choice!(Severity { Info = 0, Warning = 1, Error = 2 });
choice!(ScalarStyle { Plain = 0, Text = 1 });

/// A type whose fields are mostly absent: a bit for each says which follow.
macro_rules! mostly_absent {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl Kept for $type {
            fn write(&self, to: &mut Writer) {
                let $type { $($field),+ } = self;
                let mut present = 0_u32;
                let mut bit = 1_u32;
                $(
                    if !$field.is_absent() {
                        present |= bit;
                    }
                    bit <<= 1;
                )+
                debug_assert!(bit > present, "each field has its bit");
                to.wide(present.into());
                $(
                    if !$field.is_absent() {
                        $field.write(to);
                    }
                )+
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                let mut present = u32::try_from(from.wide()?).ok()?;
                let mut next = || {
                    let is_present = present & 1 == 1;
                    present >>= 1;
                    is_present
                };
                let read = $type { $( $field: if next() { Kept::read(from)? } else { Absent::ABSENT } ),+ };
                (present == 0).then_some(read)
            }

            fn skip(from: &mut Reader<'_>) -> Option<()> {
                let mut present = u32::try_from(from.wide()?).ok()?;
                let mut next = || {
                    let is_present = present & 1 == 1;
                    present >>= 1;
                    is_present
                };
                $(
                    if next() {
                        skip_like(|read: $type| read.$field, from)?;
                    }
                )+
                (present == 0).then_some(())
            }
        }
    };
}

/// Passes over a value of the type of a field.
fn skip_like<O, T: Kept>(_field: impl Fn(O) -> T, from: &mut Reader<'_>) -> Option<()> {
    T::skip(from)
}

mostly_absent!(Frontmatter {
    name,
    description,
    when_to_use,
    allowed_tools,
    disallowed_tools,
    argument_hint,
    arguments,
    version,
    model,
    disable_model_invocation,
    user_invocable,
    hooks,
    context,
    agent,
    background,
    deferred,
    effort,
    shell,
    paths,
    requires,
    license,
    compatibility,
    metadata,
    other,
});
mostly_absent!(Requires { skills, tools, programs, version });

impl Kept for Span {
    fn write(&self, to: &mut Writer) {
        to.part(self.start, self.end);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (start, end) = from.part()?;
        Some(Span { start, end })
    }
}

impl<T: Kept> Kept for Field<T> {
    fn write(&self, to: &mut Writer) {
        self.span.write(to);
        self.value.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let span = Span::read(from)?;
        Some(Field { value: T::read(from)?, span })
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        Span::skip(from)?;
        T::skip(from)
    }
}

impl<T: Kept> Kept for Guarded<T> {
    fn write(&self, to: &mut Writer) {
        match self {
            Guarded::Absent => to.byte(0),
            Guarded::Present(field) => {
                to.byte(1);
                field.write(to);
            }
            Guarded::Unreadable(span) => {
                to.byte(2);
                span.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(Guarded::Absent),
            1 => Field::read(from).map(Guarded::Present),
            2 => Span::read(from).map(Guarded::Unreadable),
            _ => None,
        }
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        match from.byte()? {
            0 => Some(()),
            1 => Field::<T>::skip(from),
            2 => Span::skip(from),
            _ => None,
        }
    }
}

impl<T: Kept> Absent for Guarded<T> {
    const ABSENT: Self = Guarded::Absent;

    fn is_absent(&self) -> bool {
        Guarded::is_absent(self)
    }
}

impl Kept for ModelChoice {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        String::read(from).map(ModelChoice)
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        String::skip(from)
    }
}

impl Kept for Effort {
    fn write(&self, to: &mut Writer) {
        to.byte(match self {
            Effort::Low => 0,
            Effort::Medium => 1,
            Effort::High => 2,
            Effort::Xhigh => 3,
            Effort::Max => 4,
            Effort::Number(_) => 5,
        });
        if let Effort::Number(number) = self {
            to.wide(*number);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(match from.byte()? {
            0 => Effort::Low,
            1 => Effort::Medium,
            2 => Effort::High,
            3 => Effort::Xhigh,
            4 => Effort::Max,
            5 => Effort::Number(from.wide()?),
            _ => return None,
        })
    }
}

impl Kept for Version {
    fn write(&self, to: &mut Writer) {
        self.0.iter().for_each(|part| to.wide((*part).into()));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut part = || u32::try_from(from.wide()?).ok();
        Some(Version([part()?, part()?, part()?]))
    }
}

impl Kept for Scalar {
    fn write(&self, to: &mut Writer) {
        self.style.write(to);
        self.text.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let style = ScalarStyle::read(from)?;
        Some(Scalar { text: String::read(from)?, style })
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        ScalarStyle::skip(from)?;
        String::skip(from)
    }
}

impl Kept for Value {
    fn write(&self, to: &mut Writer) {
        self.span.write(to);
        to.inside(|to| match &self.kind {
            ValueKind::Null => to.byte(0),
            ValueKind::Scalar(scalar) => {
                to.byte(1);
                scalar.write(to);
            }
            ValueKind::List(values) => {
                to.byte(2);
                values.write(to);
            }
            ValueKind::Map(entries) => {
                to.byte(3);
                entries.write(to);
            }
        });
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let span = Span::read(from)?;
        let kind = from.inside(|from| match from.byte()? {
            0 => Some(ValueKind::Null),
            1 => Scalar::read(from).map(ValueKind::Scalar),
            2 => Vec::read(from).map(ValueKind::List),
            3 => Vec::read(from).map(ValueKind::Map),
            _ => None,
        })?;
        Some(Value { span, kind })
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        Span::skip(from)?;
        from.inside(|from| match from.byte()? {
            0 => Some(()),
            1 => Scalar::skip(from),
            2 => Vec::<Value>::skip(from),
            3 => Vec::<Entry>::skip(from),
            _ => None,
        })
    }
}

impl Kept for Entry {
    fn write(&self, to: &mut Writer) {
        self.key.write(to);
        self.key_span.write(to);
        self.value.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Entry { key: Kept::read(from)?, key_span: Kept::read(from)?, value: Kept::read(from)? })
    }

    fn skip(from: &mut Reader<'_>) -> Option<()> {
        String::skip(from)?;
        Span::skip(from)?;
        Value::skip(from)
    }
}

impl Kept for Fix {
    fn write(&self, to: &mut Writer) {
        self.span.write(to);
        self.replacement.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Fix { span: Kept::read(from)?, replacement: Kept::read(from)? })
    }
}

/// By its text, which is stable, as its place in the list of rules is not.
impl Kept for Code {
    fn write(&self, to: &mut Writer) {
        self.to_string().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Code::parse(from.text()?)
    }
}

impl Kept for Diagnostic {
    fn write(&self, to: &mut Writer) {
        let Diagnostic { code, severity, span, message, help, fix } = self;
        code.write(to);
        severity.write(to);
        span.write(to);
        message.write(to);
        help.write(to);
        fix.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Diagnostic {
            code: Kept::read(from)?,
            severity: Kept::read(from)?,
            span: Kept::read(from)?,
            message: Kept::read(from)?,
            help: Kept::read(from)?,
            fix: Kept::read(from)?,
        })
    }
}

impl Kept for Digest {
    fn write(&self, to: &mut Writer) {
        to.raw(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.raw().copied().map(Digest::from_bytes)
    }
}
