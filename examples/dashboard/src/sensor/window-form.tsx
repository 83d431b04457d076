import type { TriggerOfListFragment } from '../operations/operations.js';
import { addressWith } from '../shell/route.js';
import { useTexts } from '../texts/texts.js';

export interface TimeWindow {
  readonly start: string;
  readonly end: string;
}

const beforeMs = 10_000;
const afterMs = 20_000;
const lengthsS = [60, 180, 300] as const;

/** From shortly before a trigger to shortly after it, three minutes at most. */
export function windowOf({ startTime, endTime }: TriggerOfListFragment): TimeWindow {
  const start = Date.parse(startTime) - beforeMs;
  const end = Math.min(start + 180_000, Date.parse(endTime ?? startTime) + afterMs);
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}

/** The window that the address names; null where it names none, or no time. */
export function windowIn(parameters: URLSearchParams): TimeWindow | null {
  const startMs = Date.parse(parameters.get('start') ?? '');
  const lengthS = lengthsS.find((length) => String(length) === parameters.get('length')) ?? lengthsS[0];
  if (Number.isNaN(startMs)) return null;
  return { start: new Date(startMs).toISOString(), end: new Date(startMs + lengthS * 1_000).toISOString() };
}

/** Any time, for stations without a trigger too. */
export function WindowForm({ window }: { readonly window: TimeWindow | null }) {
  const texts = useTexts();
  const known = window?.start ?? new Date(Date.now() - 120_000).toISOString();
  return (
    <form
      className="controls"
      aria-label={texts.window}
      key={known}
      onSubmit={(event) => {
        event.preventDefault();
        const values = new FormData(event.currentTarget);
        const start = `${values.get('start')}Z`;
        if (Number.isNaN(Date.parse(start))) return;
        globalThis.location.hash = addressWith({
          start,
          length: String(values.get('length')),
          trigger: null,
        });
      }}
    >
      <label>
        {texts.startUtc}{' '}
        <input type="datetime-local" name="start" step="1" required defaultValue={known.slice(0, 19)} />
      </label>
      <label>
        {texts.length}{' '}
        <select name="length">
          {lengthsS.map((length) => (
            <option key={length} value={length}>
              {length / 60} min
            </option>
          ))}
        </select>
      </label>
      <button type="submit">{texts.showWindow}</button>
    </form>
  );
}
