//! What a machine does with a result.

use crate::builtins::Native;
use crate::environment::{Binding, Environment};
use crate::error::Stop;
use crate::ir::{Ir, Pattern};
use crate::kont::{After, Fork, Item, Kont, Next, Path, Values};
use crate::machine::{Machine, Step};
use crate::paths;
use crate::value::{Object, Value};
use std::cell::Cell;
use std::rc::Rc;

type Stepped<'p> = Result<Step<'p>, Stop>;

/// Patterns that are still to be bound, each with its value.
type Work<'p> = Vec<(&'p Pattern, Value)>;

impl<'p> Machine<'p, '_> {
    pub(crate) fn result(&mut self, item: Item, kont: &Kont<'p>) -> Stepped<'p> {
        Ok(match kont {
            Kont::Pipe(next, environment, kont) => Step::Eval(next, environment.clone(), item, kont.clone()),
            Kont::Index(key, kont) => return index(&item, key, kont),
            Kont::Key(target, environment, whole, kont) => {
                let next = Kont::Index(item.value, kont.clone());
                Step::Eval(target, environment.clone(), whole.clone(), Next::new(next))
            }
            Kont::SliceFrom { target, to, environment, item: whole, kont } => {
                let next = Kont::SliceTo {
                    target,
                    from: item.value,
                    environment: environment.clone(),
                    item: whole.clone(),
                    kont: kont.clone(),
                };
                Step::Eval(to, environment.clone(), whole.off(), Next::new(next))
            }
            Kont::SliceTo { target, from, environment, item: whole, kont } => {
                let bounds = [("start".into(), from.clone()), ("end".into(), item.value)];
                let next = Kont::Index(Value::from(Object::from_iter(bounds)), kont.clone());
                Step::Eval(target, environment.clone(), whole.clone(), Next::new(next))
            }
            Kont::Iterate(kont) => {
                if matches!(item.path, Path::Lost) {
                    let value = item.value.shown_in_path();
                    return Err(format!("Invalid path expression near attempt to iterate through {value}").into());
                }
                return self.each(item, 0, kont.clone());
            }
            Kont::Collect(values) => {
                values.borrow_mut().push(item.value);
                Step::Back
            }
            Kont::MemberKey { entries, object, environment, item: whole, kont } => {
                let key = match item.value {
                    Value::Text(key) => key,
                    key => return Err(format!("Cannot use {} as object key", key.described()).into()),
                };
                let next = Kont::MemberValue {
                    entries: &entries[1..],
                    object: object.clone(),
                    key,
                    environment: environment.clone(),
                    item: whole.clone(),
                    kont: kont.clone(),
                };
                Step::Eval(&entries[0].1, environment.clone(), whole.off(), Next::new(next))
            }
            Kont::MemberValue { entries, object, key, environment, item: whole, kont } => {
                let mut object = object.clone();
                if let Value::Object(members) = &mut object {
                    Rc::make_mut(members).insert(Rc::clone(key), item.value);
                }
                return self.object(entries, object, environment.clone(), whole.clone(), kont.clone());
            }
            Kont::Right(operator, left, environment, whole, kont) => {
                let next = Kont::Left(*operator, item.value, whole.path.clone(), kont.clone());
                Step::Eval(left, environment.clone(), whole.off(), Next::new(next))
            }
            Kont::Left(operator, right, path, kont) => {
                let value = Self::binary(*operator, item.value, right.clone())?;
                Step::Return(Item { value, path: path.lost() }, kont.clone())
            }
            Kont::Logic { is_and, right, environment, item: whole, kont } => {
                if item.value.is_true() != *is_and {
                    Step::Return(whole.new_value(Value::Bool(!is_and)), kont.clone())
                } else {
                    let next = Kont::Truth(whole.path.clone(), kont.clone());
                    Step::Eval(right, environment.clone(), whole.off(), Next::new(next))
                }
            }
            Kont::Truth(path, kont) => {
                Step::Return(Item { value: Value::Bool(item.value.is_true()), path: path.lost() }, kont.clone())
            }
            Kont::Alternative(found, kont) => {
                if item.value.is_true() {
                    found.set(true);
                    Step::Return(item, kont.clone())
                } else {
                    Step::Back
                }
            }
            Kont::Modify(update, environment, state) => {
                let keys = item.keys()?;
                let old = paths::get_path(&state.borrow().value, &keys)?;
                let before = self.forks.len();
                self.forks.push(Fork::NotModified(Rc::clone(state), Value::from(keys.clone())));
                let next = Kont::Set(keys, before, Rc::clone(state));
                Step::Eval(update, environment.clone(), Item { value: old, path: Path::Off }, Next::new(next))
            }
            Kont::Set(keys, before, state) => {
                // Only the first result counts.
                self.forks.truncate(*before);
                let value = std::mem::take(&mut state.borrow_mut().value);
                let value = paths::set_path(value, keys, item.value)?;
                state.borrow_mut().value = value;
                Step::Back
            }
            Kont::Fold { fold, extract, is_reduce, environment, item: whole, kont } => {
                self.start_fold(fold, *extract, *is_reduce, environment, (item, whole.clone()), kont)
            }
            Kont::Bind(after) => return self.bind(item.value, 0, Rc::clone(after)),
            Kont::PatternKey { name, pattern, value, work, members, variables, after } => {
                let (mut work, mut variables) = (work.clone(), variables.clone());
                let found = member(value, &item.value)?;
                if let Some(slot) = name {
                    variables[*slot] = found.clone();
                }
                if let Some(pattern) = pattern {
                    work.push((pattern, found));
                    return self.destructure_then(work, value.clone(), members, variables, Rc::clone(after));
                }
                return self.members(value.clone(), members, work, variables, Rc::clone(after));
            }
            Kont::Reduce(state) => {
                state.replace(item);
                Step::Back
            }
            Kont::Foreach(state, extract, environment, kont) => {
                state.replace(item.clone());
                match extract {
                    Some(extract) => Step::Eval(extract, environment.clone(), item, kont.clone()),
                    None => Step::Return(item, kont.clone()),
                }
            }
            Kont::If(then, otherwise, environment, whole, kont) => {
                let branch = if item.value.is_true() { then } else { otherwise };
                Step::Eval(branch, environment.clone(), whole.clone(), kont.clone())
            }
            Kont::Tried(kont) => {
                self.forks.push(Fork::TryEnd);
                Step::Return(item, kont.clone())
            }
            Kont::Arguments { native, arguments, left, values, environment, item: whole, kont } => {
                let values = Rc::new(Values { value: item.value, rest: values.clone() });
                return match left.checked_sub(1) {
                    None => self.call_native(native, &values, whole, kont),
                    Some(left) => {
                        let next = Kont::Arguments {
                            native,
                            arguments,
                            left,
                            values: Some(values),
                            environment: environment.clone(),
                            item: whole.clone(),
                            kont: kont.clone(),
                        };
                        Ok(Step::Eval(&arguments[left], environment.clone(), whole.off(), Next::new(next)))
                    }
                };
            }
            Kont::Format(name, path, kont) => {
                Step::Return(Item { value: Self::format(name, &item.value)?, path: path.lost() }, kont.clone())
            }
            Kont::PathOf(path, kont) => {
                Step::Return(Item { value: Value::from(item.keys()?), path: path.lost() }, kont.clone())
            }
            Kont::GetPath(whole, kont) => {
                let Value::Array(keys) = &item.value else { return Err("Path must be specified as an array".into()) };
                if let Some(first) = keys.first() {
                    whole.accessible(first)?;
                }
                let value = match paths::get_path(&whole.value, keys) {
                    // A path that leads nowhere is a path all the same.
                    Err(Stop::Error(_)) if !matches!(whole.path, Path::Off) => Value::Null,
                    value => value?,
                };
                let path = keys.iter().fold(whole.path.clone(), |path, key| path.then(key.clone()));
                Step::Return(Item { value, path }, kont.clone())
            }
            Kont::LimitTo(inner, environment, whole, kont) => {
                let Some(most) = item.value.number() else {
                    return Err(format!("Invalid limit: {}", item.value.described()).into());
                };
                if most <= 0.0 {
                    return Ok(if most == 0.0 {
                        Step::Back
                    } else {
                        Step::Eval(inner, environment.clone(), whole.clone(), kont.clone())
                    });
                }
                let label = self.next_label();
                self.forks.push(Fork::Label(label));
                let next = Kont::Limit { seen: Cell::new(0.0), most, label, kont: kont.clone() };
                Step::Eval(inner, environment.clone(), whole.clone(), Next::new(next))
            }
            Kont::Limit { seen, most, label, kont } => {
                seen.set(seen.get() + 1.0);
                if seen.get() >= *most {
                    self.break_to(*label);
                }
                Step::Return(item, kont.clone())
            }
            Kont::RangeFrom(to, environment, whole, kont) => {
                let Some(from) = item.value.number() else { return Err("Range bounds must be numeric".into()) };
                let next = Kont::RangeTo(from, whole.path.clone(), kont.clone());
                Step::Eval(to, environment.clone(), whole.off(), Next::new(next))
            }
            Kont::RangeTo(from, path, kont) => {
                let Some(to) = item.value.number() else { return Err("Range bounds must be numeric".into()) };
                self.range(*from, to, path.clone(), kont.clone())
            }
        })
    }

    fn call_native(
        &mut self,
        native: &'static Native,
        values: &Rc<Values>,
        whole: &Item,
        kont: &Next<'p>,
    ) -> Stepped<'p> {
        let mut arguments = Vec::new();
        let mut here = Some(values);
        while let Some(next) = here {
            arguments.push(next.value.clone());
            here = next.rest.as_ref();
        }
        let value = self.run_native(native, &whole.value, &arguments)?;
        Ok(Step::Return(whole.new_value(value), kont.clone()))
    }

    /// Takes values apart until every variable is bound, and goes on.
    pub(crate) fn destructure(
        &mut self,
        mut work: Work<'p>,
        mut variables: Vec<Value>,
        after: Rc<After<'p>>,
    ) -> Stepped<'p> {
        while let Some((pattern, value)) = work.pop() {
            match pattern {
                Pattern::Variable(slot) => variables[*slot] = value,
                Pattern::Array(patterns) => {
                    // The last is put on first, so that the first is bound first.
                    for (at, pattern) in patterns.iter().enumerate().rev() {
                        work.push((pattern, element(&value, at)?));
                    }
                }
                Pattern::Object(members) => return self.members(value, members, work, variables, after),
            }
        }
        Ok(self.bound(variables, &after))
    }

    /// Binds the pattern of one member and then the other members.
    fn destructure_then(
        &mut self,
        mut work: Work<'p>,
        value: Value,
        members: &'p [(Ir, Option<usize>, Option<Pattern>)],
        variables: Vec<Value>,
        after: Rc<After<'p>>,
    ) -> Stepped<'p> {
        let Some((pattern, found)) = work.pop() else { return self.members(value, members, work, variables, after) };
        match pattern {
            Pattern::Variable(slot) => {
                let mut variables = variables;
                variables[*slot] = found;
                self.members(value, members, work, variables, after)
            }
            // The order in which the rest is bound changes nothing but for keys that use its variables.
            pattern if members.is_empty() => {
                work.push((pattern, found));
                self.destructure(work, variables, after)
            }
            pattern => {
                work.insert(0, (pattern, found));
                self.members(value, members, work, variables, after)
            }
        }
    }

    fn members(
        &mut self,
        value: Value,
        members: &'p [(Ir, Option<usize>, Option<Pattern>)],
        work: Work<'p>,
        variables: Vec<Value>,
        after: Rc<After<'p>>,
    ) -> Stepped<'p> {
        let Some(((key, name, pattern), rest)) = members.split_first() else {
            return self.destructure(work, variables, after);
        };
        let environment = after.environment().with(Binding::Variables(variables.clone().into()));
        let next = Kont::PatternKey {
            name: *name,
            pattern: pattern.as_ref(),
            value: value.clone(),
            work,
            members: rest,
            variables,
            after,
        };
        Ok(Step::Eval(key, environment, Item { value, path: Path::Off }, Next::new(next)))
    }

    fn bound(&mut self, variables: Vec<Value>, after: &After<'p>) -> Step<'p> {
        let inside = |environment: &Environment<'p>| environment.with(Binding::Variables(variables.into()));
        match after {
            After::Body { body, environment, item, kont, .. } => {
                Step::Eval(body, inside(environment), item.clone(), kont.clone())
            }
            After::Fold { fold, extract, is_reduce, state, environment, path, kont } => {
                let environment = inside(environment);
                // The state is taken, so that it can be changed in place; what gives no result leaves null.
                let item = state.replace(Item { value: Value::Null, path: path.lost() });
                let next = if *is_reduce {
                    Kont::Reduce(Rc::clone(state))
                } else {
                    Kont::Foreach(Rc::clone(state), *extract, environment.clone(), kont.clone())
                };
                Step::Eval(&fold.update, environment, item, Next::new(next))
            }
        }
    }
}

fn index<'p>(item: &Item, key: &Value, kont: &Next<'p>) -> Stepped<'p> {
    item.accessible(key)?;
    let value = paths::get(&item.value, key)?;
    Ok(Step::Return(Item { value, path: item.path.then(key.clone()) }, kont.clone()))
}

/// The element that a pattern takes from an array.
fn element(value: &Value, at: usize) -> Result<Value, Stop> {
    paths::get(value, &Value::from(at))
}

/// The member that a pattern takes from an object.
fn member(value: &Value, key: &Value) -> Result<Value, Stop> {
    match key {
        Value::Text(_) => paths::get(value, key),
        key => Err(format!("Cannot index {} with {}", value.kind(), key.kind()).into()),
    }
}
