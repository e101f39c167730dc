//! Where the characters of long texts beyond ASCII lie, so that loops over them take no longer
//! than over others.
//!
//! A loop that goes forward looks from the place that was looked for last. Where one goes back, or
//! looks at two places in turn, it gets an index of every 64th character, which takes as long to
//! make as one look at the last character.

use crate::text::Str;

/// Texts of fewer bytes are searched from their start.
pub(crate) const LONG: usize = 128;

/// The characters from one entry of an index to the next.
const STEP: usize = 64;

/// The texts of which places are kept.
const MOST: usize = 4;

/// Looks that begin at the start of a text before it gets an index.
const PATIENCE: u32 = 2;

/// What is known of some texts.
#[derive(Debug, Default)]
pub(crate) struct Places {
    texts: Vec<Known>,
    /// Which of them makes room for another.
    next: usize,
}

/// What is known of one text.
#[derive(Debug)]
struct Known {
    /// Its address and its length.
    text: (usize, usize),
    /// The place that was looked for last, in code points and in bytes.
    last: (usize, usize),
    /// How many characters it has, if they were counted.
    len: Option<usize>,
    /// How often a look began at the start.
    restarts: u32,
    /// The bytes before each [`STEP`]th character, if that was found out.
    index: Vec<usize>,
}

impl Places {
    /// Forgets all texts: others may lie where they lay.
    #[inline]
    pub fn clear(&mut self) {
        if !self.texts.is_empty() {
            self.texts.clear();
        }
    }

    fn of(&mut self, s: Str<'_>) -> &mut Known {
        let text = (s.words().0 as usize, s.byte_len());
        let at = match self.texts.iter().position(|known| known.text == text) {
            Some(at) => at,
            None if let Some(at) = self.begun(text) => {
                self.texts[at].grow(s);
                at
            }
            None => {
                let known = Known { text, last: (0, 0), len: None, restarts: 0, index: Vec::new() };
                if self.texts.len() < MOST {
                    self.texts.push(known);
                    self.texts.len() - 1
                } else {
                    self.next = (self.next + 1) % MOST;
                    self.texts[self.next] = known;
                    self.next
                }
            }
        };
        &mut self.texts[at]
    }

    /// The longest text that this one begins with where it lies: a text that is appended to often stays
    /// where it is, and what is known of its beginning holds.
    fn begun(&self, text: (usize, usize)) -> Option<usize> {
        let begins = |at: &usize| self.texts[*at].text.0 == text.0 && self.texts[*at].text.1 < text.1;
        (0..self.texts.len()).filter(begins).max_by_key(|at| self.texts[*at].text.1)
    }

    /// [`Str::char_len`].
    pub fn char_len(&mut self, s: Str<'_>) -> usize {
        *self.of(s).len.get_or_insert_with(|| s.char_len())
    }

    /// [`Str::byte_offset`].
    pub fn byte_offset(&mut self, s: Str<'_>, index: usize) -> usize {
        let known = self.of(s);
        let (chars, bytes) = known.before(s, |place| place.0 <= index, |entries| (index / STEP).min(entries.len() - 1));
        let found = bytes + s.slice_bytes(bytes, s.byte_len()).byte_offset(index - chars);
        if found < s.byte_len() {
            known.last = (index, found);
        }
        found
    }

    /// [`Str::char_index`].
    pub fn char_index(&mut self, s: Str<'_>, offset: usize) -> usize {
        let known = self.of(s);
        let entry = |entries: &[usize]| entries.partition_point(|start| *start <= offset) - 1;
        let (chars, bytes) = known.before(s, |place| place.1 <= offset, entry);
        let found = chars + s.slice_bytes(bytes, s.byte_len()).char_index(offset - bytes);
        known.last = (found, offset);
        found
    }
}

impl Known {
    /// Knows the same of a longer text in the same place.
    fn grow(&mut self, s: Str<'_>) {
        let end = self.text.1;
        self.len = self.len.map(|chars| chars + s.slice_bytes(end, s.byte_len()).char_len());
        self.text.1 = s.byte_len();
        if let Some(last) = self.index.last().copied() {
            let behind = s.slice_bytes(last, s.byte_len());
            let starts = behind.as_str().char_indices().step_by(STEP).skip(1);
            self.index.extend(starts.map(|(at, _)| last + at));
        }
    }

    /// A place from which to look, in code points and in bytes: the last one if that lies before,
    /// else an entry of the index.
    fn before(
        &mut self,
        s: Str<'_>,
        is_before: impl Fn((usize, usize)) -> bool,
        entry: impl Fn(&[usize]) -> usize,
    ) -> (usize, usize) {
        if self.index.is_empty() {
            if is_before(self.last) {
                return self.last;
            }
            self.restarts += 1;
            if self.restarts <= PATIENCE {
                return (0, 0);
            }
            let starts = s.as_str().char_indices().step_by(STEP).map(|(at, _)| at);
            self.index.extend(starts);
        }
        let at = entry(&self.index);
        (at * STEP, self.index[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_characters_in_any_order() {
        let text = "aé€𝄞 plain".repeat(50);
        let other = "ü".repeat(200);
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let view = Str::with_ascii(&text, false);
        let mut places = Places::default();
        let last = offsets.len() - 1;
        for round in 0..3 * last {
            // Forward, backward, from both ends in turn, with looks at another text between.
            let index = match (round / last, round % 2) {
                (0, _) => round,
                (1, _) => 2 * last - round,
                (_, 0) => round - 2 * last,
                (_, _) => 3 * last - round,
            };
            assert_eq!(places.byte_offset(view, index), offsets[index]);
            assert_eq!(places.char_index(view, offsets[index]), index);
            if round % 5 == 0 {
                assert_eq!(places.byte_offset(Str::with_ascii(&other, false), index.min(200)), 2 * index.min(200));
            }
        }
        let grown: Vec<usize> =
            offsets.iter().map(|end| places.char_len(Str::with_ascii(&text[..*end], false))).collect();
        assert!(grown.iter().enumerate().all(|(at, len)| at == *len));
        assert_eq!((places.char_len(view), places.char_len(view)), (last, last));
        assert_eq!(places.byte_offset(view, last + 10), text.len());
        for at in 0..10 {
            let short = Str::with_ascii(&text[offsets[at]..], false);
            assert_eq!(places.byte_offset(short, last - at), short.byte_len());
        }
    }
}
