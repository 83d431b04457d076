import type { Size } from './view.js';

/** A text beside a mark, and where it begins: its left end, on its middle line. */
export interface Name {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export interface Named {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** Pixels from the middle of the mark that the name must keep free. */
  readonly radius: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const widthOfLetter = 7.2;
const halfHeight = 7;
// Beyond that a map is read by pointing, or by zooming in.
const mostNames = 150;

/**
 * Names that lie over no other name and over no mark, the first of the list first; one without room is left out.
 * @param margin of the canvas round what is seen of it, where a name would be cut off
 */
export function placedNames(all: readonly Named[], size: Size, margin = 0): readonly Name[] {
  const isSeen = ({ left, right, top, bottom }: Box, least: number) =>
    left > margin + least &&
    top > margin + least &&
    right < size.width - margin - least &&
    bottom < size.height - margin - least;
  const marks = all.filter(({ x, y }) => isSeen({ left: x, right: x, top: y, bottom: y }, -20));
  if (marks.length > mostNames) return [];
  const taken: Box[] = marks.map(({ x, y, radius }) => ({
    left: x - radius,
    right: x + radius,
    top: y - radius,
    bottom: y + radius,
  }));
  const names: Name[] = [];
  for (const { x, y, text, radius } of marks) {
    const width = text.length * widthOfLetter;
    const gap = radius + 3;
    const places = [
      { x: x + gap, y },
      { x: x - gap - width, y },
      { x: x - width / 2, y: y + gap + halfHeight },
      { x: x - width / 2, y: y - gap - halfHeight },
    ];
    for (const place of places) {
      const box = {
        left: place.x,
        right: place.x + width,
        top: place.y - halfHeight,
        bottom: place.y + halfHeight,
      };
      if (!isSeen(box, 2) || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      names.push({ text, ...place });
      break;
    }
  }
  return names;
}

const overlap = (one: Box, other: Box) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
