import { useEffect, useState } from 'react';
import type { Canvas, Sprite } from './draw.js';
import { paletteOf } from './palette.js';
import { unitPixels } from './unit.js';

/** By pixels of a unit, then by what they show; those of one theme. */
export type Sprites = Map<number, Map<string | number, Sprite>>;

/** Null before the element is there. */
export function canvasOf(
  element: HTMLCanvasElement | null | undefined,
  where: Pick<Canvas, 'size' | 'view' | 'projection' | 'point'>,
  sprites: Sprites,
): Canvas | null {
  const context = element?.getContext('2d');
  if (!element || !context) return null;
  const { size } = where;
  const ratio = globalThis.devicePixelRatio * unitPixels();
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  // Setting the size clears the canvas, and costs even where it stays the same.
  if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const known = sprites.get(ratio) ?? new Map<string | number, Sprite>();
  sprites.set(ratio, known);
  return {
    ...where,
    context,
    palette: paletteOf(element),
    sprite(key, radius, draw) {
      const sprite = known.get(key) ?? spriteOf(radius, ratio, draw);
      known.set(key, sprite);
      return sprite;
    },
  };
}

function spriteOf(radius: number, ratio: number, draw: (context: CanvasRenderingContext2D) => void): Sprite {
  const image = document.createElement('canvas');
  const half = Math.ceil(radius * ratio);
  Object.assign(image, { width: 2 * half, height: 2 * half });
  const context = image.getContext('2d');
  if (context) {
    context.setTransform(ratio, 0, 0, ratio, half, half);
    draw(context);
  }
  return { image, reach: half / ratio, ratio };
}

export function useDarkTheme(): boolean {
  const [isDark, setDark] = useState(() => darkTheme().matches);
  useEffect(() => {
    const theme = darkTheme();
    const change = () => setDark(theme.matches);
    theme.addEventListener('change', change);
    return () => theme.removeEventListener('change', change);
  }, []);
  return isDark;
}

const darkTheme = () => globalThis.matchMedia('(prefers-color-scheme: dark)');
