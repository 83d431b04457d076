import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { UpstreamUnavailable } from '../../src/errors.js';
import { createFeeds, type Feeds } from '../../src/live/feeds/feeds.js';
import { createLog } from '../../src/log.js';
import { Tenant } from '../../src/unify/context.js';
import type { CatalogueClient, EventQuery as CatalogueQuery } from '../../src/upstream/catalogue/client.js';
import type { EventQuery, ProjectClient } from '../../src/upstream/project/client.js';

interface Quake {
  readonly number: number;
  readonly originMs: number;
  /** Both interfaces may use one id. */
  readonly hasOneId: boolean;
  /** When the project last issued it; null before. */
  issuedMs: number | null;
  magnitude: number;
  isInCatalogue: boolean;
}

/** Both lists of earthquakes in memory, on a clock that tests drive. */
class Model {
  readonly clock = new ManualClock();
  readonly quakes: Quake[] = [];
  failing = { project: 0, catalogue: 0 };
  projectRequests = 0;
  /** The catalogue gives its first page for every other, and says that there are a thousand. */
  repeatsPage = false;
  catalogueRequests = 0;

  add(agoMs: number, hasOneId: boolean): Quake {
    const quake = {
      number: this.quakes.length,
      originMs: this.clock.wallMs() - agoMs,
      hasOneId,
      issuedMs: null,
      magnitude: 3,
      isInCatalogue: false,
    };
    this.quakes.push(quake);
    return quake;
  }

  feeds(): Feeds {
    const status = () => ({ rateLimit: { perMinute: 6_000, remainingToday: null } }) as never;
    const project: Partial<ProjectClient> = {
      delivering: () => {},
      status,
      events: async (query) => this.#ofProject(query),
    };
    const catalogue: Partial<CatalogueClient> = {
      delivering: () => {},
      status,
      largestEventPage: () => 100,
      events: async (query) => this.#ofCatalogue(query),
    };
    const tenant = new Tenant({
      project: project as ProjectClient,
      catalogue: catalogue as CatalogueClient,
      clock: this.clock,
      log: createLog({ level: 'silent', secrets: [] }),
      signal: new AbortController().signal,
    });
    const settings = {
      triggerPollIntervalMs: 5_000,
      triggerLookbackS: 600,
      eventPollIntervalMs: 10_000,
      sensorPollIntervalMs: 30_000,
    };
    return createFeeds({ changes: () => null, connection: null, tenant, settings, random: () => 0.5 });
  }

  #fail(source: 'project' | 'catalogue'): void {
    if (this.failing[source] === 0) return;
    this.failing[source]--;
    throw new UpstreamUnavailable('scripted');
  }

  // biome-ignore lint/suspicious/noExplicitAny: a page as the client decodes it
  #ofProject({ from, to, order, limit, offset }: EventQuery): any {
    this.projectRequests++;
    this.#fail('project');
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
    const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
    const sign = order === 'asc' ? 1 : -1;
    const matching = this.quakes
      .flatMap((quake) => (quake.issuedMs === null ? [] : [{ ...quake, issuedMs: quake.issuedMs }]))
      .filter(({ issuedMs }) => issuedMs >= fromMs && issuedMs <= toMs)
      .sort((a, b) => sign * (a.issuedMs - b.issuedMs || a.number - b.number));
    const items = matching.slice(offset, offset + limit).map((quake) => ({
      id: quake.hasOneId ? `e${quake.number}` : `p${quake.number}`,
      issued_at: new Date(quake.issuedMs).toISOString(),
      magnitude: quake.magnitude,
      station_count: 5,
      pick_stations: null,
      origin: {
        id: `o${quake.number}`,
        ...placeOf(quake, 0.1),
        depth: 8,
        origin_time: quake.originMs / 1000 + 3,
        issued_at: quake.issuedMs / 1000,
      },
    }));
    return { value: { items, total: matching.length, received: items.length }, readAtMs: this.clock.now() };
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  #ofCatalogue({ start, end, page = 1, limit = 100 }: CatalogueQuery): any {
    this.catalogueRequests++;
    this.#fail('catalogue');
    const fromMs = start ? Date.parse(start) : Number.NEGATIVE_INFINITY;
    const toMs = end ? Date.parse(end) : Number.POSITIVE_INFINITY;
    const matching = this.quakes.filter(
      ({ isInCatalogue, originMs }) => isInCatalogue && originMs >= fromMs && originMs <= toMs,
    );
    const first = this.repeatsPage ? 0 : (page - 1) * limit;
    const items = matching.slice(first, first + limit).map((quake) => ({
      id: quake.hasOneId ? `e${quake.number}` : `c${quake.number}`,
      origin_time: new Date(quake.originMs).toISOString(),
      ...placeOf(quake, 0),
      depth_km: 10,
      magnitude: 3.1,
      magnitude_type: 'ML',
    }));
    const total = this.repeatsPage ? 100_000 : matching.length;
    const value = { items, total, received: items.length, limit, unreadable: [] };
    return { value, readAtMs: this.clock.now() };
  }
}

const placeOf = ({ number }: Quake, off: number) => ({
  latitude: -60 + ((number * 7) % 120) + off,
  longitude: -170 + ((number * 13) % 340),
});

/** A client that resumes with its last cursor: what it has received of each earthquake. */
class Follower {
  readonly lines: string[] = [];
  cursor: string | null = null;
  error: unknown = null;
  #leave: (() => void) | null = null;

  get isConnected(): boolean {
    return this.#leave !== null;
  }

  connect(feeds: Feeds): void {
    const iterator = feeds.eventChanges({ filter: null, after: this.cursor })[Symbol.asyncIterator]();
    let isOver = false;
    this.#leave = () => {
      isOver = true;
      void iterator.return?.();
    };
    void (async () => {
      try {
        for (let step = await iterator.next(); !step.done && !isOver; step = await iterator.next()) {
          const { kind, record, cursor } = step.value.change;
          this.lines.push(`${kind} ${/\d+/.exec(record.id)?.[0]}`);
          this.cursor = cursor();
        }
      } catch (error) {
        this.error = error;
      }
    })();
  }

  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }
}

type Step =
  | {
      readonly do: 'happen';
      readonly agoS: number;
      readonly hasOneId: boolean;
      readonly by: 'project' | 'catalogue';
    }
  | { readonly do: 'issue' | 'list' | 'leave' | 'come back' | 'restart'; readonly pick: number }
  | { readonly do: 'fail'; readonly source: 'project' | 'catalogue'; readonly times: number };

const pick = fc.nat(1_000);
const source = fc.constantFrom('project' as const, 'catalogue' as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('happen' as const),
      agoS: fc.integer({ min: 20, max: 900 }),
      hasOneId: fc.boolean(),
      by: source,
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('issue', 'list' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('leave', 'come back' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fail' as const), source, times: fc.nat({ max: 3 }) }),
  },
);
const schedule = fc.array(
  fc.tuple(step, fc.oneof(fc.constant(0), fc.nat({ max: 15_000 }), fc.nat({ max: 150_000 }))),
  { minLength: 5, maxLength: 30 },
);

async function play(steps: readonly (readonly [Step, number])[]): Promise<void> {
  const model = new Model();
  const { clock } = model;
  const old = model.add(3_000_000, false);
  Object.assign(old, { issuedMs: clock.wallMs() - 2_900_000 });
  Object.assign(model.add(6_000_000, false), { isInCatalogue: true });
  const before = model.quakes.length;
  let feeds = model.feeds();
  const followers = [new Follower(), new Follower()];
  for (const follower of followers) follower.connect(feeds);
  await clock.advance(5_000);
  for (const [one, waitMs] of steps) {
    const quake =
      'pick' in one ? model.quakes[before + (one.pick % (model.quakes.length - before || 1))] : null;
    const follower = 'pick' in one ? followers[one.pick % 2] : null;
    if (one.do === 'happen') {
      const made = model.add(one.agoS * 1000, one.hasOneId);
      if (one.by === 'project') made.issuedMs = clock.wallMs();
      else made.isInCatalogue = true;
    } else if (one.do === 'issue' && quake) {
      quake.magnitude += 0.1;
      quake.issuedMs = clock.wallMs();
    } else if (one.do === 'list' && quake) quake.isInCatalogue = true;
    // One that has nothing yet would begin anew.
    else if (one.do === 'leave' && follower?.cursor) follower.leave();
    else if (one.do === 'come back' && follower && !follower.isConnected) {
      // A feed that begins without the catalogue cannot know what it was sent (docs/behaviour.md 9.7).
      if (!followers.some(({ isConnected }) => isConnected)) model.failing.catalogue = 0;
      follower.connect(feeds);
    } else if (one.do === 'restart' && followers.every(({ cursor }) => cursor !== null)) {
      for (const each of followers) each.leave();
      feeds.close();
      feeds = model.feeds();
    } else if (one.do === 'fail') model.failing[one.source] += one.times;
    await clock.advance(waitMs);
  }
  model.failing = { project: 0, catalogue: 0 };
  for (const follower of followers) if (!follower.isConnected) follower.connect(feeds);
  await clock.advance(400_000);
  const expected = model.quakes.slice(before).map(({ number }) => `ISSUED ${number}`);
  for (const { lines, error } of followers) {
    expect(error).toBe(null);
    expect(lines.filter((line) => line.startsWith('ISSUED')).sort()).toEqual(expected.sort());
    for (const { number } of model.quakes.slice(before)) {
      expect(lines.find((line) => line.endsWith(` ${number}`))).toBe(`ISSUED ${number}`);
    }
  }
  feeds.close();
}

it('each earthquake of either interface is issued once, in whatever order they list it', async () => {
  await fc.assert(fc.asyncProperty(schedule, play), { numRuns: 200, endOnFailure: true });
}, 120_000);

it('an earthquake that both have listed since a cursor of another gateway comes once', async () => {
  const model = new Model();
  const { clock } = model;
  const before = model.feeds();
  const follower = new Follower();
  follower.connect(before);
  await clock.advance(5_000);
  model.add(30_000, false).issuedMs = clock.wallMs();
  await clock.advance(20_000);
  expect(follower.lines).toEqual(['ISSUED 0']);
  follower.leave();
  before.close();
  const after = model.feeds();
  const other = new Follower();
  other.connect(after);
  await clock.advance(5_000);
  const quake = model.add(30_000, false);
  quake.isInCatalogue = true;
  await clock.advance(70_000);
  quake.issuedMs = clock.wallMs();
  await clock.advance(20_000);
  expect(other.lines).toEqual(['ISSUED 1', 'REISSUED 1']);
  follower.connect(after);
  await clock.advance(20_000);
  expect(follower.lines).toEqual(['ISSUED 0', 'ISSUED 1']);
  after.close();
});

it('a catalogue that was away when the feed began brings what happened since, and takes no request for each before', async () => {
  const model = new Model();
  for (let number = 0; number < 40; number++) model.add(number * 1_800_000, false).isInCatalogue = true;
  model.failing.catalogue = 1;
  const feeds = model.feeds();
  const follower = new Follower();
  follower.connect(feeds);
  await model.clock.advance(20_000);
  model.add(10_000, false).isInCatalogue = true;
  model.projectRequests = 0;
  await model.clock.advance(150_000);
  expect(follower.lines).toEqual(['ISSUED 40']);
  // A poll every 10 s, and the sweep between them.
  expect(model.projectRequests).toBeLessThanOrEqual(20);
  feeds.close();
});

it('a catalogue that repeats a page is not read without end', async () => {
  const model = new Model();
  for (let number = 1; number <= 5; number++) model.add(number * 1_800_000, false).isInCatalogue = true;
  model.repeatsPage = true;
  const feeds = model.feeds();
  const follower = new Follower();
  follower.connect(feeds);
  await model.clock.advance(20_000);
  model.add(10_000, false).issuedMs = model.clock.wallMs();
  await model.clock.advance(300_000);
  expect(follower.lines).toEqual(['ISSUED 5']);
  // Nine pages, twice, by each of seven polls and for the new earthquake.
  expect(model.catalogueRequests).toBeLessThanOrEqual(8 * 18);
  feeds.close();
});

it('the catalogue is polled once a minute, however often the project is', async () => {
  const model = new Model();
  const feeds = model.feeds();
  new Follower().connect(feeds);
  await model.clock.advance(5_000);
  model.catalogueRequests = 0;
  await model.clock.advance(600_000);
  expect(model.catalogueRequests).toBeLessThanOrEqual(10);
  expect(model.catalogueRequests).toBeGreaterThanOrEqual(8);
  feeds.close();
});
