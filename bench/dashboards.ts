import type { ManualClock } from '../src/clock.js';

/** What one dashboard got for one of its looks. */
export interface Look {
  /** All of it, some of it, or nothing. */
  readonly answered: 'whole' | 'in part' | 'not';
  /** Of the triggers, sensors and events it shows, in seconds. */
  readonly ages: Readonly<Record<'triggers' | 'sensors' | 'events', number | null>>;
}

export const dashboards = 500;
const hourS = 3_600;
// Each looks every half minute, and no two at the same moment.
const everyMs = 30_000;

/** An hour of all dashboards, each look at its moment. */
export async function hourOf(clock: ManualClock, look: () => Promise<Look>): Promise<Look[]> {
  const looks: Promise<Look>[] = [];
  const stepMs = everyMs / dashboards;
  for (let atMs = 0; atMs < hourS * 1000; atMs += stepMs) {
    looks.push(look());
    await clock.advance(stepMs);
  }
  await clock.advance(60_000);
  return Promise.all(looks);
}

/** One row of the table. */
export function rowOf(
  looks: readonly Look[],
  counts: { readonly requests: number; readonly refused: number },
) {
  const share = (how: Look['answered']) =>
    `${((100 * looks.filter(({ answered }) => answered === how).length) / looks.length).toFixed(2)} %`;
  const age = (what: keyof Look['ages']) => {
    const sorted = looks.flatMap(({ ages }) => ages[what] ?? []).sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(sorted.length * part)]?.toFixed(1) ?? '–';
    return `${at(0.5)} / ${at(0.99)}`;
  };
  return {
    'answered whole': share('whole'),
    'in part': share('in part'),
    'not at all': share('not'),
    'age of triggers p50/p99 s': age('triggers'),
    'of sensors': age('sensors'),
    'of events': age('events'),
    'upstream requests': counts.requests,
    'of them 429': counts.refused,
  };
}
