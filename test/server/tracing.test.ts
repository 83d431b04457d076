import { createServer } from 'node:http';
import { expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { listen } from '../../src/server/http/listen.js';
import { startGateway } from '../support/gateway.js';

interface Received {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

/** A collector of traces; the spans it was sent, in order. */
async function startCollector(status = 200) {
  const spans: Received[] = [];
  let texts = '';
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    texts += text;
    expect(request.url).toBe('/v1/traces');
    for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(status).end('{}');
  });
  const { url } = await listen(server, 0, '127.0.0.1');
  return {
    url,
    spans,
    get text() {
      return texts;
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

it('traces a request from the client through its execution and its resolvers to each upstream request', async () => {
  using collector = await startCollector();
  const clock = new ManualClock();
  await using gw = await startGateway({ clock, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await gw.query('query Traced { networks { name } }', {}, { headers: { traceparent } });
  await vi.waitFor(async () => {
    await clock.advance(2_000);
    expect(collector.spans.length).toBeGreaterThanOrEqual(4);
  });
  const named = (name: string) => collector.spans.find((span) => span.name === name);
  const root = named('query Traced');
  const execution = named('execute');
  const resolvers = named('Query.networks');
  const upstream = named('CATALOGUE /v1/networks');
  expect(root?.parentSpanId).toBe('b7ad6b7169203331');
  expect(execution?.parentSpanId).toBe(root?.spanId);
  expect(resolvers?.parentSpanId).toBe(execution?.spanId);
  expect(upstream?.parentSpanId).toBe(resolvers?.spanId);
  for (const span of collector.spans) {
    expect(span.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    expect(span.startTimeUnixNano).toHaveLength(19);
  }
  expect(collector.text).not.toMatch(/svc_sk|sandbox-catalogue-key|127\.0\.0\.1/);
});

it('has one span for all resolvers of a field, over which the requests of each are', async () => {
  using collector = await startCollector();
  const clock = new ManualClock();
  await using gw = await startGateway({ clock, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  gw.sandbox.faults.add({ source: 'project', path: /soh/, status: 404, times: 99 });
  await gw.query('{ sensors(first: 3) { nodes { latestHealthReport { timestamp } } } }');
  const report = () => collector.spans.filter(({ name }) => name === 'Sensor.latestHealthReport');
  await vi.waitFor(async () => {
    await clock.advance(2_000);
    expect(report()).toHaveLength(1);
  });
  const requests = collector.spans.filter(({ name }) => name === 'PROJECT /v1/sensors/{id}/soh');
  expect(requests.length).toBeGreaterThan(1);
  for (const { parentSpanId } of requests) expect(parentSpanId).toBe(report()[0]?.spanId);
});

it('says once that the collector cannot be reached, and answers all the same', async () => {
  using collector = await startCollector(503);
  const clock = new ManualClock();
  await using gw = await startGateway({ clock, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  for (let n = 0; n < 3; n++) {
    const before = collector.spans.length;
    await gw.query('{ __typename }');
    await vi.waitFor(async () => {
      await clock.advance(2_000);
      expect(collector.spans.length).toBeGreaterThan(before);
    });
  }
  expect(gw.logLines.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

it('sends nothing where no collector is named', async () => {
  const send = vi.spyOn(globalThis, 'fetch');
  await using gw = await startGateway();
  await gw.query('{ __typename }');
  await gw.close();
  expect(send.mock.calls.every(([target]) => String(target).startsWith(gw.url))).toBe(true);
  send.mockRestore();
});
