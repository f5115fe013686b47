//! How the tests of `test`, `[` and `[[` are written.

use crate::ast::{BinaryTest, UnaryTest};

impl UnaryTest {
    /// The test that an operator such as `-f` stands for. `-a` with one operand means `-e`.
    #[must_use]
    pub fn of_operator(operator: &str) -> Option<Self> {
        Some(match operator {
            "-a" | "-e" => Self::Exists,
            "-f" => Self::RegularFile,
            "-d" => Self::Directory,
            "-h" | "-L" => Self::SymbolicLink,
            "-p" => Self::Fifo,
            "-S" => Self::Socket,
            "-b" => Self::BlockDevice,
            "-c" => Self::CharacterDevice,
            "-s" => Self::SizeAboveZero,
            "-r" => Self::Readable,
            "-w" => Self::Writable,
            "-x" => Self::Executable,
            "-t" => Self::Terminal,
            "-v" => Self::VariableSet,
            "-z" => Self::Empty,
            "-n" => Self::NotEmpty,
            _ => return None,
        })
    }
}

impl BinaryTest {
    /// Every operator between two operands. `=~` is one of `[[` only.
    pub const OPERATORS: &[(&str, Self)] = &[
        ("==", Self::Matches),
        ("=", Self::Matches),
        ("!=", Self::DoesNotMatch),
        ("=~", Self::Regex),
        ("<", Self::Before),
        (">", Self::After),
        ("-eq", Self::Equal),
        ("-ne", Self::NotEqual),
        ("-lt", Self::Less),
        ("-le", Self::LessOrEqual),
        ("-gt", Self::Greater),
        ("-ge", Self::GreaterOrEqual),
        ("-nt", Self::Newer),
        ("-ot", Self::Older),
        ("-ef", Self::SameFile),
    ];

    /// The test that an operator between two operands stands for.
    #[must_use]
    pub fn of_operator(operator: &str) -> Option<Self> {
        Self::OPERATORS.iter().find(|(text, _)| *text == operator).map(|(_, test)| *test)
    }

    /// How the tests that compare numbers do it; `None` for the others.
    #[must_use]
    pub fn on_numbers(self) -> Option<fn(&i64, &i64) -> bool> {
        Some(match self {
            Self::Equal => i64::eq,
            Self::NotEqual => i64::ne,
            Self::Less => i64::lt,
            Self::LessOrEqual => i64::le,
            Self::Greater => i64::gt,
            Self::GreaterOrEqual => i64::ge,
            _ => return None,
        })
    }
}
