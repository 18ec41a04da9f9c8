//! What the tests stand on: one call with its outcome, and a message that says which promise broke.
#![allow(dead_code)]

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// How one drawn case went.
pub type Case = Result<(), TestCaseError>;

/// How a call ended: a result, an error of the domain, or a panic.
#[derive(Debug, Clone)]
pub enum Outcome<T, E> {
    Value(T),
    Error(E),
    Panic(String),
}

impl<T: Debug, E: Debug + PartialEq> Outcome<T, E> {
    /// Whether it ended with that error.
    pub fn raises(&self, error: &E) -> bool {
        matches!(self, Outcome::Error(found) if found == error)
    }

    /// Whether it ended with a result.
    pub fn is_value(&self) -> bool {
        matches!(self, Outcome::Value(_))
    }

    /// In words.
    pub fn told(&self) -> String {
        match self {
            Outcome::Value(value) => format!("the result was {value:?}"),
            Outcome::Error(error) => format!("it returned the error {error:?}"),
            Outcome::Panic(message) => format!("it panicked: {message}"),
        }
    }
}

/// Call what may return an error; a body that is still to do is no outcome.
pub fn attempt<T, E>(call: impl FnOnce() -> Result<T, E>) -> Outcome<T, E> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Outcome::Value(value),
        Ok(Err(error)) => Outcome::Error(error),
        Err(payload) => Outcome::Panic(message(payload.as_ref())),
    }
}

/// Call what always returns a value.
pub fn call<T, E>(call: impl FnOnce() -> T) -> Outcome<T, E> {
    attempt(|| Ok(call()))
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    let text = text.unwrap_or_else(|| "a panic".to_string());
    assert!(!text.contains("not yet implemented"), "{text}");
    text
}

/// Fail with the promise and the values for which it does not hold.
pub fn holds(promise: &str, shown: impl FnOnce() -> String, condition: impl FnOnce() -> bool) -> Case {
    match catch_unwind(AssertUnwindSafe(condition)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(TestCaseError::fail(format!("{promise} does not hold for {}", shown()))),
        Err(payload) => {
            let why = message(payload.as_ref());
            Err(TestCaseError::fail(format!("{promise} cannot be evaluated ({why}) for {}", shown())))
        }
    }
}

/// One step of a claim's test; one that does not come to an end breaks the promise.
pub fn step<T>(promise: &str, name: &str, make: impl FnOnce() -> T) -> Result<T, TestCaseError> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|payload| {
        TestCaseError::fail(format!("{promise} does not hold: {name} panicked: {}", message(payload.as_ref())))
    })
}

/// Draw again unless it holds.
pub fn assume(condition: bool) -> Case {
    if condition { Ok(()) } else { Err(TestCaseError::reject("it assumes otherwise")) }
}

/// The same cases every time: a result is a property of the code, not of the day.
pub fn property<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Case)
where
    S::Value: Debug,
{
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let config = Config {
        cases,
        failure_persistence: None,
        max_global_rejects: cases * 100,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let held = Cell::new(0_u32);
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(strategy, |value| {
        let ended = test(value);
        held.set(held.get() + u32::from(ended.is_ok()));
        ended
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(TestError::Abort(_)) => assert!(held.get() > 0, "no drawn values fulfil what it assumes"),
    }
}

/// One case without drawn values.
pub fn example(test: impl FnOnce() -> Case) {
    if let Err(error) = test() {
        panic!("{}", error.to_string().trim_start_matches("Test failed: "));
    }
}

/// The mocked clock of temporal claims: whole seconds since 1970, moved by hand.
#[derive(Debug)]
pub struct Clock(Cell<i64>);

impl Default for Clock {
    fn default() -> Self {
        Self(Cell::new(1_000_000))
    }
}

impl Clock {
    /// What time it is.
    pub fn now(&self) -> i64 {
        self.0.get()
    }

    /// Let time pass; the new time.
    pub fn advance(&self, seconds: i64) -> i64 {
        self.0.set(self.0.get() + seconds);
        self.0.get()
    }
}

const LANES: usize = 4;

/// The same steps in several threads at once: each must hold, and all must come to the same.
pub fn in_lanes<T: PartialEq + Debug + Send>(promise: &str, lane: impl Fn() -> Result<T, TestCaseError> + Sync) -> Case {
    let together = Barrier::new(LANES);
    let ended: Vec<_> = thread::scope(|scope| {
        let run = || {
            together.wait();
            catch_unwind(AssertUnwindSafe(&lane))
        };
        let started: Vec<_> = (0..LANES).map(|_| scope.spawn(run)).collect();
        started.into_iter().map(|thread| thread.join()).collect()
    });
    let mut results = Vec::new();
    for outcome in ended {
        match outcome.and_then(|inner| inner) {
            Ok(result) => results.push(result?),
            Err(payload) => return Err(TestCaseError::fail(format!("{promise}: {}", message(payload.as_ref())))),
        }
    }
    if results.windows(2).all(|pair| pair[0] == pair[1]) {
        Ok(())
    } else {
        Err(TestCaseError::fail(format!("{promise} does not hold: lanes came to {results:?}")))
    }
}

/// Time grows no faster than `slope` on a scale of logarithms, from the best of several runs at each size.
pub fn grows<R: Fn() -> Duration>(
    promise: &str,
    class: &str,
    slope: f64,
    sizes: &[usize],
    prepare: impl Fn(usize) -> R,
) {
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .map(|&size| {
            let run = prepare(size);
            let best = (0..4).map(|_| run()).min().unwrap_or_default();
            ((size as f64).ln(), (best.as_secs_f64() + 1e-7).ln())
        })
        .collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
    let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let measured = rise / spread;
    assert!(measured < slope + 0.5, "{promise} does not hold: slope {measured:.2} is not {class}");
}

/// How long three calls take.
pub fn timed<T>(call: impl Fn() -> T) -> Duration {
    let started = Instant::now();
    for _ in 0..3 {
        std::hint::black_box(call());
    }
    started.elapsed()
}

/// One drawn value.
pub fn sample<S: Strategy>(strategy: &S) -> S::Value {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    strategy.new_tree(&mut runner).expect("a value of the type").current()
}
