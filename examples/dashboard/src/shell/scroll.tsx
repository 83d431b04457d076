import type { ReactNode } from 'react';
import { useTexts } from '../texts/texts.js';

interface ScrollProps {
  /** Of what the table is. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Holds a table that is wider or higher than its place, and scrolls with the keyboard too. */
export function Scroll({ label, className = '', children }: ScrollProps) {
  const texts = useTexts();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus of the keyboard
    <section className={`scroll ${className}`} tabIndex={0} aria-label={texts.tableOf(label)}>
      {children}
    </section>
  );
}
