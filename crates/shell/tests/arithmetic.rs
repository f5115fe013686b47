//! Arithmetic: values, errors, bounds.

use std::collections::BTreeMap;

use skillgate_shell::arithmetic::{MAX_STEPS, evaluate, parse, parse_number};
use skillgate_shell::{ArithmeticError, ArithmeticExpr, Command, CompoundKind, ParseOptions, Variables};

#[derive(Default)]
struct Table(BTreeMap<String, String>);

impl Variables for Table {
    fn get(&mut self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), ArithmeticError> {
        if name == "readonly" {
            return Err(ArithmeticError::NotAssignable(name.to_owned()));
        }
        self.0.insert(name.to_owned(), value.to_string());
        Ok(())
    }
}

fn table(values: &[(&str, &str)]) -> Table {
    Table(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn value(text: &str, variables: &mut Table) -> Result<i64, ArithmeticError> {
    let expr = parse(text, 64).expect("an expression");
    evaluate(&expr, &[], variables)
}

#[test]
fn expressions_have_the_values_of_bash() {
    for (text, expected) in [
        ("", 0),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("10-4-3", 3),
        ("100/10/5", 2),
        ("-7/2", -3),
        ("-7%3", -1),
        ("2**3**2", 512),
        ("-2**2", 4),
        ("2**0", 1),
        ("7&3|8^1", 11),
        ("1<<4>>2", 4),
        ("1<<64", 1),
        ("1<2", 1),
        ("2<=1", 0),
        ("1==1!=0", 1),
        ("!0&&!0", 1),
        ("0||0", 0),
        ("5&&0", 0),
        ("~0", -1),
        ("- -3", 3),
        ("+3", 3),
        ("1?2:3", 2),
        ("0?2:0?3:4", 4),
        ("1,2,3", 3),
        ("a", 4),
        ("unset", 0),
        ("empty", 0),
        ("expr*2", 14),
        ("padded", 6),
        ("negative-1", -6),
        ("a=5,a*2", 10),
        ("a+=3", 7),
        ("a-=1,a*=2,a/=3,a%=2,a", 0),
        ("a<<=2,a>>=1,a|=1,a&=7,a^=2", 3),
        ("a++ + a", 9),
        ("++a + a", 10),
        ("a-- - --a", 2),
        ("x=y=3,x+y", 6),
        ("0&&(a=9),a", 4),
        ("1||(a=9),a", 4),
        ("1?a:(a=9),a", 4),
        ("0x1F", 31),
        ("017", 15),
        ("2#101", 5),
        ("36#Zz", 1295),
        ("64#_", 63),
        ("62#aA", 656),
        ("9223372036854775807+1", i64::MIN),
        ("(-9223372036854775807-1)/-1", i64::MIN),
        ("(-9223372036854775807-1)%-1", 0),
        ("3**100", -2_984_622_845_537_545_263),
        ("1 +\n2", 3),
    ] {
        let mut variables = table(&[("a", "4"), ("empty", ""), ("expr", "a+3"), ("padded", " 6 "), ("negative", "-5")]);
        assert_eq!(value(text, &mut variables), Ok(expected), "{text}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let mut variables = table(&[("loop", "loop"), ("bad", "1+"), ("dollar", "$(x)"), ("array", "a[$(x)]")]);
    for (text, expected) in [
        ("1/0", ArithmeticError::DivisionByZero),
        ("1%0", ArithmeticError::DivisionByZero),
        ("x/=0", ArithmeticError::DivisionByZero),
        ("2**-1", ArithmeticError::NegativeExponent(-1)),
        ("readonly=1", ArithmeticError::NotAssignable("readonly".to_owned())),
        ("loop", ArithmeticError::TooDeep),
    ] {
        assert_eq!(value(text, &mut variables), Err(expected), "{text}");
    }
    for name in ["bad", "dollar", "array"] {
        assert!(matches!(value(name, &mut variables), Err(ArithmeticError::BadValue { .. })), "{name}");
    }
    for text in [
        "1+",
        "1 2",
        "(1",
        "1)",
        "1=2",
        "a b",
        "08",
        "1a",
        "2#3",
        "65#1",
        "1#0",
        "99999999999999999999",
        "$x",
        "`x`",
        "a[0]",
        "1++",
        "--1",
        "1?2",
        "'1'",
        "a.b",
        "*1",
        "1+*2",
        "#1",
        "é",
    ] {
        assert!(parse(text, 64).is_err(), "{text} does not parse");
    }
}

#[test]
fn doubling_variables_run_out_of_steps() {
    // Every variable refers twice to the next: 2^40 evaluations without a limit.
    let mut variables = Table::default();
    for i in 0..40 {
        variables.0.insert(format!("x{i}"), format!("x{0}+x{0}", i + 1));
    }
    assert_eq!(value("x0", &mut variables), Err(ArithmeticError::TooManySteps));
    let mut variables = table(&[("x", &"1".repeat(MAX_STEPS + 1))]);
    assert_eq!(value("x", &mut variables), Err(ArithmeticError::TooManySteps));
}

fn arithmetic_command(source: &str) -> ArithmeticExpr {
    let program = skillgate_shell::parse(source, &[], &ParseOptions::new(4096, 64)).expect("a program");
    match &program.items[0].and_or.first.stages[0] {
        Command::Compound(command) => match &command.kind {
            CompoundKind::Arithmetic(expr) => expr.clone(),
            other => unreachable!("{other:?} is not arithmetic"),
        },
        other => unreachable!("{other:?} is not arithmetic"),
    }
}

#[test]
fn expansions_are_numbers_or_names_and_never_text_of_the_expression() {
    let expr = arithmetic_command("(( $x * 3 ))");
    assert_eq!(expr.expansions.len(), 1);
    let with = |text: &str| evaluate(&expr, &[text.to_owned()], &mut table(&[("y", "7")]));
    for (text, expected) in [("5", 15), (" 5\n", 15), ("-5", -15), ("+5", 15), ("0x10", 48), ("y", 21), ("unset", 0)] {
        assert_eq!(with(text), Ok(expected), "{text:?}");
    }
    for text in ["1+2", "", "a[$(x)]", "y=1", "1 2", "$(x)", "--5", "é"] {
        assert_eq!(with(text), Err(ArithmeticError::NotANumber(text.to_owned())), "{text:?}");
    }
    assert_eq!(evaluate(&expr, &[], &mut Table::default()), Err(ArithmeticError::MissingExpansion(0)));
}

#[test]
fn numbers_in_every_base() {
    for (text, expected) in [
        ("0", Some(0)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("0x", None),
        ("", None),
        ("0777", Some(511)),
        ("16#fF", Some(255)),
        ("37#A", Some(36)),
        ("#1", None),
        ("16#", None),
        ("-1", None),
    ] {
        assert_eq!(parse_number(text), expected, "{text}");
    }
}
