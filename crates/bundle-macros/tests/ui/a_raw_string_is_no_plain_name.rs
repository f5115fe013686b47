fn main() {
    let _skills = skillgate_bundle_macros::include_skills!(r"skills");
}
