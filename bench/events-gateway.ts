import { startGateway } from '../src/app.js';
import { parseConfig } from '../src/config/config.js';
import { createLog } from '../src/log.js';
import { startSandbox } from '../src/sandbox/server.js';
import type { World } from '../src/sandbox/world.js';
import { unlimitedIn } from './environment.js';

export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of whatever was asked
  readonly events: any;
  readonly tookMs: number;
  readonly requests: { readonly project: number; readonly catalogue: number };
}

/** A gateway in front of this world, over loopback, without limits and without anything in its cache. */
export async function startGatewayOf(
  world: World,
): Promise<{ ask(query: string): Promise<Asked> } & AsyncDisposable> {
  const sandbox = await startSandbox({ world, live: false, rateLimits: false });
  const config = parseConfig({
    ...unlimitedIn(sandbox),
    MAX_COST: '1000000',
  });
  const gateway = await startGateway({ config, log: createLog({ level: 'error', secrets: [] }) });
  return {
    async ask(query) {
      sandbox.forget();
      const startedMs = performance.now();
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { data, errors } = (await response.json()) as { data: { events: unknown }; errors?: object[] };
      if (errors) throw new Error(JSON.stringify(errors));
      const tookMs = Math.round(performance.now() - startedMs);
      const requests = {
        project: sandbox.seen('project').length,
        catalogue: sandbox.seen('catalogue').length,
      };
      return { events: data.events, tookMs, requests };
    },
    async [Symbol.asyncDispose]() {
      await gateway.close(0);
      await sandbox.close();
    },
  };
}
