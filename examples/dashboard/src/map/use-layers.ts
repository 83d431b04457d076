import { useEffect, useMemo, useState } from 'react';
import type { Canvas } from './draw.js';
import { isPolar, type Placement, placementOf, pointIn, projectionOf, type Size, type View } from './view.js';

export interface Layers {
  /** What is drawn: the frame with a margin round it. */
  readonly where: Pick<Canvas, 'size' | 'view' | 'projection' | 'point'>;
  readonly margin: number;
  readonly placement: Placement;
}

const marginOfFrame = 0.2;
// Beyond that symbols and letters would be seen to grow.
const mostStretch = 1.3;
const settledMs = 200;

/**
 * Canvases with a margin round the frame. While the map is dragged and zoomed they are only placed anew, and drawn again when
 * they no longer cover the frame or the map has come to rest: to draw 15,000 marks takes longer than a frame has.
 */
export function useLayers(view: View, size: Size): Layers {
  const [drawn, setDrawn] = useState({ view, size });
  // About a pole a drag turns the map, and a margin would only be more to draw.
  const margin = isPolar(drawn.view) ? 0 : Math.round(marginOfFrame * Math.min(size.width, size.height));
  const placement = drawn.size === size ? placementOf(drawn.view, view) : null;
  if (!placement || !covers(placement, size, margin)) setDrawn({ view, size });

  useEffect(() => {
    if (drawn.view === view) return;
    const timer = setTimeout(() => setDrawn({ view, size }), settledMs);
    return () => clearTimeout(timer);
  }, [drawn, view, size]);

  const where = useMemo(() => {
    const { view, size } = drawn;
    const all = { width: size.width + 2 * margin, height: size.height + 2 * margin };
    return { size: all, view, projection: projectionOf(view, all), point: pointIn(view, all) };
  }, [drawn, margin]);
  return { where, margin, placement: placement ?? { scale: 1, right: 0, down: 0 } };
}

function covers({ scale, right, down }: Placement, { width, height }: Size, margin: number): boolean {
  const room = (length: number) => scale * (length / 2 + margin) - length / 2;
  return scale <= mostStretch && Math.abs(right) <= room(width) && Math.abs(down) <= room(height);
}
