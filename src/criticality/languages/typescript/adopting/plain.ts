/** A property that is undefined is as good as absent, and zero is zero whatever its sign. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "number") return value + 0;
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const held = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(held.map(([name, one]) => [name, plain(one)]));
}

function same(given: unknown, wanted: unknown): void {
  assert.deepEqual(plain(given), plain(wanted));
}
