/** Whole numbers: small ones, that collide; constants and bounds, and what is beside them; any at all. */
export function whole(low: number | null = null, high: number | null = null): fc.Arbitrary<number> {
  const least = low ?? (high === null ? -1_000_000 : Math.min(-1_000_000, high - 1_000_000));
  const most = high ?? Math.max(1_000_000, least + 1_000_000);
  const within = (number: number): boolean => number >= least && number <= most;
  const near = [...NUMBERS, ...NUMBERS.map((number) => -number), least, most]
    .flatMap((number) => [number - 1, number, number + 1])
    .filter(within);
  const from = Math.max(least, Math.min(-20, most - 40));
  const to = Math.min(most, from + 40 + Math.max(0, -20 - from));
  const small = fc.integer({ min: from, max: to });
  return fc.oneof(small, fc.constantFrom(...near), fc.integer({ min: least, max: most }));
}

/** Texts: those of examples, of few letters, that collide, and any at all; lengths in characters. */
export function text(shortest: number, longest: number): fc.Arbitrary<string> {
  const size = (most: number) => ({ minLength: shortest, maxLength: Math.min(longest, Math.max(most, shortest)) });
  const near = TEXTS.filter((one) => [...one].length >= shortest && [...one].length <= longest);
  return fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "c"), ...size(3) }),
    fc.string({ unit: fc.constantFrom("0", "1", ".", " ", "-"), ...size(5) }),
    fc.string({ unit: "binary", ...size(longest) }),
    ...(near.length > 0 ? [fc.constantFrom(...near)] : []),
  );
}

/** Whether a record can be made of that. */
function fits(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}

/** Moments, to the second. */
export function moment(): fc.Arbitrary<Date> {
  return fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1000));
}

/** Days, as `2026-01-31`. */
export function day(): fc.Arbitrary<string> {
  return moment().map((found) => found.toISOString().slice(0, 10));
}
