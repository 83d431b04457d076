import { useEffect, useState } from 'react';
import { GraphError } from '../../../../src/client/index.js';
import { untilAffordable } from '../data/budget.js';
import { pause } from '../data/pause.js';
import { useContextOfWorld } from '../data/use-world.js';
import { type Channel, WaveformDocument, type WaveformOverviewFragment } from '../operations/operations.js';

export interface Window {
  readonly start: string;
  readonly end: string;
}

/** Null where the catalogue has none; a text where it could not be read. */
export type Trace = WaveformOverviewFragment | string | null;

// Requests of the catalogue that are left for what others wait for.
const toBeLeft = 4;

const arrivesMs = 10_000;

/** When the service should have the whole window, in milliseconds since 1970. */
export const readableAtMs = ({ end }: Window): number => Date.parse(end) + arrivesMs;

/** Waveforms by sensor id, one after the other as the budget allows; those not read yet are not in it. */
export function useWaveforms(
  ids: readonly string[],
  channel: Channel,
  window: Window | null,
): ReadonlyMap<string, Trace> {
  const { session, world } = useContextOfWorld();
  const [read, setRead] = useState<ReadonlyMap<string, Trace>>(new Map());
  const all = ids.join();
  const { start, end } = window ?? { start: '', end: '' };

  useEffect(() => {
    setRead(new Map());
    if (start === '' || all === '') return;
    const leaving = new AbortController();
    const { signal } = leaving;
    void (async () => {
      // Of an earthquake whose waves are on their way the service has a part, which would be kept as if it were all.
      await pause(readableAtMs({ start, end }) - Date.now(), signal);
      for (const id of all.split(',')) {
        let trace: Trace | undefined;
        while (trace === undefined) {
          await untilAffordable(world, 'CATALOGUE', toBeLeft, signal);
          if (signal.aborted) return;
          try {
            const { data, errors } = await session.ask(WaveformDocument, { id, channel, start, end }, signal);
            if (errors[0]) throw errors[0];
            trace = data.sensor?.waveform ?? null;
          } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof GraphError)) trace = String(error);
            else if (error.isPassing) await pause((error.retryAfterS ?? 10) * 1_000, signal);
            else trace = error.code;
          }
        }
        const known: Trace = trace;
        setRead((before) => new Map([...before, [id, known]]));
      }
    })();
    return () => leaving.abort();
  }, [session, world, all, channel, start, end]);
  return read;
}
