import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { Channel } from '../../src/store/hub/channel.js';
import {
  type SharedBodies,
  type SharedChanges,
  type Store,
  StoreUnavailable,
} from '../../src/store/store.js';
import { instantPorts, messagePorts } from '../support/ports.js';
import { startHubStore } from '../support/shared-store.js';
import { bodyOf, seen, write } from './bodies.js';
import { listening } from './journals.js';

const id = '/v1/sensors?limit=500';
const query = 0;
const second = 1_000;
const hour = 3_600 * second;

// What all stores promise is in shared-*.test.ts; here is what takes time, and what only a hub can do.
function begin({ maxBytes = 64 * 1024 * 1024 } = {}) {
  const clock = new ManualClock();
  return { clock, shared: startHubStore(clock, maxBytes) };
}

describe('bodies at the hub', () => {
  const bodiesOf = (store: Store, name = 'key') => store.bodies(name) as SharedBodies;

  it('are asked for by one for as long as it takes, and by another at once when it was killed', async () => {
    const { clock, shared } = begin();
    const [a, b] = [await shared.open(), await shared.open()];
    await bodiesOf(a).open(id, query);
    for (let waitedS = 0; waitedS < 10; waitedS++) {
      await clock.advance(second);
      expect(await bodiesOf(b).isClaimed(id, query)).toBe(true);
    }
    shared.kill(a);
    expect((await bodiesOf(b).open(id, query)).hasClaim).toBe(true);
  });

  it('are cached for a day', async () => {
    const { clock, shared } = begin();
    const bodies = bodiesOf(await shared.open());
    await write(bodies, bodyOf('{}', clock.now()));
    await clock.advance(24 * hour - 1);
    expect(await seen(bodies)).toMatchObject({ readAtMs: clock.now() - 24 * hour + 1 });
    await clock.advance(1);
    expect(await seen(bodies)).toBeNull();
  });

  it('take no more room than there is: those that were not wanted for longest go first', async () => {
    const { shared } = begin({ maxBytes: 2_000 });
    const bodies = bodiesOf(await shared.open());
    // Random text does not shrink.
    const texts = ['/a', '/b', '/c'].map((path) => [path, path.repeat(300)] as const);
    for (const [path, text] of texts) await write(bodies, bodyOf(text), path);
    await write(bodies, bodyOf('x'.repeat(900)), '/d');
    expect(await seen(bodies, '/a')).toBeNull();
    expect(await seen(bodies, '/d')).not.toBeNull();
  });

  it('of many refused keys are gone, of all others they stay', async () => {
    const { shared } = begin();
    const store = await shared.open();
    await write(bodiesOf(store, 'good'), bodyOf('{}'));
    for (let key = 0; key < 200; key++) {
      const bodies = bodiesOf(store, `bad ${key}`);
      await write(bodies, bodyOf('{}'));
      bodies.clear();
      expect(await seen(bodies)).toBeNull();
    }
    expect(await seen(bodiesOf(store, 'good'))).not.toBeNull();
  });
});

describe('a journal at the hub', () => {
  const journalOf = (store: Store) => listening(store.journal('key'));

  it('has single entries as far back as a rate limit reaches, and counts for a day', async () => {
    const { clock, shared } = begin();
    const [a, b, c] = [await shared.open(), await shared.open(), await shared.open()];
    const one = journalOf(a);
    await one.enter('old');
    await clock.advance(66 * second);
    // Partitioned for longer than that, it receives the count first.
    expect(await one.enter('new')).toBe('behind');
    expect(await one.enter('new')).toBe('entered');
    const late = journalOf(b);
    expect(await late.enter('late')).toBe('behind');
    expect([late.read(), late.counted()]).toEqual([['new'], 2]);
    await clock.advance(25 * hour);
    const last = journalOf(c);
    expect(await last.enter('last')).toBe('entered');
    expect([last.read(), last.counted()]).toEqual([[], undefined]);
  });

  it('reports the standing entry to a later reader, and of several the one that stands for longest', async () => {
    const { clock, shared } = begin();
    const [a, b, c] = [await shared.open(), await shared.open(), await shared.open()];
    const one = journalOf(a);
    await one.journal.append('long', { standsMs: 120_000 });
    await one.journal.append('short', { standsMs: 90_000 });
    await clock.advance(70 * second);
    const late = journalOf(b);
    expect(await late.enter('x')).toBe('behind');
    expect(late.read()).toEqual(['long']);
    await clock.advance(60 * second);
    const later = journalOf(c);
    expect(await later.enter('y')).toBe('entered');
  });
});

describe('changes at the hub', () => {
  const changesOf = (store: Store) => store.changes('feed') as SharedChanges;

  it('are polled for by another at once when the leader is killed, in the same epoch', async () => {
    const { shared } = begin();
    const [a, b, c] = [await shared.open(), await shared.open(), await shared.open()];
    await changesOf(a).attach(null);
    await changesOf(a).begin(7, 'snapshot');
    await changesOf(a).append(7, ['one']);
    expect((await changesOf(a).heartbeat(null)).isLeader).toBe(true);
    shared.kill(a);
    // Its subscribers come back to another, which finds the epoch of their cursors.
    const attached = await changesOf(b).attach(null);
    expect(attached).toMatchObject({ epoch: 7, changes: [{ offset: 1, text: 'one' }] });
    expect((await changesOf(b).heartbeat(null)).isLeader).toBe(true);
    expect((await changesOf(c).heartbeat(null)).isLeader).toBe(false);
  });

  it('begin anew when nobody has listened for ten seconds', async () => {
    const { clock, shared } = begin();
    const [a, b] = [await shared.open(), await shared.open()];
    await changesOf(a).attach(null);
    await changesOf(a).begin(7, 'snapshot');
    shared.kill(a);
    await clock.advance(11 * second);
    expect(await changesOf(b).attach(null)).toBeNull();
  });

  it('give up the oldest when there are very many: who needs those starts from the snapshot, or anew', async () => {
    const { shared } = begin();
    const [a, b] = [await shared.open(), await shared.open()];
    const changes = changesOf(a);
    await changes.attach(null);
    await changes.begin(7, 'snapshot');
    const batch = Array.from({ length: 10_000 }, () => 'change');
    for (let count = 0; count < 6; count++) await changes.append(7, batch);
    expect(await changes.readAfter({ epoch: 7, offset: 0 })).toBeNull();
    expect(await changes.readAfter({ epoch: 7, offset: 59_999 })).toHaveLength(1);
    await changes.replaceSnapshot({ epoch: 7, offset: 59_990 }, 'later');
    const attached = await changesOf(b).attach(null);
    expect(attached).toMatchObject({ snapshot: { offset: 59_990, text: 'later' } });
    expect(attached?.changes).toHaveLength(10);
  });

  it('say how many instances there are', async () => {
    const { clock, shared } = begin();
    const stores = [await shared.open(), await shared.open()] as const;
    await clock.advance(0);
    expect(stores.map(({ instances }) => instances)).toEqual([2, 2]);
    shared.kill(stores[0]);
    await clock.advance(0);
    expect(stores[1].instances).toBe(1);
  });
});

describe('a channel', () => {
  interface Calls {
    add(one: number, other: number): number;
    later(): Promise<string>;
    fail(): void;
  }

  for (const ports of [messagePorts, instantPorts]) {
    it(`brings answers and failures back, and ends what waits when the other side goes (${ports.name})`, async () => {
      const { ends, close } = ports();
      let answerLater = (_: string) => {};
      const calls: Calls = {
        add: (one, other) => one + other,
        later: () => new Promise((resolve) => (answerLater = resolve)),
        fail: () => {
          throw new Error('no');
        },
      };
      const server = new Channel<object>(ends[0]);
      server.answer(calls);
      const client = new Channel<Calls>(ends[1]);
      const later = client.call('later');
      expect(await client.call('add', 1, 2)).toBe(3);
      answerLater('now');
      expect(await later).toBe('now');
      await expect(client.call('fail')).rejects.toThrow('no');
      const never = client.call('later');
      close();
      await expect(never).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(client.call('add', 1, 2)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(client.isOpen).toBe(false);
    });

    it(`keeps one-way calls until the other side answers them (${ports.name})`, async () => {
      const { ends, close } = ports();
      const server = new Channel<object>(ends[0]);
      server.answer({ ready: () => true });
      const client = new Channel<Calls & { ready(): boolean; joined(name: string): void }>(ends[1]);
      client.notify('joined', 'a');
      client.notify('joined', 'b');
      // The one-way calls before it have arrived with it.
      expect(await client.call('ready')).toBe(true);
      const joined: string[] = [];
      server.answer({ joined: (name: string) => void joined.push(name) });
      expect(joined).toEqual(['a', 'b']);
      close();
    });
  }
});
