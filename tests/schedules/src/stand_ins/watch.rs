//! tokio's watch channel, with a switch of tasks before each step.

use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

use super::step;

pub use tokio::sync::watch::Ref;

pub struct Sender<T>(watch::Sender<T>);

pub struct Receiver<T>(watch::Receiver<T>);

pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = watch::channel(value);
    (Sender(sender), Receiver(receiver))
}

impl<T> Sender<T> {
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        step();
        self.0.send_modify(modify);
    }

    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        step();
        self.0.send_if_modified(modify)
    }

    pub fn subscribe(&self) -> Receiver<T> {
        step();
        Receiver(self.0.subscribe())
    }

    pub fn borrow(&self) -> Ref<'_, T> {
        step();
        self.0.borrow()
    }
}

impl<T> Receiver<T> {
    pub async fn wait_for(
        &mut self,
        condition: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        step();
        self.0.wait_for(condition).await
    }
}
