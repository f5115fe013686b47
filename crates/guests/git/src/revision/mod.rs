//! What a revision is called, and which commits a range of them means.

pub(crate) mod ancestry;
pub(crate) mod names;
pub(crate) mod range;
pub(crate) mod simplify;
pub(crate) mod upstream;
pub(crate) mod walk;
