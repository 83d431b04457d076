import { Agent, fetch } from 'undici';
import type { Reads } from './resolvers.js';
import { settings } from './settings.js';

/** As many sockets as the bench has clients: without a bound, each read of a burst would open one. */
export const dispatcher = new Agent({ connections: 64, pipelining: 1 });

/** One fetch for each read. */
export const fetchJson: Reads = {
  project: (path) => readJson(`${settings.projectUrl}${path}`, settings.projectKey),
  catalogue: (path) => readJson(`${settings.catalogueUrl}${path}`, settings.catalogueKey),
};

async function readJson<T>(url: string, key: string): Promise<T> {
  const response = await fetch(url, { dispatcher, headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as T;
}
