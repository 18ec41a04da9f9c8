/** What the generated tests stand on: one call with its outcome, and a message that says which promise broke. */

import fc from "fast-check";
import { onTestFinished, vi } from "vitest";

export * from "../../src/by-value.js";

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
declare const performance: { now(): number };

const EXAMPLES = Number(process.env["CRITICALITY_EXAMPLES"] ?? "100");
/** A text that a body which is still to do throws. */
const UNDONE = "not implemented";

/** How a call ended: with a result, or with an error. */
export interface Outcome<T> {
  readonly result: T;
  readonly error: unknown;
}

/** Call it; a body that is still to do is no outcome. */
export function call<T>(work: () => T): Outcome<T> {
  try {
    return { result: work(), error: undefined };
  } catch (error) {
    if (undone(error)) throw error;
    return { result: undefined as T, error };
  }
}

/** Whether an outcome is an error of that kind. */
export function raised(outcome: Outcome<unknown>, kind: new () => Error): boolean {
  return outcome.error instanceof kind;
}

function undone(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && error.message === UNDONE;
}

/** Fail with the promise and the values for which it does not hold. */
export function holds(
  promise: string,
  condition: () => boolean,
  given: Readonly<Record<string, unknown>>,
  outcome?: Outcome<unknown>,
): void {
  const shown = Object.entries(given).map(([name, value]) => `${name}=${fc.stringify(value)}`).join(", ");
  const tail = (shown === "" ? "" : ` for ${shown}`) + (outcome === undefined ? "" : `; ${ending(outcome)}`);
  let kept: boolean;
  try {
    kept = condition();
  } catch (error) {
    if (undone(error)) throw error;
    throw new Error(`${promise} cannot be evaluated (${String(error)})${tail}`);
  }
  if (!kept) throw new Error(`${promise} does not hold${tail}`);
}

function ending({ error, result }: Outcome<unknown>): string {
  return error === undefined ? `the result was ${fc.stringify(result)}` : `it threw ${String(error)}`;
}

const settings = { numRuns: EXAMPLES, seed: 1, maxSkipsPerRun: 1000, includeErrorInReport: false };

/** Try a property with as many examples as are wanted: always the same ones. */
export function check<T>(property: fc.IProperty<T>): void {
  fc.assert<T>(property, { ...settings, reporter: told });
}

/** The same for a property that awaits. */
export async function checkAsync<T>(property: fc.IAsyncProperty<T>): Promise<void> {
  await fc.assert(property, { ...settings, asyncReporter: (run) => Promise.resolve(told(run)) });
}

function told<T>(run: fc.RunDetails<T>): void {
  if (!run.failed) return;
  if (run.errorInstance instanceof Error) throw run.errorInstance;
  if (run.numRuns === 0) throw new Error("no value fits what is assumed");
}

/** Seconds since 1970 at the beginning of every example that has a clock. */
const BEGINNING = 1_700_000_000;

/** A clock that stands still until it is moved, as long as the test lasts. Stopwatches go on. */
export function clock(): void {
  if (!vi.isFakeTimers()) onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({
    now: BEGINNING * 1000,
    toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
  });
}

/** The time, in seconds since 1970. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Move the clock, and run what was to happen meanwhile; gives the new time. */
export function advance(seconds: number): number {
  if (seconds < 0) throw new RangeError("a clock goes forward");
  vi.advanceTimersByTime(seconds * 1000);
  return now();
}

/** Values of a size, always the same ones. */
export function sample<T>(values: fc.Arbitrary<T>): T {
  const [found] = fc.sample(values, { numRuns: 1, seed: 1 });
  return found as T;
}

const DOUBLINGS = 5;
const ROUNDS = 7;
const SHORTEST_MS = 2;
const LONGEST_MS = 1500;

/**
 * How fast the time of some work grows with its size: the slope on a logarithmic scale, of the best of several
 * rounds each. Classes are far apart there; a slow or busy machine moves all points alike.
 */
export function growth(smallest: number, prepare: (size: number) => () => unknown): number {
  const points: (readonly [number, number])[] = [];
  for (let size = smallest; points.length < DOUBLINGS; size *= 2) {
    const work = prepare(size);
    work();
    const times = Array.from({ length: ROUNDS }, () => timed(work));
    const best = Math.min(...times);
    points.push([Math.log(size), Math.log(best)]);
    if (best * ROUNDS > LONGEST_MS) break;
  }
  if (points.length < 2) return Infinity;
  const mean = (values: number[]): number => values.reduce((total, value) => total + value, 0) / values.length;
  const x = mean(points.map(([size]) => size));
  const y = mean(points.map(([, time]) => time));
  const along = points.reduce((total, [size, time]) => total + (size - x) * (time - y), 0);
  return along / points.reduce((total, [size]) => total + (size - x) ** 2, 0);
}

/** Milliseconds of one run, from as many as fill the clock's grain. */
function timed(work: () => unknown): number {
  const begun = performance.now();
  let runs = 0;
  let spent: number;
  do {
    work();
    runs += 1;
    spent = performance.now() - begun;
  } while (spent < SHORTEST_MS);
  return spent / runs;
}
