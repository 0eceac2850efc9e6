//! The effect of the writer's commands on the database in memory.

use order::ports::StoreError;

use super::Connection;
use crate::sources::sqlite_command::{Answer, Command};

pub type Reply = Box<dyn FnOnce(Result<(), StoreError>)>;

#[derive(Clone, Copy)]
pub enum SyncMode {
    Always,
}

impl SyncMode {
    pub fn set(&mut self, next: Self, _: &Connection) -> super::Result<()> {
        *self = next;
        Ok(())
    }
}

pub fn syncing(_: &[Command]) -> SyncMode {
    SyncMode::Always
}

pub fn command(
    database: &Connection,
    command: Command,
    replies: &mut Vec<Reply>,
) -> super::Result<()> {
    match command {
        Command::Offer(row, answer) => {
            database.insert(*row);
            replies.push(reply(answer, *row));
        }
        Command::Ping(answer) => replies.push(reply(answer, ())),
        Command::Record(..)
        | Command::Claim(..)
        | Command::Lapse { .. }
        | Command::Drop { .. }
        | Command::Write(..)
        | Command::Close(_) => unreachable!("no schedule sends it"),
    }
    Ok(())
}

fn reply<T: 'static>(answer: Answer<T>, outcome: T) -> Reply {
    Box::new(move |committed| {
        let _ = answer.send(committed.map(|()| outcome));
    })
}
