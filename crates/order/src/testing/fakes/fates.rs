//! What happens to each call: every combination in turn, or as the dice fall.

/// What happens to one call to the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Works,
    /// It certainly does not happen, and we are told.
    Refused,
    /// Nothing happens and the answer is lost.
    LostBefore,
    /// It happens and the answer is lost.
    LostAfter,
    /// The answer is lost and it happens later.
    Late,
    /// Our process ends before it happens.
    CrashBefore,
    /// It happens, and our process ends before it hears so.
    CrashAfter,
}

/// A question that changes nothing can only fail to be answered.
pub const ASK: &[Fate] = &[Fate::Works, Fate::LostBefore];
/// A deed can go wrong in every way.
pub const ACT: &[Fate] =
    &[Fate::Works, Fate::Refused, Fate::LostBefore, Fate::LostAfter, Fate::Late, Fate::CrashAfter];
pub const WRITE: &[Fate] =
    &[Fate::Works, Fate::LostBefore, Fate::LostAfter, Fate::CrashBefore, Fate::CrashAfter];

/// Who decides what happens.
pub trait Fates: Send {
    /// One of `options`; the first of them is that all goes well.
    fn choose(&mut self, options: &[Fate]) -> Fate;
}

/// Walks through every combination of fates with up to so many faults, a run
/// at a time.
#[derive(Default)]
pub struct EveryFate {
    trail: Vec<(usize, usize)>,
    at: usize,
    begun: bool,
    faults_left: u32,
}

impl EveryFate {
    /// Gets ready for a run that has not been yet; false when all have been.
    pub fn another_run(&mut self, faults: u32) -> bool {
        (self.at, self.faults_left) = (0, faults);
        if !self.begun {
            self.begun = true;
            return true;
        }
        while let Some((chosen, bound)) = self.trail.pop() {
            if chosen + 1 < bound {
                self.trail.push((chosen + 1, bound));
                return true;
            }
        }
        false
    }

    /// From here on everything works.
    pub fn recover(&mut self) {
        self.faults_left = 0;
    }

    /// How many things have gone wrong in this run so far.
    pub fn faults(&self) -> usize {
        self.trail[..self.at].iter().filter(|(chosen, _)| *chosen > 0).count()
    }

    /// The choices of this run so far, to tell which one failed.
    pub fn trail(&self) -> Vec<usize> {
        self.trail.iter().map(|(chosen, _)| *chosen).collect()
    }
}

impl Fates for EveryFate {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        if self.faults_left == 0 {
            return options[0];
        }
        if self.at == self.trail.len() {
            self.trail.push((0, options.len()));
        }
        let fate = options[self.trail[self.at].0];
        self.at += 1;
        if fate != options[0] {
            self.faults_left -= 1;
        }
        fate
    }
}

/// A small generator of numbers that look random and are the same for the same
/// seed (SplitMix64).
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Whether something happens that happens so often in a thousand times.
    pub fn happens(&mut self, in_a_thousand: u64) -> bool {
        self.below(1_000) < in_a_thousand
    }

    pub fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        *self.pick_one(options)
    }

    pub fn pick_one<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        let bound = u64::try_from(options.len()).expect("a length fits 64 bits");
        &options[usize::try_from(self.below(bound)).expect("below a length")]
    }
}

/// Faults as the dice fall.
pub struct ByDice {
    pub dice: Dice,
    pub faults_in_a_thousand: u64,
}

impl Fates for ByDice {
    fn choose(&mut self, options: &[Fate]) -> Fate {
        if self.dice.happens(self.faults_in_a_thousand) {
            self.dice.pick(&options[1..])
        } else {
            options[0]
        }
    }
}
