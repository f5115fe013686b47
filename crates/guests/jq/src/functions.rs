//! Functions of our own, and the choice of jaq's.

use crate::input::Place;
use crate::{formats, message, paths, writer};
use jaq_core::native::{Fun, bome, run, unary, v};
use jaq_core::{DataT, Error, Exn, Lut, ValR};
use jaq_json::Val;
use jaq_std::input::{HasInputs, Inputs};

/// What a run's functions can see.
pub(crate) struct Data<'a> {
    pub(crate) lut: &'a Lut<Kind>,
    pub(crate) inputs: Inputs<'a, Val>,
    pub(crate) place: &'a Place,
}

/// The kind of data and values of our programs.
pub(crate) struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = &'a Data<'a>;
}

impl<'a> jaq_core::data::HasLut<'a, Kind> for &'a Data<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for &'a Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

/// Definitions of our own, later than jaq's and so in their place.
const PRELUDE: &str = include_str!("prelude.jq");

/// Names that jaq defines and that functions of our own stand for.
const OURS: &[&str] = &[
    "tostring", "tojson", "fromjson", "tonumber", "@text", "@json", "@html", "@uri", "@sh", "@base64", "@base64d", "debug_empty",
    "stderr_empty", "delpaths", "setpath", "contains", "has", "implode",
];

/// All definitions.
pub(crate) fn definitions() -> impl Iterator<Item = jaq_core::load::parse::Def<&'static str>> {
    let ours = jaq_core::load::parse(PRELUDE, |parser| parser.defs()).unwrap_or_default();
    let theirs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    theirs.filter(|definition| !OURS.contains(&definition.name)).chain(ours)
}

/// All functions.
pub(crate) fn functions() -> impl Iterator<Item = Fun<Kind>> {
    let inputs = jaq_std::input::funs::<Kind>().into_vec().into_iter().map(run);
    let theirs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs()).chain(inputs);
    theirs.filter(|(name, ..)| !OURS.contains(name)).chain(ours())
}

fn string(text: String) -> Val {
    Val::utf8_str(text.into_bytes())
}

fn failing(result: Result<Val, String>) -> ValR<Val> {
    result.map_err(|text| Error::new(string(text)))
}

macro_rules! formats {
    ($($name:literal)*) => {
        vec![$(run::<Kind>(($name, v(0), |cv| bome(failing(formats::format($name, &cv.1).map(string)))))),*]
    };
}

fn ours() -> Vec<Fun<Kind>> {
    let mut all = formats!("@text" "@json" "@csv" "@tsv" "@html" "@uri" "@sh" "@base64" "@base64d" "@base32");
    all.extend([
        run::<Kind>(("tostring", v(0), |cv| bome(Ok(string(formats::text(&cv.1)))))),
        run::<Kind>(("tojson", v(0), |cv| bome(Ok(string(writer::compact(&cv.1)))))),
        run::<Kind>(("fromjson", v(0), |cv| bome(failing(from_json(&cv.1))))),
        run::<Kind>(("tonumber", v(0), |cv| bome(failing(to_number(cv.1))))),
        run::<Kind>(("implode", v(0), |cv| bome(failing(implode(&cv.1))))),
        run::<Kind>(("contains", v(1), |cv| unary(cv, |one, other| failing(contains(&one, &other).map(Val::Bool))))),
        run::<Kind>(("has", v(1), |cv| unary(cv, |value, key| failing(has(&value, &key).map(Val::Bool))))),
        run::<Kind>(("_described", v(0), |cv| bome(Ok(string(message::described(&cv.1)))))),
        run::<Kind>(("_type", v(0), |cv| bome(Ok(string(message::type_of(&cv.1).to_owned()))))),
        run::<Kind>(("_message", v(0), |cv| {
            bome(Ok(match &cv.1 {
                Val::TStr(text) => string(message::in_jqs_words(&String::from_utf8_lossy(text))),
                other => other.clone(),
            }))
        })),
        run::<Kind>(("setpath", v(2), |mut cv| {
            let new = cv.0.pop_var();
            let path = cv.0.pop_var();
            bome(failing(as_path(&path).and_then(|path| paths::set(cv.1, path, new))))
        })),
        run::<Kind>(("delpaths", v(1), |cv| {
            unary(cv, |value, all| match all {
                Val::Arr(all) => failing(paths::delete(value, all.to_vec())),
                _ => failing(Err("Paths must be specified as an array".to_owned())),
            })
        })),
        run::<Kind>(("debug_empty", v(0), |cv| {
            eprintln!("[\"DEBUG:\",{}]", writer::compact(&cv.1));
            Box::new(std::iter::empty())
        })),
        run::<Kind>(("stderr_empty", v(0), |cv| {
            eprint!("{}", writer::compact(&cv.1));
            Box::new(std::iter::empty())
        })),
        run::<Kind>(("_halt_error", v(1), |mut cv| {
            let status = cv.0.pop_var();
            match &cv.1 {
                Val::TStr(_) => eprint!("{}", formats::text(&cv.1)),
                other => eprintln!("{}", writer::compact(other)),
            }
            let status = match &status {
                Val::Num(status) => status.as_isize().and_then(|status| i32::try_from(status).ok()).unwrap_or(5),
                _ => 5,
            };
            Box::new(std::iter::once(Err(Exn::halt(status))))
        })),
        run::<Kind>(("input_filename", v(0), |cv| {
            bome(Ok(cv.0.data().place.file().map_or(Val::Null, string)))
        })),
        run::<Kind>(("input_line_number", v(0), |cv| bome(Ok(Val::from(cv.0.data().place.lines()))))),
    ]);
    all
}

fn as_path(path: &Val) -> Result<&[Val], String> {
    match path {
        Val::Arr(path) => Ok(path),
        _ => Err("Path must be specified as an array".to_owned()),
    }
}

fn from_json(value: &Val) -> Result<Val, String> {
    let Val::TStr(_) = value else { return Err(format!("{} cannot be parsed as JSON", message::described(value))) };
    let text = formats::text(value);
    let wrong = |why: &str| format!("{why} (while parsing '{text}')");
    let mut values = crate::reader::all(text.as_bytes()).map_err(|why| wrong(&why))?;
    match (values.pop(), values.is_empty()) {
        (Some(value), true) => Ok(value),
        (None, _) => Ok(Val::Null),
        (Some(_), false) => Err(wrong("Unexpected extra JSON values")),
    }
}

fn to_number(value: Val) -> Result<Val, String> {
    match &value {
        Val::Num(_) => Ok(value),
        Val::TStr(_) => match from_json(&value)? {
            number @ Val::Num(_) => Ok(number),
            _ => Err(format!("{} cannot be parsed as a number", message::described(&value))),
        },
        other => Err(format!("{} cannot be parsed as a number", message::described(other))),
    }
}

fn implode(value: &Val) -> Result<Val, String> {
    let Val::Arr(codes) = value else { return Err("implode input must be an array".to_owned()) };
    let read = |code: &Val| match code {
        Val::Num(code) => {
            let code = code.as_isize().and_then(|code| u32::try_from(code).ok());
            Some(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        _ => None,
    };
    let text: Option<String> = codes.iter().map(read).collect();
    text.map(string).ok_or_else(|| "Unicode codepoint must be numeric".to_owned())
}

fn contains(one: &Val, other: &Val) -> Result<bool, String> {
    match (one, other) {
        (Val::Obj(one), Val::Obj(other)) => {
            for (key, wanted) in other.iter() {
                let Some(value) = one.get(key) else { return Ok(false) };
                if !contains(value, wanted)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Arr(one), Val::Arr(other)) => Ok(other
            .iter()
            .all(|wanted| one.iter().any(|value| contains(value, wanted).unwrap_or(false)))),
        (Val::TStr(_), Val::TStr(_)) => Ok(formats::text(one).contains(&formats::text(other))),
        (one, other) if message::type_of(one) == message::type_of(other) => Ok(one == other),
        (one, other) => Err(format!(
            "{} and {} cannot have their containment checked",
            message::described(one),
            message::described(other)
        )),
    }
}

fn has(value: &Val, key: &Val) -> Result<bool, String> {
    match (value, key) {
        (Val::Obj(map), Val::TStr(_)) => Ok(map.contains_key(key)),
        (Val::Arr(values), Val::Num(at)) => {
            Ok(at.as_isize().and_then(|at| usize::try_from(at).ok()).is_some_and(|at| at < values.len()))
        }
        (value, key) => {
            Err(format!("Cannot check whether {} has a {} key", message::type_of(value), message::type_of(key)))
        }
    }
}
