import { upstreamLatencyMs } from './conditions.js';

// Until the answer has been read and decoded.
const afterwardsMs = 15;

export interface Expiries {
  /** How often upstream was asked after it had not been. */
  readonly times: number;
  readonly requests: number;
  /** How long operations took during which upstream was not asked, and during which it was. */
  readonly betweenMs: readonly number[];
  readonly acrossMs: readonly number[];
}

/** Sorts operations by whether one of the upstream requests was under way during them. */
export function expiriesOf(
  sentAtMs: readonly number[],
  tookMs: readonly number[],
  arrivedAtMs: readonly number[],
): Expiries {
  const spans = mergedSpans(arrivedAtMs.toSorted((a, b) => a - b));
  const betweenMs: number[] = [];
  const acrossMs: number[] = [];
  tookMs.forEach((ms, index) => {
    const sent = sentAtMs[index] ?? Number.NaN;
    const isAcross = spans.some(({ fromMs, toMs }) => sent <= toMs && sent + ms >= fromMs);
    (isAcross ? acrossMs : betweenMs).push(ms);
  });
  return { times: spans.length, requests: arrivedAtMs.length, betweenMs, acrossMs };
}

function mergedSpans(arrivedAtMs: readonly number[]): { fromMs: number; toMs: number }[] {
  const spans: { fromMs: number; toMs: number }[] = [];
  for (const fromMs of arrivedAtMs) {
    const toMs = fromMs + upstreamLatencyMs + afterwardsMs;
    const last = spans.at(-1);
    if (last && fromMs <= last.toMs) last.toMs = toMs;
    else spans.push({ fromMs, toMs });
  }
  return spans;
}
