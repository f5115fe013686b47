use std::sync::{Arc, OnceLock};

use skillgate_core::Span;

use crate::arithmetic::ArithmeticExpr;
use crate::word::{Word, WordPart};

/// A whole program.
pub type Program = List;

/// Commands one after the other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct List {
    /// The commands.
    pub items: Vec<ListItem>,
    /// From the first to the last.
    pub span: Span,
}

/// One element of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct ListItem {
    /// What runs.
    pub and_or: AndOr,
    /// The `&`, when it asks for the background.
    pub background: Option<Span>,
    /// Without the separator.
    pub span: Span,
}

/// Pipelines joined by `&&` and `||`, from left to right with equal precedence.
#[derive(Clone, PartialEq, Debug)]
pub struct AndOr {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, each with what stands before it.
    pub rest: Vec<(Connector, Pipeline)>,
    /// All of it.
    pub span: Span,
}

/// `&&` or `||`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Connector {
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// Commands joined by `|`.
#[derive(Clone, PartialEq, Debug)]
pub struct Pipeline {
    /// Whether an odd number of `!` stands before it.
    pub negated: bool,
    /// The commands; at least one.
    pub stages: Vec<Command>,
    /// For each stage, whether a `|&` follows it: its standard error joins its output. As long as `stages`.
    pub stderr_too: Vec<bool>,
    /// All of it, with the `!`.
    pub span: Span,
}

/// One stage of a pipeline.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Words to expand and run.
    Simple(SimpleCommand),
    /// A group, a loop, a condition.
    Compound(CompoundCommand),
    /// The definition of a function.
    Function(FunctionDefinition),
}

/// Assignments, words and redirections; at least one of them.
#[derive(Clone, PartialEq, Debug)]
pub struct SimpleCommand {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The command's name and its arguments.
    pub words: Vec<Word>,
    /// Redirections in the order in which they are applied, wherever they stand.
    pub redirects: Vec<Redirect>,
    /// All of it.
    pub span: Span,
}

/// `name=value` or `name+=value` before a command.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// True for `+=`.
    pub append: bool,
    /// The value: no field splitting, no globbing, no brace expansion.
    pub value: Word,
    /// All of it.
    pub span: Span,
}

/// A compound command and its redirections.
#[derive(Clone, PartialEq, Debug)]
pub struct CompoundCommand {
    /// Which one.
    pub kind: CompoundKind,
    /// Redirections after it.
    pub redirects: Vec<Redirect>,
    /// All of it.
    pub span: Span,
}

/// The compound commands.
#[derive(Clone, PartialEq, Debug)]
pub enum CompoundKind {
    /// `{ …; }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if …; then …; elif …; then …; else …; fi`.
    If {
        /// Conditions and what follows from them, in order.
        branches: Vec<(List, List)>,
        /// The `else` part.
        otherwise: Option<List>,
    },
    /// `for x in …; do …; done`.
    For {
        /// The variable.
        variable: String,
        /// The words; `None` without `in`: the positional parameters.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: List,
    },
    /// `while …; do …; done`.
    While {
        /// True for `until`.
        until: bool,
        /// What is tested.
        condition: List,
        /// What is repeated.
        body: List,
    },
    /// `case … in …; esac`.
    Case {
        /// What is matched.
        subject: Word,
        /// The arms in order.
        arms: Vec<CaseArm>,
    },
    /// `[[ … ]]`.
    Conditional(Conditional),
    /// `(( … ))`.
    Arithmetic(ArithmeticExpr),
}

/// One arm of a `case`.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseArm {
    /// The patterns; quoting in them counts.
    pub patterns: Vec<Word>,
    /// What runs; may be empty.
    pub body: List,
    /// What stands at its end.
    pub terminator: CaseTerminator,
    /// All of it.
    pub span: Span,
}

/// The end of a `case` arm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CaseTerminator {
    /// `;;`, or nothing before `esac`.
    Break,
    /// `;&`: run the next arm's body too.
    FallThrough,
    /// `;;&`: try the next patterns too.
    TryNext,
}

/// `name() …` or `function name …`.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDefinition {
    /// The name: letters, digits, `_`, `-`, `.` and `:`.
    pub name: String,
    /// What a call runs; shared, because a definition outlives the text it stands in.
    pub body: Arc<CompoundCommand>,
    /// All of it.
    pub span: Span,
}

/// A condition between `[[` and `]]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Conditional {
    /// Which test.
    pub kind: ConditionalKind,
    /// All of it.
    pub span: Span,
}

/// The tests of `[[ … ]]`. Words in it are neither split nor globbed.
#[derive(Clone, PartialEq, Debug)]
pub enum ConditionalKind {
    /// `-f x`; a bare word is [`UnaryTest::NotEmpty`].
    Unary {
        /// The test.
        test: UnaryTest,
        /// What is tested.
        operand: Word,
    },
    /// `x == y`.
    Binary {
        /// The test.
        test: BinaryTest,
        /// The left side.
        left: Word,
        /// The right side: a pattern for `==` and `!=`, a regular expression for `=~`; quoted characters stand for
        /// themselves.
        right: Word,
    },
    /// `! …`.
    Not(Box<Conditional>),
    /// `… && …`.
    All(Vec<Conditional>),
    /// `… || …`.
    Any(Vec<Conditional>),
}

/// The tests with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each name says what is true of the operand")]
pub enum UnaryTest {
    Exists,
    RegularFile,
    Directory,
    SymbolicLink,
    Fifo,
    Socket,
    BlockDevice,
    CharacterDevice,
    SizeAboveZero,
    Readable,
    Writable,
    Executable,
    Terminal,
    VariableSet,
    Empty,
    NotEmpty,
}

/// The tests with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryTest {
    /// `==` or `=`: the right side is a pattern.
    Matches,
    /// `!=`.
    DoesNotMatch,
    /// `=~`: the right side is a regular expression.
    Regex,
    /// `<`: by code point.
    Before,
    /// `>`.
    After,
    /// `-eq`; both sides of this and the next five are arithmetic.
    Equal,
    /// `-ne`.
    NotEqual,
    /// `-lt`.
    Less,
    /// `-le`.
    LessOrEqual,
    /// `-gt`.
    Greater,
    /// `-ge`.
    GreaterOrEqual,
    /// `-nt`: a file is newer.
    Newer,
    /// `-ot`: a file is older.
    Older,
    /// `-ef`: the same file.
    SameFile,
}

/// A redirection.
#[derive(Clone, PartialEq, Debug)]
pub struct Redirect {
    /// The descriptor before the operator, if one stands there.
    pub fd: Option<u32>,
    /// The operator.
    pub operator: RedirectOperator,
    /// Where to or from.
    pub target: RedirectTarget,
    /// All of it; of a here-document only the operator and the delimiter.
    pub span: Span,
}

/// The operators of redirections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RedirectOperator {
    /// `<`.
    Read,
    /// `>`.
    Write,
    /// `>>`.
    Append,
    /// `>|`.
    Clobber,
    /// `<>`.
    ReadWrite,
    /// `<&`.
    DuplicateInput,
    /// `>&` with a descriptor or `-`.
    DuplicateOutput,
    /// `&>`, or `>&` with a file: output and standard error.
    WriteBoth,
    /// `&>>`.
    AppendBoth,
    /// `<<`, `<<-`.
    HereDocument,
    /// `<<<`.
    HereString,
}

/// What a redirection names.
#[derive(Clone, PartialEq, Debug)]
pub enum RedirectTarget {
    /// One word, the name of a file.
    File(Word),
    /// Another descriptor.
    Descriptor(u32),
    /// `-`: close.
    Close,
    /// Text from the following lines.
    HereDocument(HereDocument),
    /// One word whose text and a newline are the input.
    HereString(Word),
}

/// A here-document. Its body stands after the line with the operator, so the parser fills it in later; once
/// [`parse`](crate::parse()) has returned, it is there.
#[derive(Clone, PartialEq, Debug)]
pub struct HereDocument {
    /// The delimiter, without quotes.
    pub delimiter: String,
    /// Whether the delimiter was quoted: the body is literal.
    pub quoted: bool,
    /// Whether tabs at the start of lines were removed (`<<-`).
    pub strip_tabs: bool,
    pub(crate) body: Arc<OnceLock<HereDocumentBody>>,
}

/// The lines of a here-document.
#[derive(Clone, PartialEq, Debug)]
pub struct HereDocumentBody {
    /// Parts as between double quotes; the text ends with a newline unless it is empty.
    pub parts: Vec<WordPart>,
    /// The body without the line of the delimiter.
    pub span: Span,
}

impl HereDocument {
    /// The lines between the operator's line and the delimiter.
    #[must_use]
    pub fn body(&self) -> &HereDocumentBody {
        self.body.get().expect("the parser gives every here-document its body or fails")
    }
}

impl Command {
    /// Where the command stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Simple(command) => command.span,
            Self::Compound(command) => command.span,
            Self::Function(command) => command.span,
        }
    }
}
