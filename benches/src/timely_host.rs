//! The plain operators hosted in timely, in one worker on this thread: batches in, exchanged by user, results out.

use std::cell::RefCell;
use std::rc::Rc;

use timely::dataflow::InputHandle;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{Input, Inspect, Operator};

use crate::plain::Plain;
use crate::results::{Digest, Row, Sink};
use crate::workload::{Click, User};

/// The operator keeps the exact watermark of each event itself; timely's own time moves with each batch.
pub fn run<U: User>(clicks: &[Click<U>], make: impl FnOnce() -> Box<dyn Host<U>>) -> Digest {
    let mut worker = timely::worker::Worker::new(
        timely::WorkerConfig::default(),
        timely::communication::Allocator::Thread(Default::default()),
        None,
    );
    let digest = Rc::new(RefCell::new(Digest::default()));
    let found = Rc::clone(&digest);
    let mut operator = make();
    let mut input = InputHandle::new();
    worker.dataflow::<u64, _, _>(|scope| {
        let by_user = Exchange::new(|click: &Click<U>| click.user.word());
        scope
            .input_from(&mut input)
            .unary_frontier(by_user, "job", move |capability, _| {
                let mut capability = Some(capability);
                move |(input, frontier), output| {
                    let mut rows = Vec::new();
                    input.for_each_stamp(|_, data| {
                        for batch in data {
                            batch.drain(..).for_each(|click| operator.push(&click, &mut rows));
                        }
                    });
                    if frontier.is_empty() {
                        operator.finish(&mut rows);
                    }
                    if let Some(capability) = &capability {
                        output.session(capability).give_iterator(rows.into_iter());
                    }
                    if frontier.is_empty() {
                        capability = None;
                    }
                }
            })
            .container::<Vec<_>>()
            .inspect(move |row: &Row<U>| found.borrow_mut().result(row.start, row.end, &row.user, row.sum, row.update));
    });
    for chunk in clicks.chunks(1_024) {
        input.send_batch(&mut chunk.to_vec());
        worker.step();
    }
    input.close();
    while worker.step() {}
    *digest.borrow()
}

/// A plain operator behind a pointer.
pub trait Host<U>: 'static {
    fn push(&mut self, click: &Click<U>, out: &mut Vec<Row<U>>);
    fn finish(&mut self, out: &mut Vec<Row<U>>);
}

impl<U: User, P: Plain<U> + 'static> Host<U> for P {
    fn push(&mut self, click: &Click<U>, out: &mut Vec<Row<U>>) {
        Plain::push(self, click, out);
    }

    fn finish(&mut self, out: &mut Vec<Row<U>>) {
        Plain::finish(self, out);
    }
}
