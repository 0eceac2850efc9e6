//! The minute's arithmetic, with given times.

use std::thread;

use super::*;

const MOST: u32 = 60;

fn window() -> Window {
    Window::new(MOST)
}

fn take(window: &Window, now: u64) -> Result<u32, u64> {
    let Turn { entry, remaining, reset_seconds } = window.take_at(now);
    match entry {
        Entry::Admitted => Ok(remaining),
        Entry::Exhausted => Err(reset_seconds.get()),
    }
}

fn take_all(window: &Window, now: u64) {
    for remaining in (0..MOST).rev() {
        assert_eq!(take(window, now), Ok(remaining));
    }
}

#[tokio::test]
async fn sixty_are_taken_and_the_next_waits_for_the_window_to_end() {
    let window = window();
    take_all(&window, 0);
    for now in 0..WINDOW_SECONDS {
        assert_eq!(take(&window, now), Err(WINDOW_SECONDS - now));
    }
    take_all(&window, 60);
    assert_eq!(take(&window, 60), Err(60));
}

#[tokio::test]
async fn who_waits_as_long_as_told_is_taken() {
    let window = window();
    take_all(&window, 7);
    let told = take(&window, 30).unwrap_err();
    assert_eq!(take(&window, 30 + told), Ok(MOST - 1));
}

#[tokio::test]
async fn a_window_opens_with_its_first_request_and_tells_when_it_ends() {
    let window = window();
    let turn = window.take_at(1_000);
    assert_eq!((turn.remaining, turn.reset_seconds.get()), (MOST - 1, 60));
    assert_eq!(window.take_at(1_059).reset_seconds.get(), 1);
    assert_eq!(window.take_at(1_060).remaining, MOST - 1);
}

#[tokio::test]
async fn a_refused_request_neither_counts_nor_moves_the_window() {
    let window = window();
    take_all(&window, 100);
    for _ in 0..1_000 {
        assert_eq!(take(&window, 159), Err(1));
    }
    take_all(&window, 160);
}

#[tokio::test]
async fn a_request_that_read_the_clock_too_early_belongs_to_the_window() {
    let window = window();
    take_all(&window, 100);
    assert_eq!(take(&window, 99), Err(60));
}

#[tokio::test]
async fn the_last_second_that_can_be_written_still_counts() {
    let window = window();
    take_all(&window, u64::from(u32::MAX) + 1);
    assert_eq!(take(&window, u64::MAX), Err(60));
}

#[tokio::test]
async fn a_window_for_nobody_admits_nobody() {
    assert_eq!(Window::new(0).take_at(5).entry, Entry::Exhausted);
}

#[test]
fn start_and_count_do_not_run_together() {
    for (start, taken) in [(0, 0), (1, 60), (u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        let count = Count::unpack(Count { start, taken }.pack());
        assert_eq!((count.start, count.taken), (start, taken));
    }
}

#[tokio::test]
async fn many_threads_together_get_sixty() {
    let window = window();
    let taken: usize = thread::scope(|scope| {
        let hands: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..50).filter(|_| take(&window, 5).is_ok()).count()))
            .collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).sum()
    });
    assert_eq!(taken, 60);
}
