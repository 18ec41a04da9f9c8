/**
 * Answers calls of a project's functions over pipes; node itself was started without files, processes and workers.
 *
 * A frame is a length (32 bits, big-endian) and a MessagePack value: [id, name, arguments] comes in, and
 * [id, status, value, trace] goes out. A name before "#work" asks for nanoseconds: the least of five runs.
 */
import { readSync, writeSync } from "node:fs";
import { Form, Reader, Writer } from "./codec.js";

const RETURNED = 0;
const RAISED = 1; // the value is the error's name and its words
const CHANGED = 2; // an argument; the value says which
const UNFIT = 3; // an argument cannot be made in this language; the value says why
const MAX_FRAME = 8 << 20;
const MAX_TRACE = 1 << 20;
const RUNS = 5;

export interface Served {
  readonly call: (...values: any[]) => unknown;
  readonly parameters: readonly Form<any>[];
  readonly result: Form<any>;
}

/** The number of the bodies that are served. */
export const $variant = Number(process.argv.at(-1));

let functions: Record<string, Served> = {};
let calls: Buffer[] = []; // that the body made itself, of other functions of the project
let traced = 0;
let depth = 0;

/** Call another function of the project, and note with what, and what came of it. */
export function $traced<T>(name: string, values: readonly unknown[], call: () => T): T {
  depth += 1;
  try {
    if (depth !== 1 || traced > MAX_TRACE) return call();
    const entry = new Writer().list(4).text(name);
    list(entry, functions[name]!, values);
    const before = entry.length;
    try {
      const value = call();
      functions[name]!.result.write(entry.integer(RETURNED), value);
      return value;
    } catch (thrown) {
      entry.length = before;
      failure(entry.integer(RAISED), thrown);
      throw thrown;
    } finally {
      traced += entry.length;
      if (traced <= MAX_TRACE) calls.push(entry.bytes());
    }
  } finally {
    depth -= 1;
  }
}

function list(out: Writer, served: Served, values: readonly unknown[]): Writer {
  out.list(values.length);
  values.forEach((value, place) => served.parameters[place]!.write(out, value));
  return out;
}

function failure(out: Writer, thrown: unknown): void {
  const known = thrown instanceof Error;
  out.list(2).text(known ? thrown.name : "thrown").text(known ? thrown.message : String(thrown));
}

/** Answer until there are no more calls. */
export function serve(table: Record<string, Served>): void {
  functions = table;
  console.log = console.info = console.debug = () => undefined; // answers alone go out
  send(new Writer().list(4).integer(0).integer(0).text(`node's permissions; ${process.argv.at(-2)}`).nothing());
  for (;;) {
    const size = received(4);
    const frame = size && received(size.readUInt32BE());
    if (!frame) return;
    send(answered(new Reader(frame)));
  }
}

function answered(input: Reader): Writer {
  input.items(3);
  const out = new Writer().list(4).raw(input);
  const asked = input.text();
  const timed = asked.endsWith("#work");
  const served = functions[asked.replace("#work", "")]!;
  [calls, traced] = [[], 0];
  const head = out.length;
  let values: unknown[];
  try {
    input.items(served.parameters.length);
    values = served.parameters.map((form) => form.read(input));
  } catch (refused) {
    return out.integer(UNFIT).text(String(refused)).list(0);
  }
  const before = list(new Writer(), served, values).bytes();
  let begun = process.hrtime.bigint();
  let spent = 0n;
  try {
    const value = called(served, values);
    spent = process.hrtime.bigint() - begun;
    served.result.write(out.integer(RETURNED), value);
  } catch (thrown) {
    out.length = head;
    failure(out.integer(RAISED), thrown);
  }
  if (!before.equals(list(new Writer(), served, values).bytes())) {
    out.length = head;
    out.integer(CHANGED).text("an argument");
  }
  if (timed && spent > 0n) {
    for (let run = 1; run < RUNS; run += 1) {
      begun = process.hrtime.bigint();
      called(served, values);
      const again = process.hrtime.bigint() - begun;
      if (again < spent) spent = again;
    }
    out.length = head;
    return out.integer(RETURNED).integer(Number(spent)).nothing();
  }
  if (traced > MAX_TRACE) return out.nothing();
  out.list(calls.length);
  for (const call of calls) out.put(call);
  return out;
}

function called(served: Served, values: readonly unknown[]): unknown {
  depth = -1; // the call itself is none that a body made
  return served.call(...values);
}

function received(size: number): Buffer | undefined {
  const frame = Buffer.allocUnsafe(size);
  for (let place = 0; place < size; ) {
    const count = readSync(0, frame, place, size - place, null);
    if (count === 0) return undefined;
    place += count;
  }
  return frame;
}

function send(out: Writer): void {
  if (out.length > MAX_FRAME) process.exit(3);
  const frame = Buffer.concat([Buffer.alloc(4), out.bytes()]);
  frame.writeUInt32BE(out.length);
  for (let place = 0; place < frame.length; ) place += writeSync(1, frame, place);
}
