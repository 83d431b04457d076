import { startGatewayOf } from './events-gateway.js';
import { denseWorld } from './events-world.js';

const page = `pageInfo { hasNextPage endCursor } unavailableSources { source code }
  nodes { id originTime magnitude latitude longitude depthKm place sources }`;

/** Events of a world with 200,000 in each interface: what a page costs in requests and time, and what reading page after page costs. */
export async function run(): Promise<void> {
  for (const everyS of [60, 5]) {
    const { world, newestMs } = denseWorld(200_000, everyS);
    const day = (ago: number) => new Date(newestMs - ago * 86_400_000).toISOString();
    console.log(
      `200,000 earthquakes in each interface, one every ${everyS} s; each row on a gateway that knows nothing\n`,
    );
    const rows: Record<string, object> = {};
    const lists: [string, string][] = [
      ['first page of 50', '(first: 50)'],
      ['first page of 500', '(first: 500)'],
      [
        'first page of 50, within 300 km',
        '(first: 50, filter: { within: { latitude: 34, longitude: -118, radiusKm: 300 } })',
      ],
      ['first page of 50, magnitude 2.5 and more', '(first: 50, filter: { minMagnitude: 2.5 })'],
      ['first page of 50, magnitude 5 and more', '(first: 50, filter: { minMagnitude: 5 })'],
      ['first page of 50 up to half a day ago', `(first: 50, filter: { to: "${day(0.5)}" })`],
      [
        'first page of 50, oldest first, from half a day ago',
        `(first: 50, orderBy: ORIGIN_TIME_ASC, filter: { from: "${day(0.5)}" })`,
      ],
      ['first page of 50, oldest first', '(first: 50, orderBy: ORIGIN_TIME_ASC)'],
    ];
    for (const [name, list] of lists) {
      await using gateway = await startGatewayOf(world);
      const asked = await gateway.ask(`{ events${list} { ${page} } }`).catch((error: Error) => error);
      if (asked instanceof Error) {
        rows[name] = { says: asked.message.slice(0, 60) };
        continue;
      }
      const { events, tookMs, requests } = asked;
      rows[name] = { events: events.nodes.length, ...requests, ms: tookMs, ...toldOf(events) };
      const again = await gateway.ask(`{ events${list} { ${page} } }`);
      rows[`${name}, again`] = { events: again.events.nodes.length, ...again.requests, ms: again.tookMs };
    }
    for (const first of [50, 500]) rows[`10,000 in pages of ${first}`] = await readPages(world, first);
    console.table(rows);
  }
}

// 10,000 events are 20 pages of the project's list and 100 of the catalogue's.
async function readPages(world: Parameters<typeof startGatewayOf>[0], first: number): Promise<object> {
  await using gateway = await startGatewayOf(world);
  const ids = new Set<string>();
  const requests = { project: 0, catalogue: 0 };
  let tookMs = 0;
  let after: string | null = null;
  while (ids.size < 10_000) {
    const answer = await gateway.ask(
      `{ events(first: ${first}, after: ${JSON.stringify(after)}) { ${page} } }`,
    );
    for (const { id } of answer.events.nodes) ids.add(id);
    requests.project += answer.requests.project;
    requests.catalogue += answer.requests.catalogue;
    tookMs += answer.tookMs;
    after = answer.events.pageInfo.endCursor;
  }
  return {
    events: ids.size,
    ...requests,
    ms: tookMs,
    'of the least': ((requests.project + requests.catalogue) / 120).toFixed(2),
  };
}

function toldOf(events: { unavailableSources: readonly { source: string; code: string }[] }): object {
  const reasons = events.unavailableSources.map(({ source, code }) => `${source} ${code}`);
  return reasons.length > 0 ? { says: reasons.join(', ') } : {};
}
