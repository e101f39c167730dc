//! A text that is built and then taken apart: on the stack while it is short.

use std::fmt;

/// The text of a number without its padding. Only ASCII is put into it.
pub(super) struct Scratch {
    inline: [u8; 96],
    len: usize,
    /// Everything, once it is longer than what is inline.
    heap: Vec<u8>,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch { inline: [0; 96], len: 0, heap: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.heap.is_empty() && self.len + bytes.len() <= self.inline.len() {
            self.inline[self.len..self.len + bytes.len()].copy_from_slice(bytes);
            self.len += bytes.len();
        } else {
            if self.heap.is_empty() {
                self.heap.extend_from_slice(&self.inline[..self.len]);
            }
            self.heap.extend_from_slice(bytes);
        }
    }

    pub(super) fn push_zeros(&mut self, count: usize) {
        const ZEROS: [u8; 64] = [b'0'; 64];
        for _ in 0..count / ZEROS.len() {
            self.push(&ZEROS);
        }
        self.push(&ZEROS[..count % ZEROS.len()]);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        if self.heap.is_empty() { &self.inline[..self.len] } else { &self.heap }
    }

    pub(super) fn make_upper(&mut self) {
        self.inline.make_ascii_uppercase();
        self.heap.make_ascii_uppercase();
    }
}

impl fmt::Write for Scratch {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}
