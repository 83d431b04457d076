import DataLoader from 'dataloader';
import type { Source } from '../src/errors.js';
import type { Look } from './dashboards.js';
import type { SimulatedUpstream } from './simulated-upstream.js';

type Read = (source: Source, path: string) => Promise<{ data: Record<string, unknown>[] }>;

/**
 * The same dashboard through a plain gateway: one fetch per read, a DataLoader per request, no cache, no rate limit. Its
 * fetches take no time, so that its figures are the best it could have.
 */
export async function plainLook(upstream: SimulatedUpstream): Promise<Look> {
  let failed = 0;
  let succeeded = 0;
  const read: Read = async (source, path) => {
    const key = source === 'PROJECT' ? upstream.keys.project : upstream.keys.catalogue;
    const { status, body } = upstream.answer({ source, path, key });
    if (status !== 200) {
      failed++;
      throw new Error(`${status}`);
    }
    succeeded++;
    return JSON.parse(body.toString()) as { data: Record<string, unknown>[] };
  };
  const sensors = new DataLoader<string, unknown>((ids) =>
    Promise.all(ids.map((id) => read('PROJECT', `/v1/sensors/${id}`).catch((error: Error) => error))),
  );
  const listed = read('PROJECT', '/v1/sensors?limit=40');
  const triggered = read('PROJECT', '/v1/triggers?limit=50');
  const parts = await Promise.allSettled([
    read('CATALOGUE', '/v1/networks'),
    listed,
    read('CATALOGUE', '/v1/sensors?limit=40'),
    listed.then(({ data }) =>
      Promise.all(
        data.slice(0, 15).map(({ device_id }) => read('PROJECT', `/v1/sensors/${device_id}/soh?limit=1`)),
      ),
    ),
    triggered,
    triggered.then(({ data }) => Promise.all(data.map(({ device_id }) => sensors.load(String(device_id))))),
    read('PROJECT', '/v1/events?limit=20'),
    read('CATALOGUE', '/v1/events?limit=20'),
  ]);
  const age = (part: number) => (parts[part]?.status === 'fulfilled' ? 0 : null);
  return {
    answered: failed === 0 ? 'whole' : succeeded > 0 ? 'in part' : 'not',
    ages: { triggers: age(4), sensors: age(1), events: age(6) },
  };
}
