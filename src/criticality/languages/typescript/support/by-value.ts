/** How values are compared and computed with: by value, all the way down, and never outside of what there is. */

import { Decimal } from "decimal.js";

/** Whether two values are the same. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return Number.isNaN(left) && Number.isNaN(right);
  }
  if (left instanceof Decimal && right instanceof Decimal) return left.equals(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (left instanceof Uint8Array && right instanceof Uint8Array) return same([...left], [...right]);
  if (left instanceof Set && right instanceof Set) {
    return left.size === right.size && [...left].every((item) => right.has(item));
  }
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size && [...left].every(([key, held]) => right.has(key) && same(held, right.get(key)));
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, place) => same(item, right[place]));
  }
  const first = Object.entries(left);
  const second = new Map(Object.entries(right));
  return first.length === second.size && first.every(([name, held]) => second.has(name) && same(held, second.get(name)));
}

/** Below zero, zero or above: numbers, texts by character, times, and lists or tuples of them. */
export function compare(left: unknown, right: unknown): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return compare(codes(left), codes(right));
  if (left instanceof Decimal && right instanceof Decimal) return left.comparedTo(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (Array.isArray(left) && Array.isArray(right)) {
    for (const [place, item] of left.entries()) {
      if (place >= right.length) return 1;
      const found = compare(item, right[place]);
      if (found !== 0) return found;
    }
    return left.length - right.length;
  }
  throw new TypeError("these values have no order");
}

function codes(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

/** The quotient, rounded down. */
export function floorDivide(left: number, right: number): number {
  if (right === 0) throw new RangeError("division by zero");
  return Math.floor(left / right);
}

/** The remainder, with the sign of the divisor. */
export function modulo(left: number, right: number): number {
  if (right === 0) throw new RangeError("division by zero");
  return left - right * Math.floor(left / right);
}

/** The quotient, of decimals rounded down. */
export function floorDivideDecimal(left: Decimal, right: Decimal): Decimal {
  return left.dividedBy(right).floor();
}

/** The value there is. */
export function get<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError("there is no value");
  return value;
}

/** How many characters a text has. */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** What stands at a position, from 0. */
export function at<T>(list: readonly T[], place: number): T {
  if (!Number.isInteger(place) || place < 0 || place >= list.length) throw new RangeError(`nothing stands at ${String(place)}`);
  return list[place] as T;
}

/** What stands from one position up to another, as far as there is something. */
export function slice<T>(list: readonly T[], start: number, stop: number): T[] {
  return list.slice(Math.max(0, start), Math.max(0, stop));
}

/** Whether a list holds an item. */
export function contains(list: readonly unknown[], item: unknown): boolean {
  return list.some((held) => same(held, item));
}

/** How often an item stands in a list. */
export function occurrences(list: readonly unknown[], item: unknown): number {
  return list.filter((held) => same(held, item)).length;
}

/** How often a text stands in a text, without overlaps. */
export function parts(text: string, part: string): number {
  return part === "" ? characters(text).length + 1 : text.split(part).length - 1;
}

/** Where an item stands first. */
export function position(list: readonly unknown[], item: unknown): number {
  const found = list.findIndex((held) => same(held, item));
  if (found < 0) throw new RangeError("it is not in the list");
  return found;
}

/** The value of a key. */
export function lookup<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  if (!map.has(key)) throw new RangeError("the map has no such key");
  return map.get(key) as V;
}

/** All numbers together. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** All decimals together. */
export function sumDecimals(numbers: readonly Decimal[]): Decimal {
  return numbers.reduce((total, number) => total.plus(number), new Decimal(0));
}

/** In ascending order; what is equal keeps its order. */
export function sorted<T>(list: readonly T[], key: (item: T) => unknown = (item) => item): T[] {
  return list
    .map((item) => ({ item, key: key(item) }))
    .sort((left, right) => compare(left.key, right.key))
    .map(({ item }) => item);
}

/** The first of the least. */
export function minimum<T>(list: readonly T[], key: (item: T) => unknown = (item) => item): T {
  return list.slice(1).reduce((least, item) => (compare(key(item), key(least)) < 0 ? item : least), at(list, 0));
}

/** The first of the greatest. */
export function maximum<T>(list: readonly T[], key: (item: T) => unknown = (item) => item): T {
  return list.slice(1).reduce((most, item) => (compare(key(item), key(most)) > 0 ? item : most), at(list, 0));
}

/** The other way round. */
export function reversed<T>(list: readonly T[]): T[] {
  return [...list].reverse();
}

/** Whole numbers from one to before another. */
export function range(start: number, stop: number, step = 1): number[] {
  if (step === 0) throw new RangeError("a step of zero leads nowhere");
  const count = Math.max(0, Math.ceil((stop - start) / step));
  return Array.from({ length: count }, (_, place) => start + place * step);
}

/** Lists side by side, as long as the shortest. */
export function zip<T extends readonly (readonly unknown[])[]>(...lists: T): { [K in keyof T]: T[K][number] }[] {
  const length = Math.min(...lists.map((list) => list.length));
  return range(0, length).map((place) => lists.map((list) => list[place]) as { [K in keyof T]: T[K][number] });
}

/** Each item with its number. */
export function enumerate<T>(list: readonly T[], start = 0): (readonly [number, T])[] {
  return list.map((item, place) => [place + start, item] as const);
}

/** What is in one set or the other. */
export function union<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): Set<T> {
  return new Set([...left, ...right]);
}

/** What is in both sets. */
export function intersection<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): Set<T> {
  return new Set([...left].filter((item) => right.has(item)));
}

/** What is in the one set only. */
export function difference<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): Set<T> {
  return new Set([...left].filter((item) => !right.has(item)));
}

/** Whether all of one set is in the other. */
export function subset<T>(left: ReadonlySet<T>, right: ReadonlySet<T>): boolean {
  return [...left].every((item) => right.has(item));
}

/** Whether a text is digits and nothing else. */
export function isDigits(text: string): boolean {
  return /^\p{Nd}+$/u.test(text);
}

/** Whether a text is letters and nothing else. */
export function isLetters(text: string): boolean {
  return /^\p{L}+$/u.test(text);
}

/** Whether a text stays within ASCII. */
export function isAscii(text: string): boolean {
  return codes(text).every((code) => code < 128);
}
