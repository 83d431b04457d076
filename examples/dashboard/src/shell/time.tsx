import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

interface TimeProps {
  readonly at: string;
  /** With the date, and to the hundredth of a second. */
  readonly isPrecise?: boolean;
}

/** A moment in UTC, as seismologists write it, and in the local time of the reader. */
export function Time({ at, isPrecise = false }: TimeProps) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <time dateTime={at} title={`${format.local(at)} ${texts.local}`}>
      {isPrecise ? format.precise(at) : format.utc(at)}
      <span className="muted"> {texts.utc}</span>
    </time>
  );
}
