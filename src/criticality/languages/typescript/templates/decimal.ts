
/** Decimals with two places, from so many hundredths to so many. */
export function decimal(least: number, most: number): fc.Arbitrary<domain.Decimal> {
  return fc.integer({ min: least, max: most }).map((hundredths) => new domain.Decimal(hundredths).dividedBy(100));
}
