//! A tree in one line, for tables of cases.
//!
//! Parts of a word are joined by `+`: `text`, `'quoted'`, `"+"` around double quotes, `$x`, `$[list]`, `$((expr))`,
//! `~`, `<0>` and `<0q>` for holes. An empty word is `-`.

use std::fmt::Write;

use skillgate_shell::arithmetic::ArithmeticKind;
use skillgate_shell::{
    Arithmetic, ArithmeticExpr, Command, CompoundCommand, CompoundKind, Conditional, ConditionalKind, Connector, List,
    Parameter, ParameterName, ParameterOperation, Pipeline, Redirect, RedirectTarget, Word, WordPart,
};

pub(crate) fn list(list: &List) -> String {
    let items = list.items.iter().map(|item| {
        let mut text = pipeline(&item.and_or.first);
        for (connector, next) in &item.and_or.rest {
            let sign = if *connector == Connector::And { "&&" } else { "||" };
            write!(text, " {sign} {}", pipeline(next)).expect("a string takes it");
        }
        text + if item.background.is_some() { " &" } else { "" }
    });
    items.collect::<Vec<_>>().join("; ")
}

fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = if pipeline.negated { "! ".to_owned() } else { String::new() };
    for (stage, both) in pipeline.stages.iter().zip(&pipeline.stderr_too) {
        text += &command(stage);
        text += if *both { " |& " } else { " | " };
    }
    text.truncate(text.len() - 3);
    text
}

fn command(command: &Command) -> String {
    match command {
        Command::Simple(simple) => {
            let assignments = simple.assignments.iter().map(|assignment| {
                let sign = if assignment.append { "+=" } else { "=" };
                format!("{}{sign}{}", assignment.name, word(&assignment.value))
            });
            let parts = assignments.chain(simple.words.iter().map(word)).chain(simple.redirects.iter().map(redirect));
            format!("({})", parts.collect::<Vec<_>>().join(" "))
        }
        Command::Compound(command) => compound(command),
        Command::Function(function) => format!("function {} {}", function.name, compound(&function.body)),
    }
}

fn compound(command: &CompoundCommand) -> String {
    let mut text = match &command.kind {
        CompoundKind::Group(body) => format!("{{{}}}", list(body)),
        CompoundKind::Subshell(body) => format!("sub({})", list(body)),
        CompoundKind::If { branches, otherwise } => {
            let mut text = String::new();
            for (condition, body) in branches {
                write!(text, "if[{}]then[{}]", list(condition), list(body)).expect("a string takes it");
            }
            if let Some(body) = otherwise {
                write!(text, "else[{}]", list(body)).expect("a string takes it");
            }
            text
        }
        CompoundKind::For { variable, words: list_of, body } => match list_of {
            Some(words) => format!("for {variable} in {} do[{}]", join(words), list(body)),
            None => format!("for {variable} do[{}]", list(body)),
        },
        CompoundKind::While { until, condition, body } => {
            format!("{}[{}]do[{}]", if *until { "until" } else { "while" }, list(condition), list(body))
        }
        CompoundKind::Case { subject, arms } => {
            let arms: String = arms
                .iter()
                .map(|arm| format!(" ({}){:?}[{}]", join(&arm.patterns), arm.terminator, list(&arm.body)))
                .collect();
            format!("case {}{arms}", word(subject))
        }
        CompoundKind::Conditional(test) => format!("[[{}]]", conditional(test)),
        CompoundKind::Arithmetic(expr) => format!("(({}))", arithmetic(expr)),
    };
    for item in &command.redirects {
        write!(text, " {}", redirect(item)).expect("a string takes it");
    }
    text
}

fn conditional(test: &Conditional) -> String {
    let joined = |tests: &[Conditional], sign: &str| tests.iter().map(conditional).collect::<Vec<_>>().join(sign);
    match &test.kind {
        ConditionalKind::Unary { test, operand } => format!("{test:?} {}", word(operand)),
        ConditionalKind::Binary { test, left, right } => format!("{} {test:?} {}", word(left), word(right)),
        ConditionalKind::Not(inner) => format!("!({})", conditional(inner)),
        ConditionalKind::All(tests) => format!("({})", joined(tests, " && ")),
        ConditionalKind::Any(tests) => format!("({})", joined(tests, " || ")),
    }
}

fn redirect(redirect: &Redirect) -> String {
    let fd = redirect.fd.map_or(String::new(), |fd| fd.to_string());
    let target = match &redirect.target {
        RedirectTarget::File(name) => word(name),
        RedirectTarget::HereString(text) => word(text),
        RedirectTarget::Descriptor(number) => number.to_string(),
        RedirectTarget::Close => "-".to_owned(),
        RedirectTarget::HereDocument(document) => parts(&document.body().parts),
    };
    format!("{fd}{:?}:{target}", redirect.operator)
}

fn join(words: &[Word]) -> String {
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

pub(crate) fn word(word: &Word) -> String {
    parts(&word.parts)
}

fn parts(parts: &[WordPart]) -> String {
    if parts.is_empty() {
        return "-".to_owned();
    }
    parts.iter().map(part).collect::<Vec<_>>().join("+")
}

fn part(part: &WordPart) -> String {
    match part {
        WordPart::Literal { text, .. } => text.escape_debug().to_string(),
        WordPart::Quoted { text, .. } => format!("'{}'", text.replace('\n', "\\n")),
        WordPart::DoubleQuoted { parts: inner, .. } if inner.is_empty() => "\"\"".to_owned(),
        WordPart::DoubleQuoted { parts: inner, .. } => format!("\"{}\"", parts(inner)),
        WordPart::Parameter(it) => parameter(it),
        WordPart::Substitution { list: inner, .. } => format!("$[{}]", list(inner)),
        WordPart::Arithmetic { expr, .. } => format!("$(({}))", arithmetic(expr)),
        WordPart::Tilde { user, .. } => format!("~{}~", user.as_deref().unwrap_or_default()),
        WordPart::Hole { index, quoted, .. } => format!("<{index}{}>", if *quoted { "q" } else { "" }),
    }
}

fn parameter(parameter: &Parameter) -> String {
    let name = match &parameter.name {
        ParameterName::Variable(name) => name.clone(),
        ParameterName::Positional(number) => number.to_string(),
        ParameterName::Special(special) => format!("{special:?}"),
    };
    let operation = match &parameter.operation {
        ParameterOperation::Value => return format!("${name}"),
        ParameterOperation::Length => " Length".to_owned(),
        ParameterOperation::Unset { rule, or_empty, word: operand } => {
            format!("{}{rule:?} {}", if *or_empty { ":" } else { " " }, word(operand))
        }
        ParameterOperation::Remove { side, longest, pattern } => {
            format!(" {side:?}{} {}", if *longest { "Longest" } else { "" }, word(pattern))
        }
        ParameterOperation::Replace { scope, pattern, replacement } => {
            format!(" {scope:?} {} {}", word(pattern), word(replacement))
        }
        ParameterOperation::Substring { offset, length } => {
            format!(
                " from {}{}",
                arithmetic(offset),
                length.as_ref().map_or(String::new(), |it| format!(" for {}", arithmetic(it)))
            )
        }
        ParameterOperation::Case { upper, all } => {
            format!(" {}{}", if *upper { "upper" } else { "lower" }, if *all { " all" } else { "" })
        }
    };
    format!("${{{name}{operation}}}")
}

pub(crate) fn arithmetic(expr: &ArithmeticExpr) -> String {
    node(&expr.root, expr)
}

fn node(it: &Arithmetic, expr: &ArithmeticExpr) -> String {
    match &it.kind {
        ArithmeticKind::Number(number) => number.to_string(),
        ArithmeticKind::Variable(name) => name.clone(),
        ArithmeticKind::Expansion(index) => part(&expr.expansions[*index]),
        ArithmeticKind::Unary(operator, inner) => format!("({operator:?} {})", node(inner, expr)),
        ArithmeticKind::Step { name, up, before } => {
            let sign = if *up { "++" } else { "--" };
            if *before { format!("{sign}{name}") } else { format!("{name}{sign}") }
        }
        ArithmeticKind::Chain { first, rest } => {
            let rest: String =
                rest.iter().map(|(operator, operand)| format!(" {operator:?} {}", node(operand, expr))).collect();
            format!("({}{rest})", node(first, expr))
        }
        ArithmeticKind::Choice(it) => {
            format!("({} ? {} : {})", node(&it.0, expr), node(&it.1, expr), node(&it.2, expr))
        }
        ArithmeticKind::Assign { name, operator, value } => {
            format!("({name} {}= {})", operator.map_or(String::new(), |it| format!("{it:?}")), node(value, expr))
        }
    }
}
