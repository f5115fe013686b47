//! Runs programs: an expression, its environment and what is to be done with its results ([`Kont`]) at a time, and a stack of
//! places to go back to for more results ([`Fork`]). Nothing recurses, so that no program can exhaust the stack.

use crate::arithmetic;
use crate::compile::Program;
use crate::environment::{Binding, Environment};
use crate::error::{Stop, Valued};
use crate::formats;
use crate::host::Host;
use crate::ir::{Fold, Ir};
use crate::kont::{After, Fork, Item, Kont, Modified, Next, Path};
use crate::paths;
use crate::value::{Object, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a machine does next.
pub(crate) enum Step<'p> {
    Eval(&'p Ir, Environment<'p>, Item, Next<'p>),
    Return(Item, Next<'p>),
    Back,
    Raise(Value),
}

/// Runs one program on one input.
pub(crate) struct Machine<'p, 'h> {
    program: &'p Program,
    host: &'h mut Host,
    pub(crate) forks: Vec<Fork<'p>>,
    labels: usize,
    start: Option<Step<'p>>,
}

impl<'p, 'h> Machine<'p, 'h> {
    pub(crate) fn new(program: &'p Program, host: &'h mut Host, input: Value) -> Self {
        let item = Item { value: input, path: Path::Off };
        let start = Step::Eval(&program.main, Environment::default(), item, Next::default());
        Self { program, host, forks: Vec::new(), labels: 0, start: Some(start) }
    }

    pub(crate) fn host(&self) -> &Host {
        self.host
    }

    /// The next result.
    pub(crate) fn next(&mut self) -> Option<Valued> {
        let mut step = self.start.take().unwrap_or(Step::Back);
        loop {
            let next = match step {
                Step::Eval(ir, environment, item, kont) => self.eval(ir, environment, item, kont),
                Step::Return(item, kont) => match kont.get() {
                    None => return Some(Ok(item.value)),
                    Some(kont) => self.result(item, kont),
                },
                Step::Back => match self.forks.pop() {
                    None => return None,
                    Some(fork) => self.back(fork),
                },
                Step::Raise(error) => match self.unwind(error) {
                    Ok(step) => Ok(step),
                    Err(error) => return Some(Err(Stop::Error(error))),
                },
            };
            step = match next {
                Ok(step) => step,
                Err(Stop::Error(error)) => Step::Raise(error),
                Err(stop) => return Some(Err(stop)),
            };
        }
    }

    /// Where an error is caught, if it is.
    fn unwind(&mut self, error: Value) -> Result<Step<'p>, Value> {
        // Errors of what follows a `try` pass through it.
        let mut through = 0_usize;
        while let Some(fork) = self.forks.pop() {
            match fork {
                Fork::TryEnd => through += 1,
                Fork::Try { .. } if through > 0 => through -= 1,
                Fork::Try { catch: None, .. } => return Ok(Step::Back),
                Fork::Try { catch: Some(catch), environment, path, kont } => {
                    return Ok(Step::Eval(catch, environment, Item { value: error, path: path.lost() }, kont));
                }
                Fork::Pattern { value, number, after } => {
                    return self.bind(value, number, after).map_err(|stop| match stop {
                        Stop::Error(error) => error,
                        Stop::Halt(_) | Stop::Unsupported(_) => Value::Null,
                    });
                }
                _ => {}
            }
        }
        Err(error)
    }

    fn eval(&mut self, ir: &'p Ir, environment: Environment<'p>, item: Item, kont: Next<'p>) -> Result<Step<'p>, Stop> {
        Ok(match ir {
            Ir::Identity => Step::Return(item, kont),
            Ir::Literal(value) => Step::Return(item.new_value(value.clone()), kont),
            Ir::Variable(depth, slot) => Step::Return(item.new_value(environment.variable(*depth, *slot)), kont),
            Ir::Empty => Step::Back,
            Ir::Pipe(left, right) => {
                let next = Kont::Pipe(right, environment.clone(), kont);
                Step::Eval(left, environment, item, Next::new(next))
            }
            Ir::Comma(left, right) => {
                self.forks.push(Fork::Eval(right, environment.clone(), item.clone(), kont.clone()));
                Step::Eval(left, environment, item, kont)
            }
            Ir::Index(target, key) => match &**key {
                Ir::Literal(key) => Step::Eval(target, environment, item, Next::new(Kont::Index(key.clone(), kont))),
                key => {
                    let next = Kont::Key(target, environment.clone(), item.clone(), kont);
                    Step::Eval(key, environment, item.off(), Next::new(next))
                }
            },
            Ir::Slice(target, from, to) => {
                let next = Kont::SliceFrom { target, to, environment: environment.clone(), item: item.clone(), kont };
                Step::Eval(from, environment, item.off(), Next::new(next))
            }
            Ir::Iterate(target) => Step::Eval(target, environment, item, Next::new(Kont::Iterate(kont))),
            Ir::Collect(body) => {
                let values = Rc::new(RefCell::new(Vec::new()));
                self.forks.push(Fork::Collected(Rc::clone(&values), item.path.clone(), kont));
                Step::Eval(body, environment, item.off(), Next::new(Kont::Collect(values)))
            }
            Ir::Object(entries) => {
                let object = Value::from(Object::default());
                return self.object(entries, object, environment, item, kont);
            }
            Ir::Binary(operator, left, right) => {
                let next = Kont::Right(*operator, left, environment.clone(), item.clone(), kont);
                Step::Eval(right, environment, item.off(), Next::new(next))
            }
            Ir::And(left, right) => {
                let next =
                    Kont::Logic { is_and: true, right, environment: environment.clone(), item: item.clone(), kont };
                Step::Eval(left, environment, item.off(), Next::new(next))
            }
            Ir::Or(left, right) => {
                let next =
                    Kont::Logic { is_and: false, right, environment: environment.clone(), item: item.clone(), kont };
                Step::Eval(left, environment, item.off(), Next::new(next))
            }
            Ir::Alternative(left, right) => {
                let found = Rc::new(Cell::new(false));
                self.forks.push(Fork::Alternative {
                    found: Rc::clone(&found),
                    right,
                    environment: environment.clone(),
                    item: item.clone(),
                    kont: kont.clone(),
                });
                Step::Eval(left, environment, item, Next::new(Kont::Alternative(found, kont)))
            }
            Ir::Modify(places, update) => {
                let state = Rc::new(RefCell::new(Modified { value: item.value.clone(), deleted: Vec::new() }));
                self.forks.push(Fork::Modified(Rc::clone(&state), item.path.clone(), kont));
                let next = Kont::Modify(update, environment.clone(), state);
                Step::Eval(places, environment, Item { value: item.value, path: Path::root() }, Next::new(next))
            }
            Ir::Reduce(fold) => {
                let next = Kont::Fold {
                    fold,
                    extract: None,
                    is_reduce: true,
                    environment: environment.clone(),
                    item: item.clone(),
                    kont,
                };
                Step::Eval(&fold.init, environment, item, Next::new(next))
            }
            Ir::Foreach(fold, extract) => {
                let extract = extract.as_deref();
                let next = Kont::Fold {
                    fold,
                    extract,
                    is_reduce: false,
                    environment: environment.clone(),
                    item: item.clone(),
                    kont,
                };
                Step::Eval(&fold.init, environment, item, Next::new(next))
            }
            Ir::If(condition, then, otherwise) => {
                let next = Kont::If(then, otherwise, environment.clone(), item.clone(), kont);
                Step::Eval(condition, environment, item.off(), Next::new(next))
            }
            Ir::Try(body, catch) => {
                self.forks.push(Fork::Try {
                    catch: catch.as_deref(),
                    environment: environment.clone(),
                    path: item.path.clone(),
                    kont: kont.clone(),
                });
                Step::Eval(body, environment, item, Next::new(Kont::Tried(kont)))
            }
            Ir::Label(body) => {
                self.labels += 1;
                self.forks.push(Fork::Label(self.labels));
                let environment = environment.with(Binding::Label(self.labels));
                Step::Eval(body, environment, item, kont)
            }
            Ir::Break(depth) => {
                self.break_to(environment.label(*depth));
                Step::Back
            }
            Ir::Bind(source, patterns, body) => {
                let after = After::Body { patterns, body, environment: environment.clone(), item: item.clone(), kont };
                Step::Eval(source, environment, item.off(), Next::new(Kont::Bind(Rc::new(after))))
            }
            Ir::Define(function, rest) => {
                let environment = environment.with(Binding::Function(function));
                Step::Eval(rest, environment, item, kont)
            }
            Ir::Call(depth, arguments) => {
                let (function, home) = environment.function(*depth);
                let inner = arguments.iter().fold(home, |inner, argument| inner.with(environment.argument(argument)));
                Step::Eval(&function.body, inner, item, kont)
            }
            Ir::CallGlobal(number, arguments) => {
                let function = &self.program.globals[*number];
                let inner = Environment::default();
                let inner = arguments.iter().fold(inner, |inner, argument| inner.with(environment.argument(argument)));
                Step::Eval(&function.body, inner, item, kont)
            }
            Ir::CallArgument(depth) => {
                let (body, home) = environment.closure(*depth);
                Step::Eval(body, home, item, kont)
            }
            Ir::Native(native, arguments) => match arguments.split_last() {
                None => {
                    let value = (native.run)(self.host, &item.value, &[])?;
                    Step::Return(item.new_value(value), kont)
                }
                Some((last, _)) => {
                    // The last argument is evaluated first, as jq does.
                    let next = Kont::Arguments {
                        native,
                        arguments,
                        left: arguments.len() - 1,
                        values: None,
                        environment: environment.clone(),
                        item: item.clone(),
                        kont,
                    };
                    Step::Eval(last, environment, item.off(), Next::new(next))
                }
            },
            Ir::Format(name, inner) => {
                let next = Kont::Format(name, item.path.clone(), kont);
                Step::Eval(inner, environment, item.off(), Next::new(next))
            }
            Ir::Path(inner) => {
                let next = Kont::PathOf(item.path.clone(), kont);
                Step::Eval(inner, environment, Item { value: item.value, path: Path::root() }, Next::new(next))
            }
            Ir::GetPath(path) => {
                let next = Kont::GetPath(item.clone(), kont);
                Step::Eval(path, environment, item.off(), Next::new(next))
            }
            Ir::Limit(count, inner) => {
                let next = Kont::LimitTo(inner, environment.clone(), item.clone(), kont);
                Step::Eval(count, environment, item.off(), Next::new(next))
            }
            Ir::Range(from, to) => {
                let next = Kont::RangeFrom(to, environment.clone(), item.clone(), kont);
                Step::Eval(from, environment, item.off(), Next::new(next))
            }
            Ir::Inputs => return self.inputs(item.path, kont),
        })
    }

    /// Goes back to before a label, so that nothing more comes from within.
    pub(crate) fn break_to(&mut self, label: usize) {
        while let Some(fork) = self.forks.pop() {
            if matches!(fork, Fork::Label(known) if known == label) {
                return;
            }
        }
    }

    fn inputs(&mut self, path: Path, kont: Next<'p>) -> Result<Step<'p>, Stop> {
        Ok(match self.host.next_input()? {
            None => Step::Back,
            Some(value) => {
                self.forks.push(Fork::Inputs(path.clone(), kont.clone()));
                Step::Return(Item { value, path: path.lost() }, kont)
            }
        })
    }

    pub(crate) fn object(
        &mut self,
        entries: &'p [(Ir, Ir)],
        object: Value,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    ) -> Result<Step<'p>, Stop> {
        let Some(((key, _), _)) = entries.split_first() else { return Ok(Step::Return(item.new_value(object), kont)) };
        let next = Kont::MemberKey { entries, object, environment: environment.clone(), item: item.clone(), kont };
        Ok(Step::Eval(key, environment, item.off(), Next::new(next)))
    }

    /// Takes the n-th pattern of several.
    pub(crate) fn bind(&mut self, value: Value, number: usize, after: Rc<After<'p>>) -> Result<Step<'p>, Stop> {
        let patterns = after.patterns();
        if number + 1 < patterns.patterns.len() {
            self.forks.push(Fork::Pattern { value: value.clone(), number: number + 1, after: Rc::clone(&after) });
        }
        let variables = vec![Value::Null; patterns.variables];
        let work = vec![(&patterns.patterns[number], value)];
        self.destructure(work, variables, after)
    }

    /// Starts a fold with a value of its beginning.
    pub(crate) fn start_fold(
        &mut self,
        fold: &'p Fold,
        extract: Option<&'p Ir>,
        is_reduce: bool,
        environment: &Environment<'p>,
        (begin, item): (Item, Item),
        kont: &Next<'p>,
    ) -> Step<'p> {
        let path = item.path.clone();
        let state = Rc::new(RefCell::new(begin));
        if is_reduce {
            self.forks.push(Fork::Reduced(Rc::clone(&state), kont.clone()));
        }
        let after =
            After::Fold { fold, extract, is_reduce, state, environment: environment.clone(), path, kont: kont.clone() };
        Step::Eval(&fold.source, environment.clone(), item.off(), Next::new(Kont::Bind(Rc::new(after))))
    }

    fn back(&mut self, fork: Fork<'p>) -> Result<Step<'p>, Stop> {
        Ok(match fork {
            Fork::Eval(ir, environment, item, kont) => Step::Eval(ir, environment, item, kont),
            Fork::Each { item, at, kont } => return self.each(item, at, kont),
            Fork::Range { at, to, path, kont } => self.range(at, to, path, kont),
            Fork::Collected(values, path, kont) => {
                let values = std::mem::take(&mut *values.borrow_mut());
                Step::Return(Item { value: Value::from(values), path: path.lost() }, kont)
            }
            Fork::Reduced(state, kont) => {
                let item = state.replace(Item { value: Value::Null, path: Path::Off });
                Step::Return(item, kont)
            }
            Fork::Alternative { found, right, environment, item, kont } => {
                if found.get() {
                    Step::Back
                } else {
                    Step::Eval(right, environment, item, kont)
                }
            }
            Fork::Modified(state, path, kont) => {
                let Modified { value, deleted } = state.replace(Modified::default());
                let value = if deleted.is_empty() { value } else { paths::delete_paths(value, &deleted)? };
                Step::Return(Item { value, path: path.lost() }, kont)
            }
            Fork::NotModified(state, path) => {
                state.borrow_mut().deleted.push(path);
                Step::Back
            }
            Fork::Inputs(path, kont) => return self.inputs(path, kont),
            Fork::Try { .. } | Fork::TryEnd | Fork::Label(_) | Fork::Pattern { .. } => Step::Back,
        })
    }

    /// The elements of an array or an object from a place on.
    pub(crate) fn each(&mut self, item: Item, at: usize, kont: Next<'p>) -> Result<Step<'p>, Stop> {
        let (key, value, count) = match &item.value {
            Value::Array(values) => match values.get(at) {
                Some(value) => (Value::from(at), value.clone(), values.len()),
                None => return Ok(Step::Back),
            },
            Value::Object(object) => match object.entries().get(at) {
                Some((key, value)) => (Value::Text(Rc::clone(key)), value.clone(), object.len()),
                None => return Ok(Step::Back),
            },
            value => {
                let what = match value {
                    Value::Null => "null (null)".to_owned(),
                    value => value.described(),
                };
                return Err(format!("Cannot iterate over {what}").into());
            }
        };
        let path = item.path.then(key);
        if at + 1 < count {
            self.forks.push(Fork::Each { item, at: at + 1, kont: kont.clone() });
        }
        Ok(Step::Return(Item { value, path }, kont))
    }

    pub(crate) fn range(&mut self, at: f64, to: f64, path: Path, kont: Next<'p>) -> Step<'p> {
        if at >= to || at.is_nan() || to.is_nan() {
            return Step::Back;
        }
        self.forks.push(Fork::Range { at: at + 1.0, to, path: path.clone(), kont: kont.clone() });
        Step::Return(Item { value: Value::from(at), path: path.lost() }, kont)
    }

    pub(crate) fn run_native(
        &mut self,
        native: &'static crate::builtins::Native,
        input: &Value,
        arguments: &[Value],
    ) -> Valued {
        (native.run)(self.host, input, arguments)
    }

    pub(crate) fn next_label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    pub(crate) fn format(name: &str, value: &Value) -> Valued {
        formats::format(name, value).map(Value::from).map_err(Stop::from)
    }

    pub(crate) fn binary(operator: crate::ast::Operator, left: Value, right: Value) -> Valued {
        arithmetic::apply(operator, left, right)
    }
}
