import { startSandbox } from '../../src/sandbox/server.js';
import { upstreamLatencyMs } from './conditions.js';
import { recordedWorld } from './recorded-world.js';

/** A process of its own that plays both interfaces, each answer after `upstreamLatencyMs`. */
export type UpstreamOrder = 'forget' | 'report';

export interface UpstreamReady {
  readonly projectUrl: string;
  readonly projectKey: string;
  readonly catalogueUrl: string;
  readonly catalogueKey: string;
}

export interface UpstreamReport {
  /** When each request since `forget` arrived, on the machine's clock. */
  readonly arrivedAtMs: readonly number[];
}

const world = recordedWorld(Date.now());
const sandbox = await startSandbox({ world, rateLimits: false });
for (const source of ['project', 'catalogue'] as const) {
  sandbox.faults.add({ source, latencyMs: upstreamLatencyMs, times: Number.POSITIVE_INFINITY });
}
process.on('message', (order: UpstreamOrder) => {
  if (order === 'forget') sandbox.forget();
  else send({ arrivedAtMs: sandbox.requests.map(({ atMs }) => atMs) } satisfies UpstreamReport);
});
// The bench has ended, however it did.
process.on('disconnect', () => process.exit());
const { projectUrl, projectKey, catalogueUrl, catalogueKey } = sandbox;
send({ projectUrl, projectKey, catalogueUrl, catalogueKey } satisfies UpstreamReady);

function send(message: UpstreamReady | UpstreamReport): void {
  process.send?.(message);
}
