use std::collections::BTreeMap;

/// Where the members of a JSON text stand. The text was read before, so that it is known to be JSON.
#[derive(Debug, Default)]
pub(super) struct Places {
    keys: BTreeMap<Vec<String>, usize>,
    /// Keys that their object has twice, with the path of the object.
    twice: Vec<(Vec<String>, String)>,
}

impl Places {
    pub(super) fn of(text: &str) -> Self {
        let mut scanner = Scanner { text, at: 0, places: Self::default() };
        scanner.value(&mut Vec::new());
        scanner.places
    }

    /// The offset of the key that a path leads to, or of the nearest one around it.
    pub(super) fn of_path<'p>(&self, path: impl IntoIterator<Item = &'p str>) -> usize {
        let mut path: Vec<String> = path.into_iter().map(str::to_owned).collect();
        loop {
            if let Some(offset) = self.keys.get(&path) {
                return *offset;
            }
            if path.pop().is_none() {
                return 0;
            }
        }
    }

    /// The keys that stand twice in the object at this path.
    pub(super) fn twice_below(&self, path: &[&str]) -> Vec<String> {
        self.twice.iter().filter(|(of, _)| of == path).map(|(_, key)| key.clone()).collect()
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    places: Places,
}

impl Scanner<'_> {
    fn value(&mut self, path: &mut Vec<String>) {
        match self.next_byte() {
            Some(b'{') => self.members(path),
            Some(b'[') => self.items(path),
            Some(b'"') => {
                self.string();
            }
            _ => {
                let rest = &self.text[self.at..];
                self.at += rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
            }
        }
    }

    fn members(&mut self, path: &mut Vec<String>) {
        self.at += 1;
        while self.next_byte() == Some(b'"') {
            let start = self.at;
            let key = self.string();
            path.push(key.clone());
            if self.places.keys.insert(path.clone(), start).is_some() {
                self.places.twice.push((path[..path.len() - 1].to_vec(), key));
            }
            self.skip(b':');
            self.value(path);
            path.pop();
            self.skip(b',');
        }
        self.skip(b'}');
    }

    fn items(&mut self, path: &mut Vec<String>) {
        self.at += 1;
        let mut index = 0_usize;
        while !matches!(self.next_byte(), Some(b']') | None) {
            path.push(index.to_string());
            self.places.keys.insert(path.clone(), self.at);
            self.value(path);
            path.pop();
            self.skip(b',');
            index += 1;
        }
        self.skip(b']');
    }

    /// The string that begins here.
    fn string(&mut self) -> String {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                b'"' => break,
                _ => 1,
            };
        }
        self.at = (self.at + 1).min(self.text.len());
        serde_json::from_str(self.text.get(start..self.at).unwrap_or_default()).unwrap_or_default()
    }

    fn next_byte(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) {
        if self.next_byte() == Some(byte) {
            self.at += 1;
        }
    }
}
