import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Session } from '../../examples/dashboard/src/data/session.js';
import { openWorld, type World } from '../../examples/dashboard/src/data/world.js';
import {
  EventChangesDocument,
  EventsDocument,
  GatewayStatusDocument,
  SensorsDocument,
  TriggerChangesDocument,
  TriggersDocument,
} from '../../examples/dashboard/src/operations/operations.js';
import { de } from '../../examples/dashboard/src/texts/de.js';
import { en } from '../../examples/dashboard/src/texts/en.js';
import { GraphError } from '../../src/client/index.js';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) world.close();
  // What they wait for ends.
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const trigger = (id: string, status: string) => ({ id, status, startTime: `2026-11-30T00:00:0${id}Z` });
const event = (id: string) => ({ id, originTime: `2026-11-30T00:00:0${id}Z` });
const expired = new GraphError({ message: 'for developers', extensions: { code: 'CURSOR_EXPIRED' } });

interface Feed {
  readonly cursor: string | null;
  readonly connect: (isConnected: boolean) => void;
  readonly change: (data: unknown) => void;
  readonly fail: (error: GraphError) => void;
}

/** A gateway that has what the test says. */
class Gateway implements Session {
  triggers: unknown[] = [];
  events: unknown[] = [];
  isAway = false;
  cursor = 'first';
  readonly feeds = new Map<unknown, Feed>();

  readonly ask: Session['ask'] = async (document) => {
    if (this.isAway) throw new GraphError({ message: 'away', extensions: { code: 'NETWORK_ERROR' } });
    const list = (nodes: unknown[]) => ({
      nodes,
      changesCursor: this.cursor,
      pageInfo: { hasNextPage: false, endCursor: null },
      unavailableSources: [],
    });
    const answers = new Map<unknown, unknown>([
      [GatewayStatusDocument, { gateway: { interfaces: [], feeds: [] } }],
      [SensorsDocument, { sensors: list([]) }],
      [EventsDocument, { events: list(this.events) }],
      [TriggersDocument, { triggers: list(this.triggers) }],
    ]);
    return { data: (answers.get(document) ?? { project: null }) as never, errors: [] };
  };

  readonly follow: Session['follow'] = (document, cursor, _signal, onConnection) => {
    const changes: unknown[] = [];
    let wake: (end?: GraphError) => void = () => {};
    this.feeds.set(document, {
      cursor,
      connect: onConnection,
      change(data) {
        changes.push(data);
        wake();
      },
      fail: (error) => wake(error),
    });
    return (async function* () {
      for (;;) {
        const end = await new Promise<GraphError | undefined>((resolve) => {
          wake = resolve;
        });
        if (end) throw end;
        for (const data of changes.splice(0)) yield { data: data as never, errors: [] };
      }
    })();
  };

  feed(document: unknown): Feed {
    const feed = this.feeds.get(document);
    if (!feed) throw new Error('The feed is not followed');
    return feed;
  }

  connect(isConnected: boolean): void {
    for (const { connect } of this.feeds.values()) connect(isConnected);
  }
}

/** Of a page that has lists and feeds, with a growing trigger. */
async function livelyPage(): Promise<{ gateway: Gateway; world: World }> {
  vi.useFakeTimers();
  vi.stubGlobal('document', {
    visibilityState: 'visible',
    addEventListener() {},
    removeEventListener() {},
  });
  const gateway = new Gateway();
  gateway.triggers = [trigger('1', 'OPEN'), trigger('2', 'OPEN')];
  gateway.events = [event('1'), event('2')];
  const world = openWorld(gateway);
  worlds.push(world);
  await vi.advanceTimersByTimeAsync(100);
  gateway.connect(true);
  await vi.advanceTimersByTimeAsync(6_000);
  gateway
    .feed(TriggerChangesDocument)
    .change({ triggerChanges: { kind: 'UPDATED', trigger: trigger('1', 'OPEN') } });
  await vi.advanceTimersByTimeAsync(100);
  return { gateway, world };
}

const shown = (world: World) => world.state().triggers.map(({ id, status }) => `${id} ${status}`);

describe('what the page shows of the present', () => {
  it('is live once the feeds are connected, and not while the gateway alone answers', async () => {
    const { gateway, world } = await livelyPage();
    expect(world.state().connection).toBe('live');
    expect(world.state().triggers.map(({ isGrowing }) => isGrowing)).toEqual([false, true]);
    const { answeredAtMs } = world.state();
    gateway.feed(EventChangesDocument).connect(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(world.state().connection).toBe('reconnecting');
    // Nothing is known of what happened since.
    expect(world.state().answeredAtMs).toBe(answeredAtMs);
    expect(world.state().triggers.map(({ isGrowing }) => isGrowing)).toEqual([false, false]);
    gateway.feed(EventChangesDocument).connect(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(world.state().connection).toBe('live');
  });

  it('is read anew when a feed cannot be resumed: what the lists do not have is gone', async () => {
    const { gateway, world } = await livelyPage();
    gateway.isAway = true;
    gateway.connect(false);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(world.state().connection).toBe('reconnecting');
    Object.assign(gateway, { isAway: false, cursor: 'second' });
    gateway.triggers = [trigger('2', 'CLOSED'), trigger('3', 'OPEN')];
    gateway.events = [event('2'), event('3')];
    for (const document of [TriggerChangesDocument, EventChangesDocument]) {
      gateway.feed(document).connect(true);
      gateway.feed(document).connect(false);
      gateway.feed(document).fail(expired);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(world.state().problems).toEqual({
      triggers: [{ code: 'CURSOR_EXPIRED' }],
      events: [{ code: 'CURSOR_EXPIRED' }],
    });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(world.state().problems).toEqual({});
    expect(shown(world)).toEqual(['3 OPEN', '2 CLOSED']);
    expect(world.state().events.map(({ id }) => id)).toEqual(['3', '2']);
    expect(world.state().connection).toBe('reconnecting');
    expect(gateway.feed(TriggerChangesDocument).cursor).toBe('second');
    gateway.connect(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(world.state().connection).toBe('live');
  });
});

describe('the words for what could not be read', () => {
  it('are whole sentences in either language, for the same kinds of errors', () => {
    expect(Object.keys(de.faults)).toEqual(Object.keys(en.faults));
    for (const { faults, otherFault } of [en, de]) {
      for (const text of [...Object.values(faults), otherFault]) expect(text).toMatch(/^\p{Lu}.*\.$/u);
    }
  });
});
