import type { Fault } from '../data/fault.js';
import type { Texts } from '../texts/en.js';
import { useTexts } from '../texts/texts.js';

interface ProblemProps {
  readonly faults: readonly Fault[];
  readonly isRepeated?: boolean;
}

/** Says in its place what could not be read, while the rest of the page goes on. */
export function Problem({ faults, isRepeated = true }: ProblemProps) {
  const texts = useTexts();
  return (
    <p className="problem" role="status" title={faults.map(({ code }) => code).join(', ')}>
      <span aria-hidden="true">⚠</span> {faults.map((fault) => textOf(fault, texts)).join(' ')}{' '}
      {isRepeated && texts.retrying}
    </p>
  );
}

/** In whole sentences: the messages of errors are for those who write queries. */
function textOf({ code, source }: Fault, texts: Texts): string {
  const text = texts.faults[code] ?? texts.otherFault;
  return source ? texts.faultOf(texts.source[source], text) : text;
}
