//! Answers calls of a project's functions over pipes; the process is sealed before the first one.
//!
//! A frame is a length (32 bits, big-endian) and a MessagePack value: `[id, name, arguments]` comes in, and
//! `[id, status, value, trace]` goes out. A name before `#work` asks for nanoseconds: the least of five runs.

use crate::wire::{Put, Reader, list, text, whole};
use std::any::Any;
use std::cell::RefCell;
use std::io::{Read, Write, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook};
use std::sync::OnceLock;
use std::time::Instant;

const RAISED: i64 = 1;
const UNFIT: i64 = 3;
const MAX_FRAME: usize = 8 << 20;
const MAX_TRACE: usize = 1 << 20;
const STACK: usize = 256 << 20;
const RUNS: usize = 5;

/// Calls that the body made itself of other functions of the project.
#[derive(Default)]
struct Trace {
    bytes: Vec<u8>,
    count: usize,
    depth: i32,
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}
static VARIANT: OnceLock<usize> = OnceLock::new();

/// The number of the bodies that are served.
pub fn variant() -> usize {
    *VARIANT.get().unwrap_or(&0)
}

/// Calls another function of the project, and notes with what, and what came of it.
pub fn traced<T: Put>(name: &str, arguments: &[&dyn Put], call: impl FnOnce() -> T) -> T {
    let noted = TRACE.with_borrow_mut(|trace| {
        trace.depth += 1;
        trace.depth == 1 && trace.bytes.len() <= MAX_TRACE
    });
    let mut entry = Vec::new();
    if noted {
        list(&mut entry, 4);
        text(&mut entry, name);
        list(&mut entry, arguments.len());
        arguments.iter().for_each(|argument| argument.put(&mut entry));
    }
    let ended = catch_unwind(AssertUnwindSafe(call));
    TRACE.with_borrow_mut(|trace| {
        trace.depth -= 1;
        if noted {
            outcome(&mut entry, &ended);
            trace.bytes.append(&mut entry);
            trace.count += 1;
        }
    });
    ended.unwrap_or_else(|thrown| resume_unwind(thrown))
}

fn outcome<T: Put>(out: &mut Vec<u8>, ended: &Result<T, Box<dyn Any + Send>>) {
    match ended {
        Ok(value) => {
            whole(out, value.status());
            value.put(out);
        }
        Err(thrown) => {
            let said = thrown.downcast_ref::<String>().map(String::as_str);
            let words = said.or(thrown.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            whole(out, RAISED);
            list(out, 2);
            text(out, "panic");
            text(out, words);
        }
    }
}

/// Writes what comes of a call: its result, or how long it takes.
pub fn answer<T: Put>(out: &mut Vec<u8>, timed: bool, call: impl Fn() -> T) {
    let begin = |trace: &mut Trace| *trace = Trace { depth: -1, ..Trace::default() };
    let run = || {
        TRACE.with_borrow_mut(begin); // the call itself is none that a body made
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(&call));
        (begun.elapsed(), ended)
    };
    let (mut spent, ended) = run();
    if timed && ended.is_ok() {
        (1..RUNS).for_each(|_| spent = spent.min(run().0));
        whole(out, 0);
        whole(out, spent.as_nanos() as i64);
        out.push(0xc0);
        return;
    }
    outcome(out, &ended);
    TRACE.with_borrow(|trace| {
        if trace.bytes.len() > MAX_TRACE {
            out.push(0xc0);
        } else {
            list(out, trace.count);
            out.extend(&trace.bytes);
        }
    });
}

/// A call by name: takes the arguments off the frame, and writes what comes of it.
pub type Dispatch = fn(&str, bool, &mut Reader, &mut Vec<u8>) -> Result<(), String>;

/// Answers until there are no more calls.
pub fn serve(dispatch: Dispatch) {
    let arguments: Vec<String> = std::env::args().collect();
    VARIANT.get_or_init(|| arguments[2].parse().expect("the number of the variant"));
    set_hook(Box::new(|_| ()));
    let serving = move || {
        let mut hello = Vec::new();
        list(&mut hello, 4);
        whole(&mut hello, 0);
        whole(&mut hello, 0);
        text(&mut hello, seal(&arguments[1]));
        hello.push(0xc0);
        send(&hello);
        while let Some(frame) = received() {
            let mut from = Reader(&frame);
            let (id, name) = from.request().expect("a call");
            let mut out = Vec::new();
            list(&mut out, 4);
            whole(&mut out, id);
            let (head, bare) = (out.len(), name.trim_end_matches("#work"));
            if let Err(why) = dispatch(bare, bare.len() < name.len(), &mut from, &mut out) {
                out.truncate(head);
                whole(&mut out, UNFIT);
                text(&mut out, &why);
                list(&mut out, 0);
            }
            send(&out);
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(serving).expect("a thread").join().ok();
}

fn received() -> Option<Vec<u8>> {
    let mut size = [0; 4];
    stdin().lock().read_exact(&mut size).ok()?;
    let mut frame = vec![0; u32::from_be_bytes(size) as usize];
    stdin().lock().read_exact(&mut frame).ok()?;
    Some(frame)
}

fn send(frame: &[u8]) {
    if frame.len() > MAX_FRAME {
        std::process::exit(3);
    }
    let mut whole = (frame.len() as u32).to_be_bytes().to_vec();
    whole.extend(frame);
    let mut out = stdout().lock();
    out.write_all(&whole).and_then(|()| out.flush()).ok();
}

unsafe extern "C" {
    fn prctl(option: i32, first: u64, second: u64, third: u64, fourth: u64) -> i32;
    fn syscall(number: i64, operation: u64, flags: u64, program: *const Program) -> i64;
}

#[repr(C)]
struct Program {
    count: u16,
    first: *const u8,
}

/// Puts a filter of system calls, in hexadecimal, over all threads, and says so; an empty one is none.
fn seal(filter: &str) -> &'static str {
    if filter.is_empty() {
        return "";
    }
    let byte = |place| u8::from_str_radix(&filter[place..place + 2], 16).expect("a filter");
    let bytes: Vec<u8> = (0..filter.len()).step_by(2).map(byte).collect();
    let program = Program { count: (bytes.len() / 8) as u16, first: bytes.as_ptr() };
    let seccomp = if cfg!(target_arch = "aarch64") { 277 } else { 317 };
    // SAFETY: both calls read what they are given and keep nothing of it.
    let refused = unsafe { prctl(38, 1, 0, 0, 0) != 0 || syscall(seccomp, 1, 1, &program) != 0 };
    if refused {
        std::process::exit(4);
    }
    "seccomp"
}
