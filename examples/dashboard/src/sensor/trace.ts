import type { Span } from './span.js';

export interface Trace {
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  /** Single samples, where they are so few that each can be seen. */
  readonly points: readonly (number | null)[] | null;
  /** Index of the first sample that is shown. */
  readonly first: number;
  /** What is shown, to whole samples. */
  readonly span: Span;
}

const mostPoints = 600;
const columns = 800;

/** The samples of a part: each by itself, or the smallest and greatest of each column, so that every peak is there. */
export function samplesIn(all: readonly (number | null)[], { from, to }: Span): Trace {
  const first = Math.max(0, Math.floor(from * all.length));
  const end = Math.min(all.length, Math.max(first + 2, Math.ceil(to * all.length)));
  const samples = all.slice(first, end);
  const span = { from: first / all.length, to: end / all.length };
  if (samples.length <= mostPoints) return { min: samples, max: samples, points: samples, first, span };
  const min: (number | null)[] = [];
  const max: (number | null)[] = [];
  for (let column = 0; column < columns; column++) {
    const [start, stop] = [column, column + 1].map((i) => Math.floor((i * samples.length) / columns));
    const values = samples
      .slice(start, Math.max((start ?? 0) + 1, stop ?? 0))
      .filter((value) => value !== null);
    min.push(values.length > 0 ? Math.min(...values) : null);
    max.push(values.length > 0 ? Math.max(...values) : null);
  }
  return { min, max, points: null, first, span };
}
