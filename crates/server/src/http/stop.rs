//! The end of a service.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use crate::{Error, Result};

/// Tells all parts of a service to end.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Ends the service.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether the service is about to end.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the service is about to end.
    pub async fn wait(&self) {
        let mut stopped = self.0.subscribe();
        // The sender is in this value, so it is not gone.
        drop(stopped.wait_for(|ending| *ending).await);
    }

    /// Ends the service at SIGTERM or SIGINT.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn on_signals(&self) -> Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            let mut signals = signal(kind).map_err(|e| Error::io(Path::new("signals"), e))?;
            let stop = self.clone();
            tokio::spawn(async move {
                if signals.recv().await.is_some() {
                    stop.now();
                }
            });
        }
        Ok(())
    }
}
