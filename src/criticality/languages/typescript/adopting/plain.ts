/** A property that is undefined is as good as absent, zero is zero whatever its sign, and objects may inherit nothing. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "number") return value + 0;
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, plain(one)]));
  if (value === null || typeof value !== "object") return value;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) return value;
  const held = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(held.map(([name, one]) => [name, plain(one)]));
}

function same(given: unknown, wanted: unknown): void {
  assert.deepEqual(plain(given), plain(wanted));
}
