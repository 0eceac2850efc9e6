//! Decides which fault each call meets: all combinations in turn, or at random.

/// The fault of one call to a port, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedFault {
    None,
    /// It does not happen, and the caller gets a refusal.
    Refused,
    /// Nothing happens and the answer is lost.
    LostBefore,
    /// It happens and the answer is lost.
    LostAfter,
    /// The answer is lost and it happens later.
    Late,
    /// The calling process ends before it happens.
    CrashBefore,
    /// It happens, and the calling process ends before the answer arrives.
    CrashAfter,
}

impl SimulatedFault {
    /// What it is called in counts; none for no fault.
    pub const fn words(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Refused => Some("refused"),
            Self::LostBefore => Some("lost before"),
            Self::LostAfter => Some("lost after"),
            Self::Late => Some("late"),
            Self::CrashBefore => Some("crash before"),
            Self::CrashAfter => Some("crash after"),
        }
    }
}

/// Faults of a call without side effects.
pub const QUERY_FAULTS: &[SimulatedFault] = &[SimulatedFault::None, SimulatedFault::LostBefore];
/// Faults of a call with a side effect. A crash before it is a crash after the write before it.
pub const EFFECT_FAULTS: &[SimulatedFault] = &[
    SimulatedFault::None,
    SimulatedFault::Refused,
    SimulatedFault::LostBefore,
    SimulatedFault::LostAfter,
    SimulatedFault::Late,
    SimulatedFault::CrashAfter,
];
pub const WRITE_FAULTS: &[SimulatedFault] = &[
    SimulatedFault::None,
    SimulatedFault::LostBefore,
    SimulatedFault::LostAfter,
    SimulatedFault::CrashBefore,
    SimulatedFault::CrashAfter,
];

/// Decides which fault a call meets.
pub trait FaultSchedule: Send {
    /// One of `options`; the first one is no fault.
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault;
}

/// Enumerates every combination of up to a given number of faults, one per run.
#[derive(Default)]
pub struct ExhaustiveFaults {
    trail: Vec<(usize, usize)>,
    at: usize,
    begun: bool,
    faults_left: u32,
}

impl ExhaustiveFaults {
    /// Prepares the next combination; false after the last one.
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

    /// No faults from now on.
    pub fn recover(&mut self) {
        self.faults_left = 0;
    }

    /// Faults in this run so far.
    pub fn faults(&self) -> usize {
        self.trail[..self.at].iter().filter(|(chosen, _)| *chosen > 0).count()
    }

    /// The choices of this run so far, to identify a failed run.
    pub fn trail(&self) -> Vec<usize> {
        self.trail.iter().map(|(chosen, _)| *chosen).collect()
    }
}

impl FaultSchedule for ExhaustiveFaults {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if self.faults_left == 0 {
            return options[0];
        }
        if self.at == self.trail.len() {
            self.trail.push((0, options.len()));
        }
        let fault = options[self.trail[self.at].0];
        self.at += 1;
        if fault != options[0] {
            self.faults_left -= 1;
        }
        fault
    }
}

/// A deterministic pseudorandom number generator (SplitMix64).
#[derive(Clone)]
pub struct SeededRng(u64);

impl SeededRng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True with a probability of `in_a_thousand` / 1000.
    pub fn happens(&mut self, in_a_thousand: u64) -> bool {
        self.below(1_000) < in_a_thousand
    }

    pub fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        *self.pick_ref(options)
    }

    pub fn pick_ref<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        let bound = u64::try_from(options.len()).expect("a length fits 64 bits");
        &options[usize::try_from(self.below(bound)).expect("below a length")]
    }
}

/// Random faults.
pub struct RandomFaults {
    pub rng: SeededRng,
    pub faults_in_a_thousand: u64,
}

impl FaultSchedule for RandomFaults {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if self.rng.happens(self.faults_in_a_thousand) {
            self.rng.pick(&options[1..])
        } else {
            options[0]
        }
    }
}
