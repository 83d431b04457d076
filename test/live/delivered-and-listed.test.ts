import fc from 'fast-check';
import { execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/graph/schema.js';
import { createFeeds, type Feeds } from '../../src/live/feeds/feeds.js';
import { createLog } from '../../src/log.js';
import { unsharedStore } from '../../src/store/memory.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { Dependencies } from '../../src/upstream/cache/dependencies.js';
import { createResponseCache } from '../../src/upstream/cache/response-cache.js';
import { known } from '../../src/upstream/decode/fields.js';
import { createProjectClient } from '../../src/upstream/project/rest.js';
import { newCostMeter } from '../../src/upstream/read/read.js';
import { unlimited } from '../upstream/harness.js';
import { deviceOf, ModelHttp, type ModelRecord } from './delivered-model.js';
import { type ModelLink, SharedModel } from './shared-model.js';

type Kind = 'triggers' | 'events' | 'sensors';
interface Shown {
  readonly id: string;
  readonly state: number;
  readonly isOpen?: boolean;
}
interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: read by the shape of the query
  readonly data: any;
  readonly isFailed: boolean;
}

/** A question, and which of what was delivered its answer has to have. */
interface Question {
  readonly kind: Kind;
  readonly text: (record: ModelRecord | undefined, model: ModelHttp) => string;
  /** The records that the answer shows; null where it cannot show any. */
  readonly shown: (answer: Answer) => readonly Shown[] | null;
  readonly includes: (
    record: Shown,
    answer: Answer,
    model: ModelHttp,
    asked: ModelRecord | undefined,
  ) => boolean;
}

const triggerFields = 'nodes { triggerId status pgaHorizontal startTime } pageInfo { hasNextPage }';
// biome-ignore lint/suspicious/noExplicitAny: nodes of the query above
const triggerOf = ({ triggerId, status, pgaHorizontal }: any): Shown => ({
  id: triggerId,
  state: pgaHorizontal,
  isOpen: status === 'OPEN',
});
const shownTriggers = ({ data }: Answer) => data?.triggers?.nodes.map(triggerOf) ?? null;
const startOf = (model: ModelHttp, id: string) => model.triggers.find((one) => one.id === id)?.startMs ?? 0;
/** On the page, unless it lies behind its end. */
const isOnPage = ({ id }: Shown, { data }: Answer, model: ModelHttp, sign = -1) => {
  const { nodes, pageInfo } = data.triggers;
  const last = nodes.at(-1);
  return !pageInfo.hasNextPage || (last && sign * (startOf(model, id) - Date.parse(last.startTime)) < 0);
};
const triggerList = (args: string, own: Partial<Question> = {}): Question => ({
  kind: 'triggers',
  text: () => `{ triggers(${args}) { ${triggerFields} } }`,
  shown: shownTriggers,
  includes: (record, answer, model) => isOnPage(record, answer, model),
  ...own,
});
const timeOf = (ms: number) => new Date(ms).toISOString();

const questions: readonly Question[] = [
  triggerList('first: 50'),
  triggerList('first: 2'),
  triggerList('first: 50, orderBy: START_TIME_ASC', {
    includes: (record, answer, model) => isOnPage(record, answer, model, 1),
  }),
  triggerList('first: 50, filter: { deviceId: "001A2B3C4D5E" }', {
    includes: (record, answer, model) =>
      deviceOf(record) === '001A2B3C4D5E' && isOnPage(record, answer, model),
  }),
  triggerList('first: 50, filter: { status: CLOSED }', {
    includes: (record, answer, model) => record.isOpen === false && isOnPage(record, answer, model),
  }),
  triggerList('', {
    // Of the past up to a minute ago, which whoever asks within the minute asks again.
    text: (_, { clock }) =>
      `{ triggers(first: 50, filter: { to: "${timeOf(Math.floor(clock.wallMs() / 60_000) * 60_000)}" }) { ${triggerFields} } }`,
    includes: (record, answer, model) =>
      startOf(model, record.id) < Math.floor(model.clock.wallMs() / 60_000 - 1) * 60_000 &&
      isOnPage(record, answer, model),
  }),
  {
    kind: 'triggers',
    text: (record) =>
      `{ node(id: "${idOf(record)}") { ... on Trigger { triggerId status pgaHorizontal startTime } } }`,
    shown: ({ data }) => (data.node === null ? [] : [triggerOf(data.node)]),
    includes: ({ id }, _answer, _model, asked) => id === asked?.id,
  },
  {
    kind: 'events',
    text: () => '{ events(first: 50) { nodes { projectEventId magnitude } unavailableSources { source } } }',
    shown: ({ data }) =>
      data?.events?.unavailableSources.length === 0
        ? data.events.nodes.map((node: { projectEventId: string; magnitude: number }) => ({
            id: node.projectEventId,
            state: node.magnitude,
          }))
        : null,
    includes: () => true,
  },
  {
    kind: 'events',
    text: (record) =>
      `{ event(by: { projectEventId: "${record?.id ?? 'none'}" }) { projectEventId magnitude } }`,
    shown: ({ data }) =>
      data.event === null ? [] : [{ id: data.event.projectEventId, state: data.event.magnitude }],
    includes: ({ id }, _answer, _model, asked) => id === asked?.id,
  },
  {
    kind: 'sensors',
    text: () => '{ sensors(first: 50) { nodes { deviceId firmwareVersion } unavailableSources { source } } }',
    shown: ({ data }) =>
      data?.sensors?.unavailableSources.length === 0 ? data.sensors.nodes.map(sensorOf) : null,
    includes: () => true,
  },
  {
    kind: 'sensors',
    text: (record) => `{ sensor(by: { deviceId: "${record?.id ?? '0'}" }) { deviceId firmwareVersion } }`,
    shown: ({ data }) => (data.sensor === null ? [] : [sensorOf(data.sensor)]),
    includes: ({ id }, _answer, _model, asked) => id === asked?.id,
  },
];
const sensorOf = (node: { deviceId: string; firmwareVersion: string }): Shown => ({
  id: node.deviceId,
  state: Number(node.firmwareVersion),
});
const idOf = (record: ModelRecord | undefined) =>
  record
    ? Buffer.from(
        `Trigger:${record.id}:${deviceOf(record)}:${timeOf(record.startMs).replace(/\.?0*Z$/, 'Z')}`,
      ).toString('base64url')
    : 'none';

/** One gateway over the model: its own cache and feeds, with subscribers to all of them. */
class Instance {
  readonly delivered: Readonly<Record<Kind, Map<string, Shown>>> = {
    triggers: new Map(),
    events: new Map(),
    sensors: new Map(),
  };
  readonly feeds: Feeds;
  readonly #tenant: Tenant;
  readonly #model: ModelHttp;
  readonly #cached = new Map<string, { readonly answer: Answer; readonly dependencies: Dependencies }>();
  readonly #stop = new AbortController();

  constructor(model: ModelHttp, changes: (feed: string) => ModelLink) {
    const { clock } = model;
    this.#model = model;
    const log = createLog({ level: 'silent', secrets: [] });
    const project = createProjectClient({
      baseUrl: 'http://model',
      key: 'svc_sk_model',
      keyOwner: 'gateway',
      http: model,
      cache: createResponseCache({ maxBytes: 64 * 1024 * 1024 }),
      store: unsharedStore,
      rateLimit: unlimited,
      clock,
      log,
      random: () => 0.5,
      timeoutMs: 10_000,
      maxWaitMs: 5_000,
    });
    const { signal } = this.#stop;
    this.#tenant = new Tenant({ project, catalogue: null, clock, log, signal });
    this.feeds = createFeeds({
      tenant: this.#tenant,
      changes,
      connection: null,
      settings: {
        triggerPollIntervalMs: 2_000,
        triggerLookbackS: 600,
        eventPollIntervalMs: 3_000,
        sensorPollIntervalMs: 3_000,
      },
      random: () => 0.5,
    });
    const { triggers, events, sensors } = this.delivered;
    void each(this.feeds.triggerChanges({ filter: null, after: null }), ({ change: { record } }) =>
      triggers.set(record.triggerId, {
        id: record.triggerId,
        state: known(record.pgaHorizontalMg) ?? 0,
        isOpen: record.status === 'OPEN',
      }),
    );
    void each(this.feeds.eventChanges({ filter: null, after: null }), ({ change: { record } }) =>
      events.set(record.id, { id: record.id, state: known(record.event.magnitude) ?? 0 }),
    );
    void each(this.feeds.sensorStatusChanges({ filter: null, after: null }), ({ change: { pair } }) => {
      const { device_id: id, firmware } = pair.project?.value ?? { device_id: '', firmware: null };
      sensors.set(id, { id, state: Number(known(firmware)) });
    });
  }

  /** As the gateway answers: a whole answer that holds is given again. */
  async ask(text: string): Promise<Answer> {
    const cached = this.#cached.get(text);
    if (cached && cached.dependencies.state(this.#model.clock.now()) !== 'gone') {
      cached.dependencies.readAgain(newCostMeter());
      return cached.answer;
    }
    const [meter, dependencies] = [newCostMeter(), new Dependencies()];
    const scope = {
      signal: this.#stop.signal,
      priority: 'query',
      operationKey: {},
      meter,
      dependencies,
    } as const;
    const contextValue = { unify: new UnifyContext(this.#tenant, scope) };
    const { data, errors } = await execute({ schema, document: parse(text), contextValue });
    const answer: Answer = { data: JSON.parse(JSON.stringify(data ?? null)), isFailed: errors !== undefined };
    if (!errors && meter.requests === 0 && dependencies.refusal === null)
      this.#cached.set(text, { answer, dependencies });
    else this.#cached.delete(text);
    return answer;
  }

  close(): void {
    this.feeds.close();
    this.#stop.abort();
  }
}

async function each<T>(stream: AsyncIterable<T>, take: (one: T) => void): Promise<void> {
  for await (const one of stream) take(one);
}

type Step =
  | { readonly do: 'ask'; readonly question: number; readonly pick: number; readonly waits: boolean }
  | {
      readonly do: 'open' | 'close' | 'update' | 'issue' | 'reissue' | 'flip' | 'late';
      readonly pick: number;
    }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fail'; readonly times: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      question: fc.nat({ max: questions.length - 1 }),
      pick: fc.nat(),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('open', 'close', 'update', 'issue', 'reissue', 'flip', 'late'),
      pick: fc.nat(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 4_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), times: fc.nat({ max: 6 }) }) },
);
const delay = fc.tuple(fc.constantFrom(0, 0, 50, 700), fc.constantFrom(0, 0, 50, 700));

let checks = 0;

async function play(steps: readonly Step[], delays: ModelHttp['delays']): Promise<void> {
  const model = new ModelHttp();
  const { clock } = model;
  const newest = () => clock.wallMs();
  for (let id = 1; id <= 4; id++)
    model.triggers.push({ id: `${id}`, startMs: newest() - id * 90_000, isOpen: false, state: 1 });
  for (const id of ['001A2B3C4D5E', '001A2B3C4D5F'])
    model.sensors.push({ id, startMs: newest(), isOpen: true, state: 1 });
  const shared = new Map<string, SharedModel>();
  const changesOf = (feed: string) => {
    const one = shared.get(feed) ?? new SharedModel(clock);
    shared.set(feed, one);
    return one.link();
  };
  const instances = [new Instance(model, changesOf), new Instance(model, changesOf)];
  await clock.advance(8_000);
  model.delays = delays;
  let last = 10;
  const pending: Promise<void>[] = [];
  const ask = async (one: Step & { do: 'ask' }) => {
    const question = questions[one.question] as Question;
    const instance = instances[one.pick % 2] as Instance;
    const records = model[question.kind];
    const record = records[(one.pick >> 1) % Math.max(1, records.length)];
    const due = [...instance.delivered[question.kind].values()];
    const answer = await instance.ask(question.text(record, model));
    const shown = answer.isFailed ? null : question.shown(answer);
    if (!shown) return;
    const byId = new Map(shown.map((item) => [item.id, item]));
    for (const change of due) {
      if (!question.includes(change, answer, model, record)) continue;
      checks++;
      const item = byId.get(change.id);
      expect([question.text(record, model), change.id, item !== undefined]).toEqual([
        expect.anything(),
        change.id,
        true,
      ]);
      expect(item?.state).toBeGreaterThanOrEqual(change.state);
      if (change.isOpen === false) expect(item?.isOpen).toBe(false);
    }
  };
  for (const one of steps) {
    const open = model.triggers.filter(({ isOpen }) => isOpen);
    const picked = <T>(all: readonly T[]) =>
      'pick' in one ? all[one.pick % Math.max(1, all.length)] : undefined;
    const trigger = picked(open);
    if (one.do === 'wait') await clock.advance(one.ms);
    else if (one.do === 'fail') model.failing += one.times;
    else if (one.do === 'open' || one.do === 'late') {
      const startMs = newest() - (one.do === 'late' ? (one.pick % 300) * 1_000 : 0);
      model.triggers.push({ id: `${last++}`, startMs, isOpen: one.do === 'open', state: 1 });
    } else if (one.do === 'update' && trigger) trigger.state++;
    else if (one.do === 'close' && trigger)
      Object.assign(trigger, { isOpen: false, state: trigger.state + 1 });
    else if (one.do === 'issue')
      model.events.push({ id: `${last++}`, startMs: newest(), isOpen: false, state: 1 });
    else if (one.do === 'reissue') {
      const event = picked(model.events);
      if (event)
        model.events.splice(model.events.indexOf(event), 1, {
          ...event,
          startMs: newest(),
          state: event.state + 1,
        });
    } else if (one.do === 'flip') {
      const sensor = picked(model.sensors);
      if (sensor) Object.assign(sensor, { isOpen: !sensor.isOpen, state: sensor.state + 1 });
    } else if (one.do === 'ask') {
      const asking = ask(one);
      pending.push(asking);
      asking.catch(() => {});
      if (one.waits) await clock.advance(0);
    }
  }
  model.failing = 0;
  await clock.advance(30_000);
  await Promise.all(pending);
  for (const instance of instances) instance.close();
  await clock.advance(0);
}

it('what a feed has delivered is in every answer to what is asked afterwards, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 60, maxLength: 150 }),
      fc.array(delay, { minLength: 1, maxLength: 7 }),
      play,
    ),
    { numRuns: 150, endOnFailure: true },
  );
  expect(checks).toBeGreaterThan(1_000);
}, 300_000);
