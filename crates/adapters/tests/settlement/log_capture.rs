//! The log lines of one test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use tracing_subscriber::fmt;

/// What the log of the whole process is written to.
#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

static LOG: OnceLock<LogBuffer> = OnceLock::new();

/// Reads what this test has logged. There is one subscriber for the whole process, since one of a
/// thread can be skipped while others come and go; a line has the name of its test.
pub(crate) fn log_of_this_test() -> impl Fn() -> Vec<String> {
    let buffer = LOG.get_or_init(|| {
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let log = fmt().with_ansi(false).with_thread_names(true);
        let log = log.with_writer(move || writer.clone()).finish();
        tracing::subscriber::set_global_default(log).unwrap();
        // Another test may have logged while it was set.
        tracing::callsite::rebuild_interest_cache();
        buffer
    });
    let this_test = thread::current().name().unwrap().to_owned();
    move || {
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(&this_test)).map(str::to_owned).collect()
    }
}
