/** Maps a range of values onto a range of pixels. */
export function linear(
  [least, most]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  const span = most - least || 1;
  return (value) => start + ((value - least) / span) * (end - start);
}

/** The powers of ten around the values. */
export function decades(values: readonly number[]): readonly number[] {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (logs.length === 0) return [1, 10];
  const first = Math.floor(Math.min(...logs));
  const last = Math.max(first + 1, Math.ceil(Math.max(...logs)));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** Round values within a range, about as many as asked for. */
export function steps(least: number, most: number, about: number): readonly number[] {
  const rough = (most - least) / about;
  if (!(rough > 0)) return [];
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * decade).find((one) => one >= rough) ?? decade;
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, i) => (first + i) * step);
}
