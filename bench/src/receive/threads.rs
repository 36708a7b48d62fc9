//! Mail as an inbox gets it: threads that grow side by side, round after round.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::mails::{Customers, SampleMail};
use super::sender::SmtpSender;

/// Mails of a thread, from the customer.
pub const THREAD_MAILS: usize = 4;
/// One thread of so many brings a file that is read.
const THREADS_PER_INVOICE: usize = 5;

/// Threads of customers' mail to one inbox.
pub struct MailThreads {
    threads: Vec<Vec<SampleMail>>,
    to: String,
}

impl MailThreads {
    /// Writes about so many mails.
    pub fn write(customers: &mut Customers, mails: usize, to: &str) -> Result<MailThreads, String> {
        let threads = (0..mails.div_ceil(THREAD_MAILS)).map(|number| {
            let has_invoice = number % THREADS_PER_INVOICE == 0;
            customers.write_thread(number, to, THREAD_MAILS, has_invoice)
        });
        Ok(MailThreads { threads: threads.collect::<Result<_, _>>()?, to: to.to_owned() })
    }

    /// How often every thread gets a mail.
    pub fn rounds(&self) -> usize {
        THREAD_MAILS
    }

    /// Sends the next mail of each thread; returns how many were acknowledged in a second. Mails of another
    /// name are other mails of other threads.
    pub fn send_round(
        &self,
        name: &str,
        round: usize,
        connections: usize,
        smtp: SocketAddr,
    ) -> Result<f64, String> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), String> {
            let mut sender = SmtpSender::connect(smtp)?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(thread) = self.threads.get(number) else { return Ok(()) };
                let Some(mail) = thread.get(round) else { continue };
                let id = |round: usize| format!("{name}-{number}-{round}");
                let bytes = match round {
                    0 => mail.with_id(&id(0)),
                    _ => mail.with_id_in_thread(&id(round), &id(round - 1)),
                };
                sender.send_bytes(&mail.sender, &self.to, &bytes)?;
            }
        };
        let began = Instant::now();
        thread::scope(|scope| {
            let senders: Vec<_> = (0..connections.max(1)).map(|_| scope.spawn(work)).collect();
            senders
                .into_iter()
                .try_for_each(|sender| sender.join().map_err(|_| "a sender stopped".to_owned())?)
        })?;
        Ok(self.threads.len() as f64 / began.elapsed().as_secs_f64())
    }
}
