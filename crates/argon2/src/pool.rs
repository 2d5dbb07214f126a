//! Sharing lanes between the threads of a caller.

use crate::fill::Task;

/// The caller's threads. With rayon, `run` is `tasks.into_par_iter().for_each(Task::run)`.
///
/// ```
/// use sealstone_argon2::{Argon2, Arena, Params, Pool, Task};
///
/// /// A new thread for every task.
/// struct Scoped;
/// impl Pool for Scoped {
///     fn threads(&self) -> usize {
///         2
///     }
///     fn run(&self, tasks: Vec<Task<'_>>) {
///         std::thread::scope(|scope| {
///             for task in tasks {
///                 scope.spawn(|| task.run());
///             }
///         });
///     }
/// }
/// let argon2 = Argon2::new(Params::new(256, 1, 4)?).pool(&Scoped);
/// argon2.hash(b"password", b"some salt", &mut [0; 32], &mut Arena::new())?;
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
pub trait Pool: Sync {
    /// The number of tasks that can run at the same time.
    fn threads(&self) -> usize;
    /// Runs all tasks, on any threads and in any order. Returns when they are done.
    fn run(&self, tasks: Vec<Task<'_>>);
}

/// Runs a task of `lanes` lanes in as many equal parts as there are threads.
pub(crate) fn share(pool: &dyn Pool, task: Task<'_>, lanes: usize) {
    let threads = pool.threads().clamp(1, lanes);
    if threads == 1 {
        task.run();
        return;
    }
    let each = lanes.div_ceil(threads);
    let mut tasks = Vec::with_capacity(threads);
    let mut rest = Some(task);
    while let Some((part, others)) = rest.take().and_then(|task| task.split(each)) {
        tasks.push(part);
        rest = Some(others);
    }
    pool.run(tasks);
}
