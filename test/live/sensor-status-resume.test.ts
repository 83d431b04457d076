import fc from 'fast-check';
import { execute, parse } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { schema } from '../../src/graph/schema.js';
import { createFeeds, type Feeds } from '../../src/live/feeds/feeds.js';
import { createLog } from '../../src/log.js';
import { unsharedStore } from '../../src/store/memory.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { createResponseCache } from '../../src/upstream/cache/response-cache.js';
import { createProjectClient } from '../../src/upstream/project/rest.js';
import { newCostMeter } from '../../src/upstream/read/read.js';
import { unlimited } from '../upstream/harness.js';
import { ModelHttp } from './delivered-model.js';

const pollMs = 12_000;

/** One gateway over the model: its own cache and feed. */
class Instance {
  readonly feeds: Feeds;
  readonly #tenant: Tenant;
  readonly #stop = new AbortController();

  constructor(http: ModelHttp) {
    const { clock } = http;
    const log = createLog({ level: 'silent', secrets: [] });
    const project = createProjectClient({
      baseUrl: 'http://model',
      key: 'svc_sk_model',
      keyOwner: 'gateway',
      http,
      cache: createResponseCache({ maxBytes: 64 * 1024 * 1024 }),
      store: unsharedStore,
      rateLimit: unlimited,
      clock,
      log,
      random: () => 0.5,
      timeoutMs: 10_000,
      maxWaitMs: 5_000,
    });
    this.#tenant = new Tenant({ project, catalogue: null, clock, log, signal: this.#stop.signal });
    this.feeds = createFeeds({
      tenant: this.#tenant,
      changes: () => null,
      connection: null,
      settings: {
        triggerPollIntervalMs: 5_000,
        triggerLookbackS: 600,
        eventPollIntervalMs: 10_000,
        sensorPollIntervalMs: pollMs,
      },
      random: () => 0.5,
    });
  }

  /** The list as a client reads it; null where it cannot be followed. */
  async list(filter = ''): Promise<{ cursor: string; statuses: Map<string, string> } | null> {
    const scope = {
      signal: this.#stop.signal,
      priority: 'query',
      operationKey: {},
      meter: newCostMeter(),
    } as const;
    const unify = new UnifyContext(this.#tenant, scope);
    const document = parse(`{ sensors(first: 500${filter}) { changesCursor nodes { deviceId status } } }`);
    const { data, errors } = await execute({ schema, document, contextValue: { unify, feeds: this.feeds } });
    const sensors = data?.sensors as
      | { changesCursor: string; nodes: { deviceId: string; status: string }[] }
      | undefined;
    if (errors || !sensors) return null;
    const statuses = new Map(sensors.nodes.map(({ deviceId, status }) => [deviceId, status]));
    return { cursor: sensors.changesCursor, statuses };
  }

  /** One subscriber stays all the time. */
  keep(): void {
    new Follower().connect(this);
  }

  stop(): void {
    this.feeds.close();
    this.#stop.abort();
  }
}

interface Got {
  readonly id: string;
  readonly previous: string;
  readonly status: string;
  readonly cursor: string;
}

/** A client that reads the list once and follows it, through whatever happens to its connection. */
class Follower {
  cursor: string | null = null;
  readonly statuses = new Map<string, string>();
  readonly got: Got[] = [];
  readonly faults: string[] = [];
  error: unknown = null;
  /** Its connection breaks behind the next change, though more may be on the way. */
  leavesBehindNext = false;
  #leave: (() => void) | null = null;

  get isConnected(): boolean {
    return this.#leave !== null;
  }

  connect({ feeds }: Instance): void {
    const stream = feeds.sensorStatusChanges({ filter: null, after: this.cursor });
    const iterator = stream[Symbol.asyncIterator]();
    let isOver = false;
    this.#leave = () => {
      isOver = true;
      void iterator.return?.();
    };
    void (async () => {
      try {
        for (let step = await iterator.next(); !step.done && !isOver; step = await iterator.next()) {
          const { pair, previousStatus: previous, status, cursor } = step.value.change;
          this.#take({ id: pair.project?.value.device_id ?? '', previous, status, cursor: cursor() });
        }
      } catch (error) {
        this.error = error;
      }
    })();
  }

  leave(): void {
    this.#leave?.();
    this.#leave = null;
    this.leavesBehindNext = false;
  }

  #take(change: Got): void {
    this.got.push(change);
    const known = this.statuses.get(change.id);
    // What was left out, repeated, or came out of order does not continue what is known.
    if (known !== undefined && (known !== change.previous || change.status === known))
      this.faults.push(`${change.id} was ${known}: ${change.previous} → ${change.status}`);
    this.statuses.set(change.id, change.status);
    this.cursor = change.cursor;
    if (this.leavesBehindNext) this.leave();
  }
}

const idOf = (number: number) => `001A2B3C${String(number).padStart(4, '0')}`;

function modelOf(count: number): ModelHttp {
  const model = new ModelHttp();
  for (let i = 0; i < count; i++)
    model.sensors.push({ id: idOf(i), startMs: model.clock.wallMs(), isOpen: i % 2 === 0, state: 1 });
  return model;
}

const statusesOf = ({ sensors }: ModelHttp) =>
  new Map(sensors.map(({ id, isOpen }) => [id, isOpen ? 'ONLINE' : 'OFFLINE']));

type Step =
  | {
      readonly do: 'flip' | 'leave' | 'leave behind next' | 'move to another instance' | 'list' | 'restart';
      readonly pick: number;
    }
  | { readonly do: 'fail'; readonly times: number };

const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('flip' as const), pick }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'leave',
        'leave behind next',
        'move to another instance',
        'move to another instance' as const,
      ),
      pick,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('list', 'restart' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), times: fc.nat({ max: 4 }) }) },
);
const wait = fc.oneof(
  fc.constant(0),
  fc.nat({ max: 1_000 }),
  fc.nat({ max: 8_000 }),
  fc.nat({ max: 40_000 }),
);
const schedule = fc.array(fc.tuple(step, wait), { minLength: 10, maxLength: 50 });
const delay = fc.tuple(fc.constantFrom(0, 50, 700), fc.constantFrom(0, 50, 700));

async function play(steps: readonly (readonly [Step, number])[], delays: ModelHttp['delays']): Promise<void> {
  const model = modelOf(4);
  const { clock } = model;
  model.delays = delays;
  const instances = [new Instance(model), new Instance(model)];
  // Their polls do not coincide.
  for (const instance of instances) {
    instance.keep();
    await clock.advance(pollMs / 2);
  }
  const followers: Follower[] = [];
  const instanceAt = (n: number) => instances[n % instances.length] as Instance;
  const list = async (n: number) => {
    const listed = await instanceAt(n).list();
    if (!listed) return;
    const follower = new Follower();
    for (const [id, status] of listed.statuses) follower.statuses.set(id, status);
    follower.cursor = listed.cursor;
    followers.push(follower);
  };
  const listing: Promise<void>[] = [list(0), list(1)];
  await clock.advance(5_000);
  for (const [one, waitMs] of steps) {
    if (one.do === 'fail') model.failing += one.times;
    else if (one.do === 'list') listing.push(list(one.pick));
    else if (one.do === 'restart') {
      const at = one.pick % instances.length;
      instances[at]?.stop();
      instances[at] = new Instance(model);
      instances[at].keep();
      // Its subscribers do not know which of them it was.
      for (const follower of followers) if (follower.isConnected) follower.leave();
    } else if (one.do === 'flip') {
      const sensor = model.sensors[one.pick % model.sensors.length];
      if (sensor) sensor.isOpen = !sensor.isOpen;
    } else {
      const follower = followers[one.pick % Math.max(1, followers.length)];
      if (one.do === 'leave behind next' && follower) follower.leavesBehindNext = follower.isConnected;
      else if (one.do !== 'leave behind next') follower?.leave();
      if (one.do === 'move to another instance') follower?.connect(instanceAt(one.pick >> 3));
    }
    await clock.advance(waitMs);
  }
  model.failing = 0;
  await clock.advance(60_000);
  for (const [n, follower] of followers.entries()) if (!follower.isConnected) follower.connect(instanceAt(n));
  await clock.advance(300_000);
  await Promise.all(listing);
  expect(followers.length).toBeGreaterThan(0);
  for (const { faults, error, statuses } of followers) {
    expect({ faults, error }).toEqual({ faults: [], error: null });
    expect(statuses).toEqual(statusesOf(model));
  }
  for (const instance of instances) instance.stop();
}

/** A follower of the list of an instance, which has somebody else listening all the time. */
async function followerOf(instance: Instance): Promise<Follower> {
  const listed = await instance.list();
  const follower = new Follower();
  for (const [id, status] of listed?.statuses ?? []) follower.statuses.set(id, status);
  follower.cursor = listed?.cursor ?? null;
  return follower;
}

/** Long lists are decoded in slices of the event loop, for which the model's clock does not wait. */
const until = ({ clock }: ModelHttp, holds: () => void) =>
  vi.waitFor(async () => {
    await clock.advance(1_000);
    holds();
  }, 20_000);

const flip = (model: ModelHttp, ...numbers: readonly number[]) => {
  for (const number of numbers) {
    const sensor = model.sensors[number];
    if (sensor) sensor.isOpen = !sensor.isOpen;
  }
};
const linesOf = ({ got }: Follower) =>
  got.map(({ id, previous, status }) => `${id.slice(-1)} ${previous} ${status}`);

describe('sensorStatusChanges behind a cursor', () => {
  it('delivers from the log every change that was missed, not the last alone', async () => {
    const model = modelOf(3);
    const instance = new Instance(model);
    instance.keep();
    await model.clock.advance(1_000);
    const follower = await followerOf(instance);
    follower.connect(instance);
    await model.clock.advance(pollMs);
    flip(model, 0);
    await model.clock.advance(pollMs);
    follower.leave();
    for (let i = 0; i < 2; i++) {
      flip(model, 0);
      await model.clock.advance(pollMs);
    }
    follower.connect(instance);
    await model.clock.advance(0);
    expect(linesOf(follower)).toEqual(['0 ONLINE OFFLINE', '0 OFFLINE ONLINE', '0 ONLINE OFFLINE']);
    instance.stop();
  });

  it('delivers after a restart each sensor whose status is another, and resumes within that', async () => {
    const model = modelOf(4);
    const before = new Instance(model);
    before.keep();
    await model.clock.advance(1_000);
    const follower = await followerOf(before);
    before.stop();
    await model.clock.advance(60_000);
    flip(model, 1, 2, 3);
    const after = new Instance(model);
    follower.leavesBehindNext = true;
    follower.connect(after);
    await model.clock.advance(1_000);
    expect(follower.got).toHaveLength(1);
    follower.connect(after);
    await model.clock.advance(20_000);
    expect(linesOf(follower)).toEqual(['1 OFFLINE ONLINE', '2 ONLINE OFFLINE', '3 OFFLINE ONLINE']);
    after.stop();
  });

  it('waits at an instance that has read upstream earlier than the one before', async () => {
    const model = modelOf(2);
    const [one, other] = [new Instance(model), new Instance(model)];
    one.keep();
    await model.clock.advance(6_000);
    other.keep();
    const follower = await followerOf(one);
    follower.connect(one);
    // It reads for the new subscriber 10 seconds after its last poll, then at its interval.
    await model.clock.advance(10_000 + pollMs - 6_000 - 500);
    flip(model, 0);
    await model.clock.advance(1_000);
    expect(linesOf(follower)).toEqual(['0 ONLINE OFFLINE']);
    follower.leave();
    follower.connect(other);
    await model.clock.advance(pollMs);
    flip(model, 0);
    await model.clock.advance(pollMs);
    expect(linesOf(follower)).toEqual(['0 ONLINE OFFLINE', '0 OFFLINE ONLINE']);
    one.stop();
    other.stop();
  });

  it('holds as many sensors as there are in a bounded cursor, and expires where too many have changed', async () => {
    const model = modelOf(2_000);
    const before = new Instance(model);
    const [few, many] = [await followerOf(before), await followerOf(before)];
    expect(few.cursor?.length).toBeLessThanOrEqual(1_000);
    before.stop();
    flip(model, ...Array.from({ length: 50 }, (_, i) => 30 * i + 7));
    const after = new Instance(model);
    few.connect(after);
    await until(model, () => expect(few.got).toHaveLength(50));
    const present = statusesOf(model);
    expect(few.got.every(({ id, status }) => present.get(id) === status)).toBe(true);
    expect(few.faults).toEqual([]);
    few.leave();
    flip(model, ...Array.from({ length: 300 }, (_, i) => 5 * i));
    const later = new Instance(model);
    many.connect(later);
    await until(model, () => expect(many.error).toMatchObject({ code: 'CURSOR_EXPIRED' }));
    expect(many.got).toEqual([]);
    after.stop();
    later.stop();
  });

  it('has no position before a sensor that cannot be read', async () => {
    const model = modelOf(3);
    const before = new Instance(model);
    const follower = await followerOf(before);
    before.stop();
    await model.clock.advance(60_000);
    const [sensor] = model.sensors;
    Object.assign(sensor ?? {}, { isOpen: false, id: '' });
    const after = new Instance(model);
    follower.connect(after);
    await model.clock.advance(20_000);
    expect(follower.error).toMatchObject({ code: 'CURSOR_EXPIRED' });
    after.stop();
  });

  it('continues each client from what it has, whatever happens and wherever it comes', async () => {
    await fc.assert(fc.asyncProperty(schedule, fc.array(delay, { minLength: 1, maxLength: 5 }), play), {
      numRuns: 150,
    });
  }, 120_000);
});
