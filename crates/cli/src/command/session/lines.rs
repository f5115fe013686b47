use std::io::{self, BufRead};

/// Bytes of a line, in either direction.
pub(super) const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// What comes next from the client.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line longer than [`MAX_LINE_BYTES`], which was passed over.
    TooLong,
    /// There is nothing more.
    End,
}

/// Reads one line, and never keeps more than `most` bytes of it.
pub(super) fn next(input: &mut impl BufRead, most: usize) -> io::Result<Next> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            let nothing = line.is_empty() && !too_long;
            return Ok(if nothing { Next::End } else { finished(line, too_long) });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let (part, used) = match end {
            Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
            None => (available, available.len()),
        };
        if line.len() + part.len() > most {
            too_long = true;
            line.clear();
        } else if !too_long {
            line.extend_from_slice(part);
        }
        input.consume(used);
        if end.is_some() {
            return Ok(finished(line, too_long));
        }
    }
}

fn finished(mut line: Vec<u8>, too_long: bool) -> Next {
    if too_long {
        return Next::TooLong;
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Next::Line(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_bounded_and_what_follows_a_long_one_is_read() {
        let text = b"one\r\n\n12345678\n123456789\nlast";
        // Whatever pieces they come in.
        for piece in 1..12 {
            let mut input = BufReader::with_capacity(piece, text.as_slice());
            let mut all = Vec::new();
            loop {
                match next(&mut input, 8).expect("memory") {
                    Next::End => break,
                    other => all.push(other),
                }
            }
            let line = |text: &str| Next::Line(text.as_bytes().to_vec());
            assert_eq!(all, [line("one"), line(""), line("12345678"), Next::TooLong, line("last")], "{piece}");
        }
    }
}
