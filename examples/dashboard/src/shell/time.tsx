import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

/** A moment in UTC, as seismologists write it, and in the local time of the reader. */
export function Time({ at }: { readonly at: string }) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <time dateTime={at} title={`${format.local(at)} ${texts.local}`}>
      {format.utc(at)}
      <span className="muted"> {texts.utc}</span>
    </time>
  );
}
