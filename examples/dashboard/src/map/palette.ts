/** Colours of the map, which style.css has by theme. */
export interface Palette {
  readonly water: string;
  readonly land: string;
  readonly coast: string;
  readonly border: string;
  readonly graticule: string;
  readonly online: string;
  readonly offline: string;
  readonly event: string;
  readonly waveP: string;
  readonly waveS: string;
  readonly lit: string;
  readonly muted: string;
}

export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    water: color('water'),
    land: color('land'),
    coast: color('coast'),
    border: color('border'),
    graticule: color('graticule'),
    online: color('online'),
    offline: color('offline'),
    event: color('event'),
    waveP: color('wave-p'),
    waveS: color('wave-s'),
    lit: color('lit'),
    muted: color('muted'),
  };
}
