import type { ReactNode } from 'react';

interface ScrollProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Holds what is wider or higher than its place, and scrolls with the keyboard too. */
export function Scroll({ label, className = '', children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus of the keyboard
    <section className={`scroll ${className}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
