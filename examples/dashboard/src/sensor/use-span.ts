import { useState } from 'react';
import { closer, type Span, whole } from './span.js';

/** The part of the window that is shown; all of it in another window. */
export function useSpan(window: string): readonly [Span, (span: Span) => void] {
  const [shown, setShown] = useState({ window, span: whole });
  // Held to what a span may be: a drag can be as short as a pixel.
  const choose = (span: Span) => setShown({ window, span: closer(span, 1) });
  return [shown.window === window ? shown.span : whole, choose];
}
