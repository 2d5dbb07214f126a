//! Work on batches: on all processors with the feature `rayon`, else on the caller's thread.
//! Results come in the order of the input. The caller may end it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::Error;

type GoesOn = Rc<dyn Fn() -> bool>;

thread_local! {
    static ASKED: RefCell<Option<GoesOn>> = const { RefCell::new(None) };
}

/// Items between two checks for cancelling: some ten milliseconds of work.
const PIECE: usize = 256;

/// Calls `work`. It asks `goes_on` repeatedly while `work` processes batches. If the answer is no,
/// they end with [`Error::Cancelled`]. Other threads do not ask, so with the feature `rayon` only
/// the steps of the work are parts.
///
/// ```
/// use sealstone_token::voprf::{P384Sha384, verifiable::Server};
/// use sealstone_token::voprf::verifiable::Client;
/// use sealstone_token::{Error, cancellable};
///
/// let server = Server::<P384Sha384>::generate();
/// let blind = || Client::blind(server.key().public_key(), &[b"one"]).map(|_| ());
/// assert_eq!(cancellable(|| false, blind), Err(Error::Cancelled));
/// assert_eq!(blind(), Ok(()));
/// ```
pub fn cancellable<T>(goes_on: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> T {
    /// Puts back what was asked before, also after a panic.
    struct Before(Option<GoesOn>);
    impl Drop for Before {
        fn drop(&mut self) {
            ASKED.set(self.0.take());
        }
    }
    let _before = Before(ASKED.replace(Some(Rc::new(goes_on))));
    work()
}

/// Waking a second thread takes longer than the work on fewer items than this.
#[cfg(feature = "rayon")]
const MIN_ITEMS: usize = 4;

/// `work` on each chunk of `items`, the results joined in order.
///
/// # Errors
/// The first that a chunk returns; [`Error::Cancelled`].
pub(crate) fn try_chunks<T: Sync, U: Send>(
    items: &[T],
    work: impl Fn(&[T]) -> Result<Vec<U>, Error> + Sync + Send,
) -> Result<Vec<U>, Error> {
    let asked = ASKED.with_borrow(Option::clone);
    let go_on = || match &asked {
        Some(goes_on) if !goes_on() => Err(Error::Cancelled),
        _ => Ok(()),
    };
    go_on()?;
    #[cfg(feature = "rayon")]
    if is_batch(items.len()) {
        use rayon::prelude::*;

        let len = chunk_len(items.len(), rayon::current_num_threads());
        let parts: Result<Vec<Vec<U>>, Error> = items.par_chunks(len).map(work).collect();
        return Ok(parts?.into_iter().flatten().collect());
    }
    if asked.is_none() {
        return work(items);
    }
    let mut done = Vec::with_capacity(items.len());
    for piece in items.chunks(PIECE) {
        go_on()?;
        done.extend(work(piece)?);
    }
    Ok(done)
}

/// `left` and `right`, at the same time if there are `items` enough.
#[cfg_attr(
    not(feature = "rayon"),
    expect(
        unused_variables,
        reason = "one thread does both, however many there are"
    )
)]
pub(crate) fn join<A: Send, B: Send>(
    items: usize,
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "rayon")]
    if is_batch(items) {
        return rayon::join(left, right);
    }
    (left(), right())
}

/// Whether more than one thread should work on this number of items.
#[cfg(feature = "rayon")]
fn is_batch(items: usize) -> bool {
    items >= MIN_ITEMS
}

/// Four chunks a thread, so that a thread that is late delays the others by little.
#[cfg(feature = "rayon")]
fn chunk_len(items: usize, threads: usize) -> usize {
    items.div_ceil(4 * threads).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for len in [0, 1, 3, 4, 5, 100] {
            let items: Vec<usize> = (0..len).collect();
            let doubled: Result<Vec<usize>, Error> = try_chunks(&items, |chunk| {
                Ok(chunk.iter().map(|item| item * 2).collect())
            });
            assert_eq!(doubled, Ok((0..len).map(|item| item * 2).collect()));
            assert_eq!(join(len, || 'l', || 'r'), ('l', 'r'));
        }
    }

    #[cfg(not(feature = "rayon"))]
    #[test]
    fn work_in_parts_is_the_same_and_ends_between_two() {
        use std::cell::Cell;

        let items: Vec<usize> = (0..4 * PIECE + 1).collect();
        let all = || try_chunks(&items, |chunk| Ok(chunk.to_vec()));
        assert_eq!(cancellable(|| true, all), Ok(items.clone()));
        for stop in 0..7 {
            let asked = Rc::new(Cell::new(0));
            let count = Rc::clone(&asked);
            let done = cancellable(move || count.replace(count.get() + 1) < stop, all);
            // Once before the work, and before each of five parts.
            let whole = stop == 6;
            assert_eq!(done.is_ok(), whole, "{stop}");
            assert_eq!(done.err(), (!whole).then_some(Error::Cancelled));
            assert_eq!(asked.get(), (stop + 1).min(6));
        }
        assert_eq!(all(), Ok(items.clone()), "nobody is asked any more");
    }

    #[cfg(not(feature = "rayon"))]
    #[test]
    fn one_thread_does_everything() {
        use std::thread::{ThreadId, current};

        let threads: Result<Vec<ThreadId>, Error> = try_chunks(&[0; 1000], |chunk| {
            assert_eq!(chunk.len(), 1000, "one chunk");
            Ok(vec![current().id()])
        });
        assert_eq!(threads, Ok(vec![current().id()]));
        let (left, right) = join(1000, || current().id(), || current().id());
        assert_eq!((left, right), (current().id(), current().id()));
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn small_batches_stay_on_one_thread() {
        assert_eq!([0, 3, 4, 5].map(is_batch), [false, false, true, true]);
        // Each of the threads gets four chunks of nearly the same length.
        let cases = [(100, 2), (100, 1), (96, 2), (4, 2), (1, 8), (1000, 8)];
        let lens = cases.map(|(items, threads)| chunk_len(items, threads));
        assert_eq!(lens, [13, 25, 12, 1, 1, 32]);
    }
}
