//! The bytes of one file: what readers see, and what is durable.

use std::collections::BTreeSet;

use crate::random::Random;

/// What the page cache writes at once.
pub const PAGE: usize = 4_096;
/// What a disk writes whole or not at all.
pub const SECTOR: usize = 512;

/// What became of the unsynced pages at a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    pub dropped: u64,
    pub reached: u64,
    pub torn: u64,
}

/// How the unsynced pages of one file are treated at a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    AllDropped,
    AllReached,
    /// Each page by itself: dropped, reached or torn.
    Mixed,
}

#[derive(Default)]
pub struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Pages that may differ between the two.
    dirty: BTreeSet<usize>,
}

impl Content {
    pub fn len(&self) -> usize {
        self.now.len()
    }

    pub fn read(&self, from: usize, size: usize) -> &[u8] {
        let end = self.now.len().min(from.saturating_add(size));
        self.now.get(from..end).unwrap_or_default()
    }

    pub fn write(&mut self, from: usize, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let (before, end) = (self.now.len(), from + data.len());
        if end > before {
            self.now.resize(end, 0);
        }
        self.now[from..end].copy_from_slice(data);
        // The bytes between the old end and the new data are new, too.
        self.dirty.extend(from.min(before) / PAGE..=(end - 1) / PAGE);
    }

    pub fn set_len(&mut self, len: usize) {
        let most = self.now.len().max(self.durable.len()).max(len);
        self.dirty.extend(len.min(self.now.len()) / PAGE..most.div_ceil(PAGE));
        self.now.resize(len, 0);
    }

    pub fn sync(&mut self) {
        self.durable.resize(self.now.len(), 0);
        for page in std::mem::take(&mut self.dirty) {
            let (from, end) = (page * PAGE, self.now.len().min((page + 1) * PAGE));
            if from < end {
                self.durable[from..end].copy_from_slice(&self.now[from..end]);
            }
        }
    }

    /// The operating system writes one unsynced page by itself. The page stays unsynced: its size
    /// or a later version of it may still be lost.
    pub fn write_back(&mut self, random: &mut Random) {
        if self.dirty.is_empty() {
            return;
        }
        let chosen = random.below(self.dirty.len());
        let page = self.dirty.iter().nth(chosen).copied().unwrap_or_default();
        if page * PAGE < self.now.len() {
            self.reach(page, |_| true);
        }
    }

    /// Decides what of the unsynced data reached the disk; afterwards all there is is durable.
    pub fn lose(&mut self, fate: Fate, random: &mut Random) -> PageCounts {
        let mut counts = PageCounts::default();
        let durable_len = self.durable.len();
        let shrunk = self.now.len() < durable_len;
        for page in std::mem::take(&mut self.dirty) {
            if page * PAGE >= self.now.len() {
                continue;
            }
            let choice = match fate {
                Fate::AllDropped => 0,
                Fate::AllReached => 1,
                Fate::Mixed => random.below(3),
            };
            match choice {
                0 => counts.dropped += 1,
                1 => {
                    counts.reached += 1;
                    self.reach(page, |_| true);
                }
                _ => {
                    counts.torn += 1;
                    let sectors = random.next();
                    self.reach(page, |sector| sectors >> sector & 1 == 1);
                }
            }
        }
        let size_reached = match fate {
            Fate::AllDropped => false,
            Fate::AllReached => true,
            Fate::Mixed => random.one_in(2),
        };
        // A truncation or a growth without data; sectors that were not written are zeros.
        if size_reached {
            self.durable.resize(self.now.len(), 0);
        } else if shrunk {
            debug_assert_eq!(self.durable.len(), durable_len);
        }
        self.now.clone_from(&self.durable);
        counts
    }

    /// Copies these sectors of a page to the durable image. It grows if need be, with zeros
    /// where nothing was written.
    fn reach(&mut self, page: usize, is_written: impl Fn(usize) -> bool) {
        for sector in 0..PAGE / SECTOR {
            let from = page * PAGE + sector * SECTOR;
            let end = self.now.len().min(from + SECTOR);
            if from >= end || !is_written(sector) {
                continue;
            }
            if self.durable.len() < end {
                self.durable.resize(end, 0);
            }
            self.durable[from..end].copy_from_slice(&self.now[from..end]);
        }
    }
}
