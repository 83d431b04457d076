import { type RefObject, useLayoutEffect, useState } from 'react';
import { unitPixels } from '../map/unit.js';

/** Units from left to right, so that the letters of a chart can be read on a telephone, and grow with the text on a wall. */
export function useWidth(frame: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(1_000);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => setWidth(Math.max(200, element.clientWidth / unitPixels()));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
