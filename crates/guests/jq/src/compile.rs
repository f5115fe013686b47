//! Resolves the names of a program.

use crate::ast::{self, Definition, Operator, Term, TextPart};
use crate::builtins;
use crate::ir::{Fold, Function, Ir, Pattern, Patterns};
use crate::lexer::Wrong;
use crate::parser;
use crate::value::{Object, Value};
use std::collections::HashMap;
use std::rc::Rc;

/// A program that can be run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) main: Ir,
    /// The functions of the prelude.
    pub(crate) globals: Vec<Function>,
}

/// What an entry of the environment is at a place of the program.
enum Entry {
    Variables(Vec<Rc<str>>),
    Argument(Rc<str>),
    Function(Rc<str>, usize),
    Label(Rc<str>),
}

/// Names that jq knows and this one does not.
const UNSUPPORTED: &[&str] = &[
    "erf",
    "erfc",
    "gamma",
    "get_jq_origin",
    "get_prog_origin",
    "get_search_list",
    "j0",
    "j1",
    "jn",
    "lgamma",
    "lgamma_r",
    "modulemeta",
    "nextafter",
    "nexttoward",
    "tgamma",
    "y0",
    "y1",
    "yn",
];

struct Compiler<'c> {
    scope: Vec<Entry>,
    globals: Vec<(Rc<str>, usize)>,
    variables: &'c HashMap<String, Value>,
    text: &'c str,
    /// All that is wrong, as jq tells all of it.
    wrong: Vec<Wrong>,
}

/// Compiles a program with the values of the variables that the command line sets.
///
/// # Errors
/// Everything that is wrong in it, in the order of the program.
pub(crate) fn compile(text: &str, variables: &HashMap<String, Value>) -> Result<Program, Vec<Wrong>> {
    let mut functions = Vec::new();
    let none = HashMap::new();
    let mut compiler =
        Compiler { scope: Vec::new(), globals: Vec::new(), variables: &none, text: "", wrong: Vec::new() };
    for definition in parser::definitions(builtins::PRELUDE).map_err(|wrong| vec![wrong])? {
        compiler.globals.push((Rc::clone(&definition.name), definition.parameters.len()));
        functions.push(compiler.function(&definition));
    }
    let term = parser::program(text).map_err(|wrong| vec![wrong])?;
    let mut compiler = Compiler { variables, text, ..compiler };
    let main = compiler.term(&term);
    if compiler.wrong.is_empty() { Ok(Program { main, globals: functions }) } else { Err(compiler.wrong) }
}

/// The name of a variable that no program can name.
fn hidden(name: &str) -> Rc<str> {
    format!(" {name}").into()
}

fn boxed(term: &Term) -> Box<Term> {
    Box::new(term.clone())
}

fn call(name: &str, arguments: Vec<Term>) -> Term {
    Term::Call(name.into(), arguments, 0)
}

impl Compiler<'_> {
    fn within<T>(&mut self, entry: Entry, compile: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push(entry);
        let compiled = compile(self);
        self.scope.pop();
        compiled
    }

    fn boxed(&mut self, term: &Term) -> Box<Ir> {
        Box::new(self.term(term))
    }

    fn function(&mut self, definition: &Definition) -> Function {
        let before = self.scope.len();
        let name = |parameter: &Rc<str>| -> Rc<str> { parameter.strip_prefix('$').unwrap_or(parameter).into() };
        self.scope.extend(definition.parameters.iter().map(|parameter| Entry::Argument(name(parameter))));
        // An argument that is a value is bound before the body runs.
        let values: Vec<&Rc<str>> =
            definition.parameters.iter().filter(|parameter| parameter.starts_with('$')).collect();
        let body = values.iter().rev().fold(definition.body.clone(), |body, parameter| {
            let source = Box::new(Term::Call(name(parameter), Vec::new(), 0));
            Term::As(source, vec![ast::Pattern::Variable(name(parameter))], Box::new(body))
        });
        let body = self.term(&body);
        self.scope.truncate(before);
        Function { body }
    }

    fn term(&mut self, term: &Term) -> Ir {
        match term {
            Term::Identity => Ir::Identity,
            Term::RecurseDefault => self.call("recurse", &[], 0),
            Term::Literal(value) => Ir::Literal(value.clone()),
            Term::Text(format, parts) => self.text(format.as_ref(), parts),
            Term::Format(name) => Ir::Format(Rc::clone(name), Box::new(Ir::Identity)),
            Term::Index(target, key) => Ir::Index(self.boxed(target), self.boxed(key)),
            Term::Slice(target, from, to) => {
                let bound = |compiler: &mut Self, term: &Option<Box<Term>>| match term {
                    Some(term) => compiler.boxed(term),
                    None => Box::new(Ir::Literal(Value::Null)),
                };
                Ir::Slice(self.boxed(target), bound(self, from), bound(self, to))
            }
            Term::Iterate(target) => Ir::Iterate(self.boxed(target)),
            Term::Array(None) => Ir::Literal(Value::from(Vec::new())),
            Term::Array(Some(body)) => Ir::Collect(self.boxed(body)),
            Term::Object(entries) => {
                Ir::Object(entries.iter().map(|(key, value)| (self.term(key), self.term(value))).collect())
            }
            Term::Negate(inner) => Ir::Pipe(self.boxed(inner), Box::new(self.call("_negate", &[], 0))),
            Term::Pipe(left, right) => Ir::Pipe(self.boxed(left), self.boxed(right)),
            Term::Comma(left, right) => Ir::Comma(self.boxed(left), self.boxed(right)),
            Term::Binary(operator, left, right) => Ir::Binary(*operator, self.boxed(left), self.boxed(right)),
            Term::And(left, right) => Ir::And(self.boxed(left), self.boxed(right)),
            Term::Or(left, right) => Ir::Or(self.boxed(left), self.boxed(right)),
            Term::Alternative(left, right) => Ir::Alternative(self.boxed(left), self.boxed(right)),
            Term::Update(places, update) => Ir::Modify(self.boxed(places), self.boxed(update)),
            Term::Assign(places, value) => {
                let [value_name, path] = [hidden("value"), hidden("path")];
                let set = call("setpath", vec![variable(&path), variable(&value_name)]);
                let all = Term::Reduce(
                    Box::new(call("path", vec![(**places).clone()])),
                    vec![ast::Pattern::Variable(path)],
                    Box::new(Term::Identity),
                    Box::new(set),
                );
                self.term(&Term::As(value.clone(), vec![ast::Pattern::Variable(value_name)], Box::new(all)))
            }
            Term::UpdateWith(operator, places, value) => {
                let name = hidden("value");
                let update = Term::Binary(*operator, Box::new(Term::Identity), Box::new(variable(&name)));
                self.update_with(places, value, name, update)
            }
            Term::UpdateAlternative(places, value) => {
                let name = hidden("value");
                let update = Term::Alternative(Box::new(Term::Identity), Box::new(variable(&name)));
                self.update_with(places, value, name, update)
            }
            Term::Reduce(source, patterns, init, update) => {
                let fold = self.fold(source, patterns, init, update, None);
                Ir::Reduce(Box::new(fold.0))
            }
            Term::Foreach(source, patterns, init, update, extract) => {
                let (fold, extract) = self.fold(source, patterns, init, update, extract.as_deref());
                Ir::Foreach(Box::new(fold), extract)
            }
            Term::If(condition, then, otherwise) => {
                let otherwise = match otherwise {
                    Some(otherwise) => self.boxed(otherwise),
                    None => Box::new(Ir::Identity),
                };
                Ir::If(self.boxed(condition), self.boxed(then), otherwise)
            }
            Term::Try(body, catch) => {
                let catch = catch.as_ref().map(|catch| self.boxed(catch));
                Ir::Try(self.boxed(body), catch)
            }
            Term::Label(name, body) => {
                Ir::Label(self.within(Entry::Label(Rc::clone(name)), |compiler| compiler.boxed(body)))
            }
            Term::Break(name, at) => {
                let is = |entry: &Entry| matches!(entry, Entry::Label(known) if known == name);
                match self.scope.iter().rev().position(is) {
                    Some(depth) => Ir::Break(depth),
                    None => self.undefined(format!("$*label-{name} is not defined"), *at),
                }
            }
            Term::As(source, patterns, body) => {
                let source = self.boxed(source);
                let (patterns, names) = self.patterns(patterns);
                let body = self.within(Entry::Variables(names), |compiler| compiler.boxed(body));
                Ir::Bind(source, patterns, body)
            }
            Term::Define(definition, rest) => {
                let entry = Entry::Function(Rc::clone(&definition.name), definition.parameters.len());
                self.within(entry, |compiler| {
                    let function = Rc::new(compiler.function(definition));
                    Ir::Define(function, compiler.boxed(rest))
                })
            }
            Term::Call(name, arguments, at) => self.call(name, arguments, *at),
            Term::Variable(name, at) => self.variable(name, *at),
            Term::Location(at) => {
                let line =
                    1 + self.text.as_bytes()[..(*at).min(self.text.len())].iter().filter(|b| **b == b'\n').count();
                let place = [("file".into(), Value::from("<top-level>")), ("line".into(), Value::from(line))];
                Ir::Literal(Value::from(Object::from_iter(place)))
            }
        }
    }

    fn update_with(&mut self, places: &Term, value: &Term, name: Rc<str>, update: Term) -> Ir {
        let all = Term::Update(boxed(places), Box::new(update));
        self.term(&Term::As(boxed(value), vec![ast::Pattern::Variable(name)], Box::new(all)))
    }

    fn text(&mut self, format: Option<&Rc<str>>, parts: &[TextPart]) -> Ir {
        let format: Rc<str> = format.cloned().unwrap_or_else(|| "@text".into());
        let part = |compiler: &mut Self, part: &TextPart| match part {
            TextPart::Text(text) => Ir::Literal(Value::Text(Rc::clone(text))),
            TextPart::Program(term) => Ir::Format(Rc::clone(&format), compiler.boxed(term)),
        };
        let mut whole = None;
        for next in parts {
            let next = part(self, next);
            whole = Some(match whole {
                None => next,
                Some(before) => Ir::Binary(Operator::Add, Box::new(before), Box::new(next)),
            });
        }
        whole.unwrap_or(Ir::Literal(Value::from("")))
    }

    fn fold(
        &mut self,
        source: &Term,
        patterns: &[ast::Pattern],
        init: &Term,
        update: &Term,
        extract: Option<&Term>,
    ) -> (Fold, Option<Box<Ir>>) {
        let (source, init) = (self.term(source), self.term(init));
        let (patterns, names) = self.patterns(patterns);
        let (update, extract) = self.within(Entry::Variables(names), |compiler| {
            (compiler.term(update), extract.map(|extract| compiler.boxed(extract)))
        });
        (Fold { source, patterns, init, update }, extract)
    }

    fn patterns(&mut self, patterns: &[ast::Pattern]) -> (Patterns, Vec<Rc<str>>) {
        let mut names = Vec::new();
        patterns.iter().for_each(|pattern| names_of(pattern, &mut names));
        // Keys of a pattern may use the variables that are bound before them.
        let compiled = self.within(Entry::Variables(names.clone()), |compiler| {
            patterns.iter().map(|pattern| compiler.pattern(pattern, &names)).collect()
        });
        (Patterns { patterns: compiled, variables: names.len() }, names)
    }

    fn pattern(&mut self, pattern: &ast::Pattern, names: &[Rc<str>]) -> Pattern {
        let slot = |name: &Rc<str>| names.iter().position(|known| known == name).unwrap_or(0);
        match pattern {
            ast::Pattern::Variable(name) => Pattern::Variable(slot(name)),
            ast::Pattern::Array(patterns) => {
                Pattern::Array(patterns.iter().map(|pattern| self.pattern(pattern, names)).collect())
            }
            ast::Pattern::Object(entries) => {
                let entry = |(key, name, pattern): &ast::Member| {
                    let pattern = pattern.as_ref().map(|pattern| self.pattern(pattern, names));
                    (self.term(key), name.as_ref().map(slot), pattern)
                };
                Pattern::Object(entries.iter().map(entry).collect())
            }
        }
    }

    fn undefined(&mut self, message: String, at: usize) -> Ir {
        self.wrong.push(Wrong::new(message, at));
        Ir::Empty
    }

    fn variable(&mut self, name: &Rc<str>, at: usize) -> Ir {
        for (depth, entry) in self.scope.iter().rev().enumerate() {
            if let Entry::Variables(names) = entry
                && let Some(slot) = names.iter().position(|known| known == name)
            {
                return Ir::Variable(depth, slot);
            }
        }
        match self.variables.get(&**name) {
            Some(value) => Ir::Literal(value.clone()),
            None => self.undefined(format!("${name} is not defined"), at),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Term], at: usize) -> Ir {
        for (depth, entry) in self.scope.iter().rev().enumerate() {
            match entry {
                Entry::Argument(known) if **known == *name && arguments.is_empty() => return Ir::CallArgument(depth),
                Entry::Function(known, count) if **known == *name && *count == arguments.len() => {
                    return Ir::Call(depth, arguments.iter().map(|argument| self.term(argument)).collect());
                }
                _ => {}
            }
        }
        let is = |(known, count): &(Rc<str>, usize)| **known == *name && *count == arguments.len();
        if let Some(number) = self.globals.iter().rposition(is) {
            return Ir::CallGlobal(number, arguments.iter().map(|argument| self.term(argument)).collect());
        }
        match (name, arguments) {
            ("null", []) => return Ir::Literal(Value::Null),
            ("true", []) => return Ir::Literal(Value::Bool(true)),
            ("false", []) => return Ir::Literal(Value::Bool(false)),
            ("empty", []) => return Ir::Empty,
            ("inputs", []) => return Ir::Inputs,
            ("path", [inner]) => return Ir::Path(self.boxed(inner)),
            ("getpath", [path]) => return Ir::GetPath(self.boxed(path)),
            ("limit", [count, inner]) => return Ir::Limit(self.boxed(count), self.boxed(inner)),
            ("_range", [from, to]) => return Ir::Range(self.boxed(from), self.boxed(to)),
            ("env", []) => return Ir::Literal(self.variables.get("ENV").cloned().unwrap_or_default()),
            ("builtins", []) => return Ir::Literal(self.builtins()),
            _ => {}
        }
        if let Some(native) = builtins::find(name, arguments.len()) {
            return Ir::Native(native, arguments.iter().map(|argument| self.term(argument)).collect());
        }
        if UNSUPPORTED.contains(&name) {
            self.wrong.push(Wrong::unsupported(format!("the function {name}"), at));
            return Ir::Empty;
        }
        self.undefined(format!("{name}/{} is not defined", arguments.len()), at)
    }

    /// The names of all functions that a program can call.
    fn builtins(&self) -> Value {
        let own = self.globals.iter().map(|(name, count)| (name.to_string(), *count));
        let special =
            [("empty", 0), ("inputs", 0), ("path", 1), ("getpath", 1), ("limit", 2), ("env", 0), ("builtins", 0)];
        let special = special.map(|(name, count)| (name.to_owned(), count));
        let all = own.chain(special).chain(builtins::names());
        let shown = all.filter(|(name, _)| !name.starts_with('_')).map(|(name, count)| format!("{name}/{count}"));
        Value::from(shown.map(Value::from).collect::<Vec<_>>())
    }
}

fn variable(name: &Rc<str>) -> Term {
    Term::Variable(Rc::clone(name), 0)
}

fn names_of(pattern: &ast::Pattern, names: &mut Vec<Rc<str>>) {
    let mut add = |name: &Rc<str>| {
        if !names.contains(name) {
            names.push(Rc::clone(name));
        }
    };
    match pattern {
        ast::Pattern::Variable(name) => add(name),
        ast::Pattern::Array(patterns) => patterns.iter().for_each(|pattern| names_of(pattern, names)),
        ast::Pattern::Object(entries) => {
            for (_, name, pattern) in entries {
                if let Some(name) = name
                    && !names.contains(name)
                {
                    names.push(Rc::clone(name));
                }
                if let Some(pattern) = pattern {
                    names_of(pattern, names);
                }
            }
        }
    }
}
