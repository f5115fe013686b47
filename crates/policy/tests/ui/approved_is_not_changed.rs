use skillgate_policy::{Approved, Sight};

fn main() {}

fn another_word(approved: &mut Approved) {
    approved.vector()[0] = "rm".to_owned();
}

fn one_more_word(approved: &mut Approved) {
    approved.vector().push("-r".to_owned());
}

fn another_vector(mut approved: Approved) {
    approved.vector = vec!["rm".to_owned()];
}

fn a_wider_sight(mut approved: Approved) {
    approved.sight = Sight::Granted;
}
