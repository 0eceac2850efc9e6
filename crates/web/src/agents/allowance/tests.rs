//! The minute's arithmetic, with given times.

use std::thread;

use super::*;

fn take_all(allowance: &Allowance, now: u64) {
    for count in 0..REGISTRATIONS {
        assert_eq!(allowance.take(now), Ok(()), "{count}");
    }
}

fn wait(seconds: u64) -> Result<(), NonZeroU64> {
    Err(NonZeroU64::new(seconds).unwrap())
}

#[test]
fn sixty_are_taken_and_the_next_waits_for_the_window_to_end() {
    let allowance = Allowance::new();
    take_all(&allowance, 0);
    for now in 0..WINDOW_SECONDS {
        assert_eq!(allowance.take(now), wait(WINDOW_SECONDS - now));
    }
    take_all(&allowance, 60);
    assert_eq!(allowance.take(60), wait(60));
}

#[test]
fn who_waits_as_long_as_told_is_taken() {
    let allowance = Allowance::new();
    take_all(&allowance, 7);
    let told = allowance.take(30).unwrap_err().get();
    assert_eq!(allowance.take(30 + told), Ok(()));
}

#[test]
fn a_window_opens_with_its_first_request() {
    let allowance = Allowance::new();
    take_all(&allowance, 1000);
    assert_eq!(allowance.take(1059), wait(1));
    assert_eq!(allowance.take(1060), Ok(()));
}

#[test]
fn a_refused_request_neither_counts_nor_moves_the_window() {
    let allowance = Allowance::new();
    take_all(&allowance, 100);
    for _ in 0..1000 {
        assert_eq!(allowance.take(159), wait(1));
    }
    take_all(&allowance, 160);
}

#[test]
fn a_request_that_read_the_clock_too_early_belongs_to_the_window() {
    let allowance = Allowance::new();
    take_all(&allowance, 100);
    assert_eq!(allowance.take(99), wait(60));
}

#[test]
fn the_last_second_that_can_be_written_still_counts() {
    let allowance = Allowance::new();
    take_all(&allowance, u64::from(u32::MAX) + 1);
    assert_eq!(allowance.take(u64::MAX), wait(60));
}

#[test]
fn start_and_count_do_not_run_together() {
    for (start, taken) in [(0, 0), (1, 60), (u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        let window = Window::unpack(Window { start, taken }.pack());
        assert_eq!((window.start, window.taken), (start, taken));
    }
}

#[test]
fn many_threads_together_get_sixty() {
    let allowance = Allowance::new();
    let taken: usize = thread::scope(|scope| {
        let hands: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..50).filter(|_| allowance.take(5).is_ok()).count()))
            .collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).sum()
    });
    assert_eq!(taken, 60);
}
