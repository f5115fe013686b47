use super::client::Client;
use super::lines::{self, MAX_LINE_BYTES, Next};
use super::operations;
use super::protocol::{self, Line, Request, VERSION, fault};
use crate::output::{NothingOutput, SessionReply};
use skillgate_runtime::Session;
use std::io::{self, BufRead};
use std::sync::Arc;

/// Answers requests until there are no more, or the client says that it ends.
///
/// Each request is worked for on a thread of its own: requests that overlap run at the same time. Everything that was begun has
/// ended when this returns.
///
/// # Errors
/// When the requests cannot be read.
pub(super) fn serve(session: &Session, client: &Arc<Client>, input: &mut impl BufRead) -> io::Result<()> {
    std::thread::scope(|scope| {
        let mut greeted = false;
        while !client.is_gone() {
            let line = match lines::next(input, MAX_LINE_BYTES) {
                Ok(Next::Line(line)) => line,
                Ok(Next::TooLong) => {
                    let message = format!("the line has more than {MAX_LINE_BYTES} bytes");
                    client.failed(None, fault("line-too-long", message, "name a `path` for a save"));
                    continue;
                }
                Ok(Next::End) => {
                    // What was asked for is still done; who answers asks is gone.
                    client.nobody_answers();
                    return Ok(());
                }
                Err(error) => {
                    client.cancel_all();
                    return Err(error);
                }
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let request = match protocol::read(&line) {
                Ok(request) => request,
                Err((id, error)) => {
                    // Not the end of another request of this id.
                    client.tell(&Line::Failed { id, ok: false, error });
                    continue;
                }
            };
            match request {
                Request::Hello { version } => greeted |= hello(client, version, greeted),
                request if !greeted => {
                    let error =
                        fault("no-hello", "the first line is `hello`".to_owned(), r#"{"op":"hello","version":1}"#);
                    client.tell(&Line::Failed { id: request.id().cloned(), ok: false, error });
                }
                Request::Answer { id, decision } => {
                    if client.answer(&id, decision) {
                        client.tell(&Line::Done {
                            id,
                            ok: true,
                            result: Box::new(SessionReply::Nothing(NothingOutput {})),
                        });
                    } else {
                        let message = format!("no ask {id} waits for an answer");
                        let error = fault("no-such-ask", message, "an ask is answered once, with the id of its event");
                        client.tell(&Line::Failed { id: Some(id), ok: false, error });
                    }
                }
                Request::Cancel { id } => {
                    if !client.cancel(&id) {
                        let message = format!("no request {id} waits for its answer");
                        let error = fault("not-running", message, "it has been answered, or was never made");
                        client.tell(&Line::Failed { id: Some(id), ok: false, error });
                    }
                }
                Request::Bye { id } => {
                    client.cancel_all();
                    client.tell(&Line::Done {
                        id,
                        ok: true,
                        result: Box::new(SessionReply::Nothing(NothingOutput {})),
                    });
                    return Ok(());
                }
                request => begin(scope, session, client, request),
            }
        }
        Ok(())
    })
}

/// Says which version is spoken; gives whether it is the client's.
fn hello(client: &Client, version: u64, greeted: bool) -> bool {
    let error = if version != VERSION {
        let message = format!("version {version} of the protocol is not spoken here");
        fault("version", message, format!("this is version {VERSION}"))
    } else if greeted {
        fault("bad-request", "`hello` was said already".to_owned(), "say it once")
    } else {
        client.tell(&Line::Hello { ok: true, version: VERSION, skillgate: env!("CARGO_PKG_VERSION") });
        return true;
    };
    client.tell(&Line::Failed { id: None, ok: false, error });
    false
}

fn begin<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    session: &'env Session,
    client: &'env Arc<Client>,
    request: Request,
) {
    // Those without an id were answered before.
    let Some(id) = request.id().cloned() else { return };
    let cancel = match client.take(&id, &request.skills()) {
        Ok(cancel) => cancel,
        // The id may be one of another request, which is not over.
        Err(error) => return client.tell(&Line::Failed { id: None, ok: false, error }),
    };
    let work = {
        let id = id.clone();
        move || match Client::working_for(&id, || operations::perform(session, client, request, &cancel)) {
            Ok(reply) => client.done(id, reply),
            Err(error) => client.failed(Some(id), error),
        }
    };
    let spawned = std::thread::Builder::new().name("skillgate-request".to_owned()).spawn_scoped(scope, work);
    if let Err(error) = spawned {
        let message = format!("no thread can be started: {error}");
        client.failed(Some(id), fault("busy", message, "wait for other requests"));
    }
}
