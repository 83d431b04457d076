import { useNow, useWorld } from '../data/use-world.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

// A page that has just been opened has lists of this moment, and is about to be live.
const openingMs = 5_000;

/** Of when the lists are, in words, where they may have changed since; null while the page is live. */
export function useAsOf(): string | null {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const { connection, answeredAtMs } = useWorld();
  if (connection === 'live' || answeredAtMs === null) return null;
  const ageMs = now - answeredAtMs;
  if (connection === 'connecting' && ageMs < openingMs) return null;
  return texts.dataAge(format.span(ageMs));
}

/** Marks what stands before it as old. */
export function AsOf() {
  const asOf = useAsOf();
  return asOf && <span className="warning"> {asOf}</span>;
}
