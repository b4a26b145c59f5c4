//! Numbered pieces of work, shared among threads and taken in their order.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use super::Watch;

/// Does the pieces on this many threads. What they give is taken in the order of their numbers, without
/// a gap, until `take` breaks or the watch says that time is up: then what was begun is still ended.
pub(super) fn share<T: Send>(
    pieces: u64,
    jobs: usize,
    watch: &dyn Watch,
    run: impl Fn(u64) -> T + Sync,
    take: impl FnMut(T) -> ControlFlow<()> + Send,
) {
    let next = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    let queue = Mutex::new(Queue { next: 0, early: BTreeMap::new(), take });
    let work = || {
        while watch.goes_on() && !ended.load(Ordering::Acquire) {
            let piece = next.fetch_add(1, Ordering::AcqRel);
            if piece >= pieces {
                break;
            }
            let given = run(piece);
            if lock(&queue).give(piece, given).is_break() {
                ended.store(true, Ordering::Release);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
}

/// Puts what comes early back in order.
struct Queue<T, F> {
    next: u64,
    early: BTreeMap<u64, T>,
    take: F,
}

impl<T, F: FnMut(T) -> ControlFlow<()>> Queue<T, F> {
    fn give(&mut self, piece: u64, given: T) -> ControlFlow<()> {
        self.early.insert(piece, given);
        while let Some(given) = self.early.remove(&self.next) {
            self.next += 1;
            if (self.take)(given).is_break() {
                // Nothing behind it counts.
                self.next = u64::MAX;
                self.early.clear();
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// A thread that panicked takes the whole run with it, so what it held needs no second look.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::Unwatched;

    fn taken(pieces: u64, jobs: usize, last: u64) -> Vec<u64> {
        let mut taken = Vec::new();
        share(
            pieces,
            jobs,
            &Unwatched,
            |piece| piece * 10,
            |given| {
                taken.push(given);
                if given == last * 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        taken
    }

    #[test]
    fn pieces_are_taken_in_order_by_any_number_of_jobs() {
        let in_order: Vec<u64> = (0..100).map(|piece| piece * 10).collect();
        for jobs in [1, 2, 7] {
            assert_eq!(taken(100, jobs, 100), in_order);
        }
    }

    #[test]
    fn nothing_behind_a_break_is_taken() {
        for jobs in [1, 2, 7] {
            assert_eq!(taken(1_000, jobs, 3), [0, 10, 20, 30]);
        }
    }

    #[test]
    fn no_piece_is_begun_once_time_is_up() {
        struct Over;
        impl Watch for Over {
            fn walked(&self, _: u64, _: u64) {}
            fn hunted(&self) {}
            fn goes_on(&self) -> bool {
                false
            }
        }
        share(3, 2, &Over, |_| unreachable!("time is up"), |()| ControlFlow::Continue(()));
    }
}
