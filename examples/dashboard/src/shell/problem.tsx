import { useTexts } from '../texts/texts.js';

/** Says in its place what could not be read, while the rest of the page goes on. */
export function Problem({
  text,
  isRepeated = true,
}: {
  readonly text: string;
  readonly isRepeated?: boolean;
}) {
  const texts = useTexts();
  return (
    <p className="problem" role="status">
      <span aria-hidden="true">⚠</span> {texts.problem(text)} {isRepeated && texts.retrying}
    </p>
  );
}
