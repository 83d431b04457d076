import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock, minuteMs } from '../../src/clock.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { type Collector, startCollector, valuesOf } from '../support/collector.js';
import { startGateway, type TestGatewayOptions } from '../support/gateway.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

type Env = Readonly<Record<string, string>>;

/** The SDK reads the environment of the process, so it has the settings as well. */
async function startTraced(url: string, env: Env = {}, options: TestGatewayOptions = {}) {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '10', ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  return startGateway({ ...options, env: all });
}

const arrived = (collector: Collector, names: readonly string[]) =>
  vi.waitFor(
    () => {
      expect(collector.spans.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
    },
    { timeout: 15_000 },
  );

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe('a trace', () => {
  it('goes from the client through the execution and the resolvers to each upstream request', async () => {
    await using collector = await startCollector();
    const clock = new ManualClock();
    await using gw = await startTraced(collector.url, {}, { clock });
    await gw.query('query Traced { networks { name } }', {}, { headers: { traceparent } });
    await arrived(collector, ['query Traced', 'execute', 'Query.networks', 'CATALOGUE /v1/networks']);
    const root = collector.named('query Traced');
    const execution = collector.named('execute');
    const resolvers = collector.named('Query.networks');
    const upstream = collector.named('CATALOGUE /v1/networks');
    expect(root?.parentSpanId).toBe('b7ad6b7169203331');
    expect(execution?.parentSpanId).toBe(root?.spanId);
    expect(resolvers?.parentSpanId).toBe(execution?.spanId);
    expect(upstream?.parentSpanId).toBe(resolvers?.spanId);
    expect([root, execution, resolvers, upstream].map((span) => span?.kind)).toEqual([2, 1, 1, 3]);
    for (const span of collector.spans) {
      expect(span.traceId).toBe(traceId);
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
      expect(span.startTimeUnixNano).toHaveLength(19);
      expect(span.status.code).toBe(0);
    }
    expect(valuesOf(root?.attributes ?? [])).toEqual({
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'Traced',
      'http.response.status_code': 200,
      'seisgraph.request_id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'seisgraph.upstream_requests': 1,
    });
    expect(valuesOf(upstream?.attributes ?? [])).toEqual({
      'http.response.status_code': 200,
      'seisgraph.priority': 'query',
    });
    expect(collector.text).not.toMatch(/svc_sk|sandbox-catalogue-key|127\.0\.0\.1/);
  });

  it('has one span for all resolvers of a field, over which the requests of each are', async () => {
    await using collector = await startCollector();
    await using gw = await startTraced(collector.url);
    gw.sandbox.faults.add({ source: 'project', path: /soh/, status: 404, times: 99 });
    await gw.query('{ sensors(first: 3) { nodes { latestHealthReport { timestamp } } } }');
    await arrived(collector, ['Sensor.latestHealthReport', 'query']);
    const reports = collector.spans.filter(({ name }) => name === 'Sensor.latestHealthReport');
    expect(reports).toHaveLength(1);
    const requests = collector.spans.filter(({ name }) => name === 'PROJECT /v1/sensors/{id}/soh');
    expect(requests.length).toBeGreaterThan(1);
    for (const { parentSpanId } of requests) expect(parentSpanId).toBe(reports[0]?.spanId);
  });

  it('shows what failed, and an operation that was never executed', async () => {
    await using collector = await startCollector();
    await using gw = await startTraced(collector.url);
    gw.sandbox.faults.add({ source: 'catalogue', path: /networks/, status: 500, times: 99 });
    await gw.queryWithErrors('query Failing { networks { name } }');
    await gw.queryWithErrors('{ nothing }');
    await arrived(collector, ['query Failing', 'query', 'CATALOGUE /v1/networks']);
    for (const name of ['query Failing', 'query', 'Query.networks', 'CATALOGUE /v1/networks'])
      expect(collector.named(name)?.status.code).toBe(2);
    const errors = (name: string) => valuesOf(collector.named(name)?.attributes ?? [])['seisgraph.errors'];
    expect(errors('query Failing')).toBe('UPSTREAM_UNAVAILABLE');
    expect(errors('query')).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('is as long as the forward clock says, whatever the wall clock is set to', async () => {
    await using collector = await startCollector();
    const clock = new ManualClock();
    await using gw = await startTraced(collector.url, {}, { clock });
    gw.sandbox.faults.add({ source: 'catalogue', path: /networks/, latencyMs: 2_000 });
    const answer = gw.query('query Slow { networks { name } }');
    await vi.waitFor(() => expect(gw.sandbox.inFlight('catalogue')).toBe(1), { timeout: 15_000 });
    clock.stepWall(-60 * minuteMs);
    await clock.advance(2_000);
    await answer;
    await arrived(collector, ['query Slow', 'CATALOGUE /v1/networks']);
    for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans)
      expect(Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano))).toBe(2e9);
  });

  it('carries on the trace state and the decision of the client', async () => {
    await using collector = await startCollector();
    await using gw = await startTraced(collector.url);
    const unwanted = `00-${'1'.repeat(32)}-b7ad6b7169203331-00`;
    await gw.query('query Unwanted { __typename }', {}, { headers: { traceparent: unwanted } });
    const headers = { traceparent, tracestate: 'vendor=opaque,other=1' };
    await gw.query('query Wanted { __typename }', {}, { headers });
    await gw.query('query Malformed { __typename }', {}, { headers: { traceparent: '00-0-0-01' } });
    await arrived(collector, ['query Wanted', 'query Malformed']);
    expect(collector.named('query Wanted')?.traceState).toBe('vendor=opaque,other=1');
    expect(collector.named('query Malformed')?.parentSpanId).toBeUndefined();
    expect(collector.named('query Unwanted')).toBeUndefined();
  });
});

describe('the settings of the SDK', () => {
  it('are headers, the service, its attributes and an address of its own', async () => {
    await using collector = await startCollector();
    await using gw = await startTraced('http://127.0.0.1:9/base/', {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/elsewhere`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20aHVudGVyMjpodW50ZXIy,x-tenant=one',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two;three==',
      OTEL_SERVICE_NAME: 'gateway-of-the-north',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=loses,note=a%2Cb',
    });
    await gw.query('query Traced { __typename }');
    await arrived(collector, ['query Traced']);
    const [first] = collector.requests;
    expect(first?.url).toBe('/elsewhere');
    expect(first?.headers).toMatchObject({
      authorization: 'Basic aHVudGVyMjpodW50ZXIy',
      'x-tenant': 'two;three==',
      'content-type': 'application/json',
    });
    expect(collector.resource).toMatchObject({
      'service.name': 'gateway-of-the-north',
      'service.version': expect.any(String),
      'deployment.environment': 'test',
      note: 'a,b',
    });
    expect(gw.logText).not.toContain('aHVudGVyMjpodW50ZXIy');
  });

  it('are protobuf, gzip and the name seisgraph unless there is another', async () => {
    await using collector = await startCollector((response) => response.end());
    await using gw = await startTraced(collector.url, {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    });
    await gw.query('query Traced { __typename }');
    await vi.waitFor(() => expect(collector.text).toContain('query Traced'), { timeout: 15_000 });
    expect(collector.text).toMatch(/service\.name[^a-z]+seisgraph/);
    expect(collector.requests[0]?.url).toBe('/v1/traces');
    expect(collector.requests[0]?.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
  });

  it.each<[string, Env]>([
    ['sampler', { OTEL_TRACES_SAMPLER: 'always_off' }],
    ['ratio', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }],
    ['exporter', { OTEL_TRACES_EXPORTER: 'none' }],
    ['SDK', { OTEL_SDK_DISABLED: 'true' }],
  ])('can mean no spans: %s', async (_name, env) => {
    await using collector = await startCollector();
    await using gw = await startTraced(collector.url, env);
    await gw.query('query Traced { networks { name } }', {}, { headers: { traceparent } });
    await gw.close();
    expect(collector.requests).toEqual([]);
  });

  it.each<[string, Env]>([
    ['OTEL_TRACES_SAMPLER', { OTEL_TRACES_SAMPLER: 'jaeger_remote' }],
    ['OTEL_TRACES_SAMPLER', { OTEL_TRACES_SAMPLER: ' always_off' }],
    ['OTEL_TRACES_SAMPLER_ARG', { OTEL_TRACES_SAMPLER: 'traceidratio' }],
    ['OTEL_TRACES_SAMPLER_ARG', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10' }],
    ['OTEL_TRACES_SAMPLER_ARG', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10%' }],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', { OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', { OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '0' }],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', { OTEL_EXPORTER_OTLP_COMPRESSION: 'br' }],
    ['OTEL_RESOURCE_ATTRIBUTES', { OTEL_RESOURCE_ATTRIBUTES: 'a=1,b=2=3' }],
    ['OTEL_RESOURCE_ATTRIBUTES', { OTEL_RESOURCE_ATTRIBUTES: 'a=%' }],
    ['OTEL_RESOURCE_ATTRIBUTES', { OTEL_RESOURCE_ATTRIBUTES: `a=${'1'.repeat(256)}` }],
    ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', { OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: 'many' }],
  ])('stop the start with one line at a wrong %s: %o', async (variable, env) => {
    const { message } = await startTraced('http://127.0.0.1:9', env).then(
      () => new Error('it has started'),
      (error: Error) => error,
    );
    expect(message).toContain(variable);
    expect(message).not.toMatch(/\n|default|falling back/);
  });
});

describe('a collector that takes nothing', () => {
  /** Too short for a second attempt. */
  const briefly = { OTEL_EXPORTER_OTLP_TIMEOUT: '500' };

  it('is logged at once, and then rarely with the number of spans lost', async () => {
    await using collector = await startCollector((response) => response.writeHead(503).end('{}'));
    const clock = new ManualClock();
    await using gw = await startTraced(collector.url, briefly, { clock, isAlone: true });
    const warnings = () => gw.logLines.filter(({ level }) => level === 'warn');
    async function failOnce() {
      const before = collector.requests.length;
      await gw.query('{ __typename }');
      await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(before), { timeout: 15_000 });
    }
    for (let n = 0; n < 3; n++) await failOnce();
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), { timeout: 15_000 });
    await clock.advance(10 * minuteMs);
    await failOnce();
    await vi.waitFor(() => expect(warnings()).toHaveLength(2), { timeout: 15_000 });
    expect(Number(warnings()[1]?.lostSpans)).toBeGreaterThan(2);
  });

  it.each<[string, Parameters<typeof startCollector>[0]]>([
    [
      'refuses',
      (response) => response.writeHead(401, 'bad key hunter2-hunter2').end('hunter2 '.repeat(5_000)),
    ],
    ['answers with a page', (response) => response.writeHead(200).end('hunter2-hunter2')],
    [
      'takes a part',
      (response) => response.end('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}'),
    ],
    ['redirects', (response) => response.writeHead(307, { location: '/' }).end()],
    ['hangs up', (response) => response.destroy()],
    ['says nothing', () => {}],
    ['never ends', (response) => response.write('{')],
  ])('leaves the gateway as it is, and is logged once: it %s', async (_name, answer) => {
    await using collector = await startCollector(answer);
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hunter2-hunter2' };
    await using gw = await startTraced(collector.url, { ...briefly, ...headers }, { isAlone: true });
    const warnings = () => gw.logLines.filter(({ level }) => level === 'warn' || level === 'error');
    await gw.query('{ __typename }');
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), { timeout: 15_000 });
    expect(await gw.query('{ networks { name } }')).toHaveProperty('networks');
    await gw.close();
    expect(gw.logText).not.toContain('hunt');
    expect(gw.logText.length).toBeLessThan(10_000);
  });

  it.each(['is not there', 'speaks another protocol'])('may be so from the start: it %s', async (name) => {
    const other = createServer((socket) => void socket.on('error', () => {}).end('220 mail.example\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const close = async () => void other.close();
    cleanUpAfterTests(close);
    if (name === 'is not there') await close();
    await using gw = await startTraced(`http://127.0.0.1:${port}`, briefly, { isAlone: true });
    await gw.query('{ networks { name } }');
    const warnings = () => gw.logLines.filter(({ level }) => level === 'warn');
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), { timeout: 15_000 });
    expect(warnings()[0]).toMatchObject({ msg: 'The trace collector does not take all spans' });
    await gw.query('{ __typename }');
  });

  it('does not keep the gateway from leaving', async () => {
    await using collector = await startCollector(() => {});
    await using gw = await startTraced(
      collector.url,
      { OTEL_BSP_SCHEDULE_DELAY: '600000' },
      { isAlone: true },
    );
    await gw.query('{ __typename }');
    await gw.close();
    expect(collector.spans).not.toEqual([]);
    expect(gw.logText).toContain('did not take the last spans in time');
  });
});

it('sends nothing where no collector is named', async () => {
  const send = vi.spyOn(globalThis, 'fetch');
  await using gw = await startGateway();
  await gw.query('{ __typename }');
  await gw.close();
  expect(send.mock.calls.every(([target]) => String(target).startsWith(gw.url))).toBe(true);
  send.mockRestore();
});
