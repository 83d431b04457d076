import type { IncomingHttpHeaders } from 'node:http';
import type { ManualClock } from '../src/clock.js';
import { catalogueApi } from '../src/sandbox/catalogue/api.js';
import { usualChoices } from '../src/sandbox/catalogue/routes.js';
import type { Reply } from '../src/sandbox/http/reply.js';
import { projectApi } from '../src/sandbox/project/api.js';
import { livingWorld } from '../src/sandbox/simulation/living-world.js';
import type { Http, HttpRequest, HttpResponse } from '../src/upstream/http/http.js';

/** Both interfaces of the sandbox with their limits, asked in simulated time instead of over sockets. */
export interface SimulatedUpstream {
  /** Answers after `latencyMs` of the clock. */
  readonly http: Http;
  /** Answers at once. */
  answer(request: Pick<HttpRequest, 'source' | 'path' | 'key'>): HttpResponse;
  readonly keys: { readonly project: string; readonly catalogue: string };
  readonly counts: { requests: number; refused: number };
}

export function simulatedUpstream(clock: ManualClock, latencyMs: number): SimulatedUpstream {
  const world = livingWorld({ seed: 1, startMs: clock.now() });
  const revoked = new Set<string>();
  const doors = {
    PROJECT: projectApi({ world, revoked, limits: { perMinute: 60, burst: 20 } }),
    CATALOGUE: catalogueApi({
      world,
      revoked,
      seed: 1,
      limits: { perMinute: 60, perDay: 10_000 },
      resetUnit: 'unix',
      choices: usualChoices,
    }),
  };
  const counts = { requests: 0, refused: 0 };

  function answer({ source, path, key }: Pick<HttpRequest, 'source' | 'path' | 'key'>): HttpResponse {
    const nowMs = clock.now();
    world.advance(nowMs);
    const url = new URL(path, 'http://simulated');
    const request = { method: 'GET', path: url.pathname, search: url.searchParams, nowMs };
    const reply = doors[source]({ ...request, authorization: `Bearer ${key}` });
    counts.requests++;
    if (reply.status === 429) counts.refused++;
    return { status: reply.status, headers: reply.headers as IncomingHttpHeaders, body: bytesOf(reply) };
  }

  return {
    answer,
    counts,
    keys: { project: firstOf(world.projectKeys), catalogue: firstOf(world.catalogueKeys) },
    http: {
      async get(request) {
        const reply = answer(request);
        await clock.sleep(latencyMs, request.signal);
        return reply;
      },
      stream: async (request) => answer(request),
      close: async () => {},
    },
  };
}

function bytesOf({ body }: Reply): Buffer {
  if (body.kind === 'json') return Buffer.from(JSON.stringify(body.value));
  return body.kind === 'text' ? Buffer.from(body.text) : Buffer.concat([...body.chunks]);
}

function firstOf(keys: ReadonlyMap<string, unknown>): string {
  const [key] = keys.keys();
  if (key === undefined) throw new Error('The world has no key');
  return key;
}
