const usualFontPixels = 15;

/** Pixels of a unit of the map. On a wall of screens its symbols grow with the text of the page (style.css). */
export function unitPixels(): number {
  const { fontSize } = getComputedStyle(document.documentElement);
  return Math.max(1, Number.parseFloat(fontSize) / usualFontPixels);
}

/** Where the pointer is, in units of the map. */
export function placeIn(
  element: Element,
  { clientX, clientY }: { readonly clientX: number; readonly clientY: number },
): { readonly x: number; readonly y: number } {
  const { left, top } = element.getBoundingClientRect();
  return { x: (clientX - left) / unitPixels(), y: (clientY - top) / unitPixels() };
}
