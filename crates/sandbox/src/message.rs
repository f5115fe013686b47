//! What helper and host say to each other: frames of a length and JSON.

use crate::stage::{Refused, StageReport, Unavailable};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;

/// The greatest length of a frame, bytes. A plan with every environment and vector that is accepted is far below it.
pub(crate) const MAX_FRAME_BYTES: u32 = 16 << 20;
/// The bytes of a frame's length.
pub(crate) const LENGTH_BYTES: usize = 4;

/// What the helper tells the host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reply {
    /// The process that watches over the run, which comes as a descriptor beside this.
    Watcher,
    /// Every stage before the program was gone through; what each enforced, in order.
    Enforced(Vec<StageReport>),
    /// The run's private file system, which comes as a descriptor beside this.
    Scratch,
    /// A stage cannot do its part here. Nothing ran.
    Unavailable(Unavailable),
    /// The plan does not fit what a stage found. Nothing ran.
    Refused(Refused),
    /// The program ended, and every process that it started. Nothing comes after this.
    Ended(Ending),
    /// What the self-test could reach; empty is good.
    Reached(Vec<String>),
}

/// How the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// By itself, with this status.
    Exited(u8),
    /// By this signal.
    Signalled(i32),
}

/// Why something that is to be mounted or executed is not what was approved.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFault {
    /// It is not there any more.
    #[error("`{0}` is not there any more")]
    Vanished(String),
    /// It is another one than was approved, or was changed since.
    #[error("`{0}` is not the one that was approved: it was replaced or changed since")]
    Replaced(String),
    /// It is not of the kind that the plan says.
    #[error("`{0}` is not {1}")]
    Kind(String, &'static str),
    /// A link leads elsewhere.
    #[error("`{0}` is reached through a link, which is not followed")]
    Link(String),
}

/// A frame of this value.
pub(crate) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut frame, value)?;
    let length = u32::try_from(frame.len() - LENGTH_BYTES).ok().filter(|length| *length <= MAX_FRAME_BYTES);
    let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length that a frame's first bytes announce.
pub(crate) fn announced(length: [u8; LENGTH_BYTES]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(length as usize)
}

/// The value of a frame's body.
pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(body)?)
}

/// Takes the first whole frame out of what was read so far.
pub(crate) fn take_frame<T: DeserializeOwned>(buffer: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some(length) = buffer.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let end = LENGTH_BYTES + announced(*length)?;
    let Some(body) = buffer.get(LENGTH_BYTES..end) else { return Ok(None) };
    let value = decode(body)?;
    buffer.drain(..end);
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    #[test]
    fn frames_arrive_whole_whatever_pieces_they_come_in() {
        let replies =
            [Reply::Ended(Ending::Exited(3)), Reply::Reached(vec!["x".into()]), Reply::Ended(Ending::Signalled(9))];
        let bytes: Vec<u8> = replies.iter().flat_map(|reply| encode(reply).expect("encodes")).collect();
        for size in 1..bytes.len() {
            let mut buffer = Vec::new();
            let mut taken = Vec::new();
            for piece in bytes.chunks(size) {
                buffer.extend_from_slice(piece);
                while let Some(reply) = take_frame::<Reply>(&mut buffer).expect("whole") {
                    taken.push(reply);
                }
            }
            assert_eq!(taken, replies, "{size}");
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn a_plan_survives_the_way_and_what_is_no_plan_is_refused() {
        let plan = Plan::new("git", "/usr/bin/git");
        let mut frame = encode(&plan).expect("encodes");
        assert_eq!(take_frame::<Plan>(&mut frame).expect("whole"), Some(plan));
        let mut other = encode(&Reply::Reached(Vec::new())).expect("encodes");
        assert!(take_frame::<Plan>(&mut other).is_err());
        assert!(take_frame::<Plan>(&mut vec![0xff; 8]).is_err(), "longer than a frame may be");
    }
}
