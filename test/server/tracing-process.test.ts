import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.js';
import { startCollector } from '../support/collector.js';
import { build, startProcess } from '../support/gateway-process.js';
import { bothAnswered, startWorkers } from './workers-process.js';

// A process takes its time to start, on a busy machine above all.
vi.setConfig({ testTimeout: 120_000 });

let removeBuild: () => void;
beforeAll(() => {
  removeBuild = build();
}, 120_000);
afterAll(() => removeBuild());

const preload = ['./test/support/tell-tracing.mjs'];
const ask = (url: string, query: string) => fetch(`${url}/graphql?query=${encodeURIComponent(query)}`);

it('loads nothing of the SDK without a collector', async () => {
  await using gateway = startProcess({ preload });
  await ask(await gateway.url, '{ networks { name } }');
  gateway.child.kill('SIGTERM');
  expect(await gateway.exit).toEqual({ code: 0, signal: null });
  expect(gateway.stderr).toBe('loaded: \n');
});

it('sends what it has on SIGTERM, and the headers to nobody else', async () => {
  await using collector = await startCollector();
  await using gateway = startProcess({
    preload,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hunter2-hunter2',
      OTEL_SERVICE_NAME: 'north',
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      LOG_LEVEL: 'debug',
    },
  });
  await ask(await gateway.url, 'query Last { networks { name } }');
  gateway.child.kill('SIGTERM');
  expect(await gateway.exit).toEqual({ code: 0, signal: null });
  expect(collector.named('query Last')?.status.code).toBe(0);
  expect(collector.resource).toMatchObject({ 'service.name': 'north' });
  expect(collector.requests[0]?.headers).toMatchObject({ 'api-key': 'hunter2-hunter2' });
  expect(gateway.stdout + gateway.stderr).not.toContain('hunter2');
  expect(gateway.stderr).toBe(
    'loaded: @opentelemetry/exporter-trace-otlp-http,@opentelemetry/sdk-trace,@opentelemetry/sdk-trace-base\n',
  );
});

it.each([
  ['says nothing', false],
  ['is not there', true],
])('leaves in order on SIGTERM while the collector %s', async (_name, isGone) => {
  await using collector = await startCollector(() => {});
  if (isGone) await collector[Symbol.asyncDispose]();
  await using gateway = startProcess({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const response = await ask(await gateway.url, '{ networks { name } }');
  expect(response.status).toBe(200);
  gateway.child.kill('SIGTERM');
  expect(await gateway.exit).toEqual({ code: 0, signal: null });
  expect(gateway.stdout).toContain('did not take the last spans in time');
});

it('exports from each of several workers', async () => {
  await using collector = await startCollector();
  await using sandbox = await startSandbox({ live: false });
  await using gateway = await startWorkers(sandbox, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'north',
  });
  const asked = Array.from({ length: 8 }, () => gateway.query('query Ask { __typename }'));
  await Promise.all(asked);
  await bothAnswered(gateway, 'Ask');
  gateway.process.child.kill('SIGTERM');
  expect(await gateway.process.exit).toEqual({ code: 0, signal: null });
  expect(collector.spans.filter(({ name }) => name === 'query Ask')).toHaveLength(8);
  expect(collector.resource).toMatchObject({ 'service.name': 'north' });
});

it('stops with one line where the SDK objects to a variable, with workers too', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SPAN_LINK_COUNT_LIMIT: 'many' };
  for (const WORKERS of ['1', '2']) {
    await using wrong = startProcess({ env: { ...env, WORKERS } });
    expect(await wrong.exit).toMatchObject({ code: 1 });
    expect(wrong.stderr).toMatch(/^seisgraph: [^\n]*OTEL_SPAN_LINK_COUNT_LIMIT[^\n]*\n$/);
  }
});
