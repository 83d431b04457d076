/** What the bench sets for every peer. */
export const settings = {
  projectUrl: needed('PROJECT_API_URL'),
  projectKey: needed('PROJECT_API_KEY'),
  catalogueUrl: needed('CATALOGUE_API_URL'),
  catalogueKey: needed('CATALOGUE_API_KEY'),
};

export type Kind = 'trigger' | 'sensor' | 'event' | 'health' | 'network';

// The lifetimes of seisgraph, so that all caches expire as often as its own.
const usualLifetimesS: Readonly<Record<Kind, number>> = {
  trigger: 2,
  sensor: 10,
  event: 10,
  health: 60,
  network: 300,
};

/** How long a cached response or value of this kind is fresh; one for all kinds where the bench sets it. */
export function lifetimeS(kind: Kind): number {
  const { LIFETIME_S } = process.env;
  return LIFETIME_S === undefined ? usualLifetimesS[kind] : Number(LIFETIME_S);
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: the peers are started by npm run bench -- peers`);
  return value;
}
