/** A station that recorded an earthquake, with what the graph knows of the arrivals there. */
export interface SectionStation {
  readonly id: string;
  readonly name: string;
  readonly distanceKm: number;
  readonly pArrival: string | null;
  readonly sArrival: string | null;
}

// Each costs a request of the catalogue.
const mostStations = 8;

/** The nearest, and others so far apart that no trace lies over another, each station once. */
export function sectionStations(all: readonly SectionStation[]): readonly SectionStation[] {
  const byDistance = [...new Map(all.map((one) => [one.id, one])).values()].sort(
    (one, other) => one.distanceKm - other.distanceKm,
  );
  const farthest = byDistance.at(-1)?.distanceKm ?? 0;
  const apartKm = farthest / (mostStations + 1);
  const chosen: SectionStation[] = [];
  for (const station of byDistance) {
    const last = chosen.at(-1);
    if (!last || station.distanceKm - last.distanceKm >= apartKm) chosen.push(station);
    if (chosen.length === mostStations) break;
  }
  return chosen;
}

const beforeS = 5;
const afterS = 25;
const longestS = 300;

/** From shortly before the origin to what follows the last S wave, in whole seconds, so that the answer can be kept. */
export function sectionWindow(
  originTime: string,
  stations: readonly SectionStation[],
): { readonly start: string; readonly end: string } | null {
  if (stations.length === 0) return null;
  const originMs = Date.parse(originTime);
  const last = Math.max(...stations.map(({ sArrival }) => (sArrival ? Date.parse(sArrival) : originMs)));
  const startMs = Math.floor(originMs / 1_000 - beforeS) * 1_000;
  const endMs = Math.ceil(last / 1_000 + afterS) * 1_000;
  return {
    start: new Date(startMs).toISOString(),
    end: new Date(Math.min(endMs, startMs + longestS * 1_000)).toISOString(),
  };
}
