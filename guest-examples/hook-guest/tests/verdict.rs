//! What a handler cannot say, it cannot be written to say.

#[test]
fn a_handler_that_allows_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/denies.rs");
    cases.compile_fail("tests/ui/allows.rs");
}
