import { setTimeout as pause } from 'node:timers/promises';
import { aCatalogueSensor, aSensor } from '../src/sandbox/builders.js';
import { startSandbox } from '../src/sandbox/server.js';
import type { World } from '../src/sandbox/world.js';
import { type ServerProcess, startServer } from './child.js';
import { buildGateway, gateway } from './comparison/servers.js';
import { unlimitedIn } from './environment.js';
import { denseWorld } from './events-world.js';
import type { BenchOptions } from './options.js';

const idleMs = 30_000;

/**
 * How much memory the gateway holds when it knows everything: each sensor and each earthquake of both interfaces has been
 * read, as far as CACHE_MAX_BYTES lets it keep them. Beside it, what the process holds before the first request.
 */
export async function run({ quick }: BenchOptions): Promise<void> {
  buildGateway();
  const { sensors, earthquakes } = quick
    ? { sensors: 500, earthquakes: 2_000 }
    : { sensors: 10_000, earthquakes: 100_000 };
  const { world } = denseWorld(earthquakes, 30);
  addSensors(world, sensors);
  await using sandbox = await startSandbox({ world, live: false, rateLimits: false });
  const rows: Record<string, object> = {};
  for (const cacheMiB of [64, 256]) {
    const env = {
      ...unlimitedIn(sandbox),
      MAX_COST: '1000000',
      LOG_LEVEL: 'error',
      CACHE_MAX_BYTES: String(cacheMiB * 1024 * 1024),
    };
    await using server = await startServer({ ...gateway, env });
    const row: Record<string, number> = { 'at the start': server.residentMiB() };
    for (const name of ['sensors', 'events'] as const) {
      const known = await readAll(server, name);
      row[name] = known;
      row[`MiB after ${name}`] = server.residentMiB();
    }
    row['processor s'] = Math.round(server.processorMs() / 1000);
    // Without requests V8 collects by itself.
    await pause(idleMs);
    row[`MiB ${idleMs / 1000} s later`] = server.residentMiB();
    rows[`CACHE_MAX_BYTES of ${cacheMiB} MiB`] = row;
  }
  console.log(`${sensors} sensors and ${earthquakes} earthquakes, resident memory in MiB\n`);
  console.table(rows);
}

const fields = {
  sensors: 'id stationCode location { latitude longitude }',
  events: 'id originTime magnitude latitude longitude depthKm place',
};

async function readAll(server: ServerProcess, name: keyof typeof fields): Promise<number> {
  let known = 0;
  let after: string | null = null;
  do {
    const page = await pageOf(server, name, after);
    known += page.nodes.length;
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after !== null);
  return known;
}

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly unknown[];
}

async function pageOf(
  { url }: ServerProcess,
  name: keyof typeof fields,
  after: string | null,
): Promise<Page> {
  const list = `${name}(first: 500, after: ${JSON.stringify(after)})`;
  const query = `{ ${list} { pageInfo { hasNextPage endCursor } nodes { ${fields[name]} } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: Record<string, Page>; errors?: object[] };
  const page = data?.[name];
  if (errors || !page) throw new Error(JSON.stringify(errors).slice(0, 500));
  return page;
}

function addSensors({ project, catalogue }: World, count: number): void {
  for (let number = 1; number <= count; number++) {
    const station = `S${number.toString(36).toUpperCase().padStart(4, '0')}`;
    const serial = number.toString(16).toUpperCase().padStart(12, '0');
    project.sensors.push(aSensor({ device_id: serial, station }));
    catalogue.sensors.push(
      aCatalogueSensor({ id: `sen_${number}`, serial_number: serial, station_code: station }),
    );
  }
}
