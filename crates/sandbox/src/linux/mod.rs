//! The helper's stages, and the host's end of it.

mod canary;
mod connection;
mod control;
mod failure;
mod host;
mod idmap;
mod init;
mod landlock;
mod limits;
mod lock;
mod mounts;
mod namespaces;
mod outer;
mod privileges;
mod program;
mod root;
mod scratch;
mod seccomp;
mod server;
mod sources;
#[expect(unsafe_code, reason = "system calls that no safe interface offers; each block says why it is sound")]
mod sys;
mod user;

pub(crate) use connection::Server;
pub(crate) use host::{Started, start};
pub(crate) use server::run_main;
