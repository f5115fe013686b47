//! Functions of numbers.

use super::{Native, native};
use crate::error::{Stop, Valued};
use crate::host::Host;
use crate::value::Value;

macro_rules! unary {
    ($name:literal, $function:expr) => {
        native($name, 0, |_: &mut Host, input: &Value, _: &[Value]| -> Valued {
            let function: fn(f64) -> f64 = $function;
            Ok(Value::from(function(number(input)?)))
        })
    };
}

macro_rules! binary {
    ($name:literal, $function:expr) => {
        native($name, 2, |_: &mut Host, _: &Value, arguments: &[Value]| -> Valued {
            let function: fn(f64, f64) -> f64 = $function;
            Ok(Value::from(function(number(&arguments[0])?, number(&arguments[1])?)))
        })
    };
}

fn number(value: &Value) -> Result<f64, Stop> {
    value.number().ok_or_else(|| format!("{} number required", value.described()).into())
}

pub(super) const NATIVES: &[Native] = &[
    unary!("acos", f64::acos),
    unary!("acosh", f64::acosh),
    unary!("asin", f64::asin),
    unary!("asinh", f64::asinh),
    unary!("atan", f64::atan),
    unary!("atanh", f64::atanh),
    unary!("cbrt", f64::cbrt),
    unary!("ceil", f64::ceil),
    unary!("cos", f64::cos),
    unary!("cosh", f64::cosh),
    unary!("exp", f64::exp),
    unary!("exp10", |x| 10_f64.powf(x)),
    unary!("exp2", f64::exp2),
    unary!("expm1", f64::exp_m1),
    unary!("fabs", f64::abs),
    unary!("floor", f64::floor),
    unary!("log", f64::ln),
    unary!("log10", f64::log10),
    unary!("log1p", f64::ln_1p),
    unary!("log2", f64::log2),
    unary!("logb", |x| f64::from(split(x).1 - 1)),
    unary!("nearbyint", f64::round_ties_even),
    unary!("pow10", |x| 10_f64.powf(x)),
    unary!("rint", f64::round_ties_even),
    unary!("round", f64::round),
    unary!("significand", |x| if x == 0.0 { x } else { split(x).0 * 2.0 }),
    unary!("sin", f64::sin),
    unary!("sinh", f64::sinh),
    unary!("sqrt", f64::sqrt),
    unary!("tan", f64::tan),
    unary!("tanh", f64::tanh),
    unary!("trunc", f64::trunc),
    binary!("atan2", f64::atan2),
    binary!("copysign", f64::copysign),
    binary!("drem", remainder),
    binary!("fdim", |x, y| if x > y { x - y } else { 0.0 }),
    binary!("fmax", f64::max),
    binary!("fmin", f64::min),
    binary!("fmod", |x, y| x % y),
    binary!("hypot", f64::hypot),
    binary!("ldexp", scaled),
    binary!("pow", f64::powf),
    binary!("remainder", remainder),
    binary!("scalb", scaled),
    binary!("scalbln", scaled),
    native("fma", 3, |_, _, arguments| {
        let [x, y, z] = [number(&arguments[0])?, number(&arguments[1])?, number(&arguments[2])?];
        Ok(Value::from(x.mul_add(y, z)))
    }),
    native("frexp", 0, |_, input, _| {
        let (fraction, exponent) = split(number(input)?);
        Ok(Value::from(vec![Value::from(fraction), Value::from(f64::from(exponent))]))
    }),
    native("modf", 0, |_, input, _| {
        let x = number(input)?;
        let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { x.fract() };
        Ok(Value::from(vec![Value::from(fraction), Value::from(x.trunc())]))
    }),
    native("infinite", 0, |_, _, _| Ok(Value::from(f64::INFINITY))),
    native("nan", 0, |_, _, _| Ok(Value::from(f64::NAN))),
    native("isinfinite", 0, |_, input, _| Ok(Value::Bool(number(input)?.is_infinite()))),
    native("isnan", 0, |_, input, _| Ok(Value::Bool(number(input)?.is_nan()))),
    native("isnormal", 0, |_, input, _| Ok(Value::Bool(number(input)?.is_normal()))),
];

/// A number as a fraction from a half to one and a power of two.
fn split(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (x, bias) = if x.is_normal() { (x, 0) } else { (x * 2_f64.powi(64), 64) };
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7FF).unwrap_or(0) - 1022;
    (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), exponent - bias)
}

fn scaled(x: f64, power: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "beyond these bounds nothing changes any more")]
    let mut power = power.clamp(-5000.0, 5000.0) as i32;
    let mut x = x;
    while power > 1000 {
        x *= 2_f64.powi(1000);
        power -= 1000;
    }
    while power < -1000 {
        x *= 2_f64.powi(-1000);
        power += 1000;
    }
    x * 2_f64.powi(power)
}

/// What is left of the nearest multiple.
fn remainder(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return f64::NAN;
    }
    let rest = x % y;
    let half = y.abs() / 2.0;
    let odd = ((x / y).trunc() % 2.0) != 0.0;
    if rest.abs() > half || (rest.abs() == half && odd) { rest - y.abs().copysign(rest) } else { rest }
}
