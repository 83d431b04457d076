import fc from 'fast-check';
import { execute, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/graph/schema.js';
import { createLog } from '../../src/log.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { Dependencies } from '../../src/upstream/cache/dependencies.js';
import { type CostMeter, newCostMeter } from '../../src/upstream/read/read.js';
import { startUpstream, type Upstream, unlimited } from '../upstream/harness.js';
import { type Names, randomQuery } from './random-operations.js';

interface Answer {
  readonly text: string;
  readonly hasErrors: boolean;
  readonly meter: CostMeter;
  readonly dependencies: Dependencies;
}

interface Interfaces {
  readonly project: boolean;
  readonly catalogue: boolean;
  /** What a client's key has read may be shown only while upstream accepts the key. */
  readonly keyOwner: 'gateway' | 'client';
}

/** Both interfaces of one living world, and an operation on them as the gateway runs it. */
class Harness {
  readonly #upstream: Upstream;
  readonly #tenant: Tenant;

  constructor(upstream: Upstream, { project, catalogue, keyOwner }: Interfaces) {
    this.#upstream = upstream;
    this.#tenant = new Tenant({
      project: project ? upstream.projectWith({ rateLimit: unlimited, keyOwner }) : null,
      catalogue: catalogue ? upstream.catalogueWith({ rateLimit: unlimited, keyOwner }) : null,
      clock: upstream.clock,
      log: createLog({ level: 'silent', secrets: [] }),
      signal: new AbortController().signal,
    });
  }

  /** @param maxAgeMs what the client demands, as the gateway reads it: such an answer is not cached */
  async compute(query: string, maxAgeMs: number | null = null): Promise<Answer> {
    const meter = newCostMeter();
    const dependencies = new Dependencies();
    const scope = {
      signal: new AbortController().signal,
      priority: 'query',
      operationKey: {},
      meter,
      dependencies,
      ...(maxAgeMs !== null && { demand: { maxAgeMs, atMs: this.#upstream.clock.now() } }),
    } as const;
    const contextValue = { unify: new UnifyContext(this.#tenant, scope) };
    const document = parse(query);
    expect(validate(schema, document)).toEqual([]);
    const result = await this.#driven(Promise.resolve(execute({ schema, document, contextValue })));
    return { text: JSON.stringify(result), hasErrors: result.errors !== undefined, meter, dependencies };
  }

  /** A retry waits for the clock: it is moved on when nothing else is under way. */
  async #driven<T>(answer: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    answer.then(settle, settle);
    for (let idle = 0; !isSettled; idle = this.#isIdle() ? idle + 1 : 0) {
      await new Promise((resolve) => setImmediate(resolve));
      if (idle > 100) await this.#upstream.clock.advance(50);
    }
    return answer;
  }

  #isIdle(): boolean {
    const { sandbox } = this.#upstream;
    return sandbox.inFlight('project') + sandbox.inFlight('catalogue') === 0;
  }

  /** Whatever is being revalidated has landed. */
  async settle(): Promise<void> {
    await expect.poll(() => this.#isIdle()).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const mayBeCached = ({ hasErrors, meter, dependencies }: Answer) =>
  !hasErrors && meter.requests === 0 && dependencies.refusal === null;

type Step =
  | { readonly kind: 'ask'; readonly query: number }
  | { readonly kind: 'demand'; readonly query: number; readonly maxAgeMs: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'mask' }
  | { readonly kind: 'fail'; readonly source: 'project' | 'catalogue'; readonly status: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 5 }).map((query): Step => ({ kind: 'ask', query })) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('demand' as const),
      query: fc.nat({ max: 5 }),
      maxAgeMs: fc.constantFrom(0, 1_000, 10_000, 60_000, 3_600_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(200, 1_900, 2_100, 9_000, 29_000, 31_000, 149_000, 151_000, 600_000)
      .map((ms): Step => ({ kind: 'wait', ms })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'mask' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      source: fc.constantFrom('project' as const, 'catalogue' as const),
      status: fc.constantFrom(502, 401),
    }),
  },
);

const mayBeImmutable = (query: string) => /trigger|recording|health|waveform/i.test(query);

function namesOf({ sandbox: { world } }: Upstream): Names {
  return {
    deviceIds: world.project.sensors.slice(0, 3).map(({ device_id }) => device_id),
    stationCodes: world.project.sensors.slice(0, 3).flatMap(({ station }) => station ?? []),
    catalogueIds: world.catalogue.sensors.slice(0, 3).map(({ id }) => id),
    networkIds: world.catalogue.networks.map(({ id }) => id),
    projectEventIds: world.project.events.slice(-3).map(({ id }) => id),
  };
}

for (const interfaces of [
  { project: true, catalogue: true, keyOwner: 'gateway' },
  { project: true, catalogue: false, keyOwner: 'gateway' },
  { project: true, catalogue: true, keyOwner: 'client' },
] as const) {
  it(`a cached answer equals a computed one at any moment (${JSON.stringify(interfaces)})`, async () => {
    let compared = 0;
    await using upstream = await startUpstream({ sandbox: { live: true, rateLimits: false } });
    const names = namesOf(upstream);
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomQuery(schema, names), { minLength: 6, maxLength: 6 }),
        fc.array(step, { minLength: 10, maxLength: 40 }),
        async (queries, steps) => {
          upstream.sandbox.faults.clear();
          const harness = new Harness(upstream, interfaces);
          const cached = new Map<number, Answer>();
          const ask = async (index: number) => {
            const known = cached.get(index);
            const before = known?.dependencies.state(upstream.clock.now());
            const computed = await harness.compute(queries[index] ?? '{ __typename }');
            const isStill = known && known.dependencies.state(upstream.clock.now()) === before;
            if (known && isStill && before !== 'gone') {
              compared++;
              expect(known.text).toBe(computed.text);
              const meter = newCostMeter();
              known.dependencies.readAgain(meter);
              expect(meter).toEqual({ ...computed.meter, waitedMs: 0 });
            }
            if (mayBeCached(computed)) cached.set(index, computed);
            else cached.delete(index);
          };
          for (const one of steps) {
            if (one.kind === 'ask') {
              // What the first read is cached with the second.
              for (let time = 0; time < 3; time++) {
                await ask(one.query);
                await harness.settle();
              }
            } else if (one.kind === 'demand') {
              const query = queries[one.query] ?? '{ __typename }';
              const demanded = await harness.compute(query, one.maxAgeMs);
              // Immutable responses may be older.
              if (one.maxAgeMs > 0 && !mayBeImmutable(query)) {
                expect(demanded.meter.oldestAgeS).toBeLessThanOrEqual(one.maxAgeMs / 1000);
              }
              await harness.settle();
              // What was read for it makes no cached answer another one than a computed one.
              await ask(one.query);
            } else if (one.kind === 'wait') await upstream.clock.advance(one.ms);
            else if (one.kind === 'fail')
              upstream.sandbox.faults.add({ source: one.source, status: one.status, times: 2 });
            else {
              const { project } = upstream.sandbox.world.project;
              project.location_masked = !project.location_masked;
            }
          }
          await harness.settle();
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(100);
  }, 300_000);
}
