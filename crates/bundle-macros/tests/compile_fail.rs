//! What `include_skills!` refuses to build, as the compiler says it. The controls are the skills of `embedding.rs`, which build.

#[test]
fn what_is_no_directory_of_skills_does_not_build() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
