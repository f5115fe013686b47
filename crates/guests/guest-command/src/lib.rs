//! What the commands of Skillgate's own share: [`options`] as `getopt_long` reads them, [`output`] that ends with its reader,
//! and the patterns of file names ([`glob`]).
//!
//! Must not: open a file, or know a command. Start at [`options::read`].

pub mod glob;
pub mod options;
pub mod output;
