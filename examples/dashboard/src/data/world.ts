import { type Answer, GraphError } from '../../../../src/client/index.js';
import {
  EventChangesDocument,
  type EventOfListFragment,
  EventsDocument,
  type EventsQuery,
  GatewayStatusDocument,
  type GatewayStatusQuery,
  ProjectNameDocument,
  type ProjectNameQuery,
  type SensorOfListFragment,
  SensorsDocument,
  type SensorsQuery,
  TriggerChangesDocument,
  type TriggerOfListFragment,
  TriggersDocument,
  type UnavailableFragment,
} from '../operations/operations.js';
import type { Fault } from './fault.js';
import { pause, untilVisible } from './pause.js';
import type { Session } from './session.js';

export type SensorItem = SensorOfListFragment;
export type EventItem = EventOfListFragment & {
  readonly isRevised: boolean;
  /** `originTime` in milliseconds since 1970: parsed once, since the map asks for thousands in a frame. */
  readonly originMs: number;
};
export type TriggerItem = TriggerOfListFragment & { readonly isGrowing: boolean };

/** `live` while the gateway answers and the feeds are connected: only then is what is shown the present. */
export type Connection = 'connecting' | 'live' | 'reconnecting' | 'refused';

/** All that the page shows of the present, as one value that never changes. */
export interface WorldState {
  readonly connection: Connection;
  /** When all was last known to be as it is shown, in milliseconds since 1970, by this machine; null before the first answer. */
  readonly answeredAtMs: number | null;
  readonly gateway: GatewayStatusQuery['gateway'] | null;
  readonly project: ProjectNameQuery['project'];
  readonly sensors: ReadonlyMap<string, SensorItem>;
  /** Latest origin time first. */
  readonly events: readonly EventItem[];
  /** Latest start first, at most `mostTriggers`. */
  readonly triggers: readonly TriggerItem[];
  /** What could not be read, by the list that lacks it. */
  readonly problems: Readonly<Partial<Record<Topic, readonly Fault[]>>>;
}

export type Topic = 'sensors' | 'events' | 'triggers';

export interface World {
  subscribe(listener: () => void): () => void;
  state(): WorldState;
  close(): void;
}

type EventsPage = NonNullable<EventsQuery['events']>;

const dayMs = 86_400_000;
const mostTriggers = 100;
const mostEvents = 5_000;
const daysOfEvents = 7;
const pollMs = 5_000;
const sensorsMs = 60_000;
// The feed reports what the project issues: what the catalogue alone knows comes with the list.
const eventsMs = 300_000;
// A page that had no answer of the gateway for as long was asleep.
const sleptMs = 30_000;
const pollTimeoutMs = 10_000;
const refollowMs = 10_000;
// The lists are wanted at once, but not again and again where each cursor of theirs has expired.
const expiredMs = 1_000;
// Earlier earthquakes are a matter of seeing more, and come after what everybody waits for.
const earlierMs = 3_000;
const leastBudget = 12;

/** Reads the lists, follows the feeds behind them, and reads the lists again when the gateway was away. */
export function openWorld(session: Session): World {
  const closing = new AbortController();
  const { signal } = closing;
  const listeners = new Set<() => void>();
  // Feeds that are to be followed and have no connection.
  const unconnected = new Set<Topic>(['triggers', 'events']);
  // Feeds that this gateway or the plan does not have, and nobody waits for.
  const absent = new Set<Topic>();
  let isAnnounced = false;
  let state: WorldState = {
    connection: 'connecting',
    answeredAtMs: null,
    gateway: null,
    project: null,
    sensors: new Map(),
    events: [],
    triggers: [],
    problems: {},
  };

  function change(part: Partial<WorldState>): void {
    state = { ...state, ...part };
    if (isAnnounced) return;
    isAnnounced = true;
    // A burst of changes is drawn once. A page in the background has no animation frames.
    setTimeout(() => {
      isAnnounced = false;
      for (const listener of listeners) listener();
    }, 50);
  }

  function report(topic: Topic, problem: unknown): void {
    const faults = faultsOf(problem);
    if (problem instanceof GraphError && absentCodes.has(problem.code)) {
      absent.add(topic);
      unconnected.delete(topic);
    }
    if (JSON.stringify(state.problems[topic] ?? []) === JSON.stringify(faults)) return;
    const { [topic]: _, ...others } = state.problems;
    change({ problems: faults.length === 0 ? others : { ...others, [topic]: faults } });
  }

  /** @returns the number of pages, each of which costs the service's budget */
  async function readSensors(): Promise<number> {
    const sensors = new Map<string, SensorItem>();
    let unavailable: readonly UnavailableFragment[] = [];
    let after: string | null = null;
    let pages = 0;
    do {
      pages++;
      const answer: Answer<SensorsQuery> = await session.ask(SensorsDocument, { after }, signal);
      const page = answer.data.sensors;
      if (!page) throw answer.errors[0];
      for (const sensor of page.nodes) sensors.set(sensor.id, sensor);
      unavailable = page.unavailableSources;
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    change({ sensors });
    report('sensors', unavailable);
    return pages;
  }

  /** @param isAnew what the list does not have is gone */
  async function readEvents(isAnew = false): Promise<EventsPage> {
    const page = await readEventsBehind(null, isAnew);
    report('events', page.unavailableSources);
    return page;
  }

  async function readEventsBehind(after: string | null, isAnew = false): Promise<EventsPage> {
    const from = new Date(startOfDayMs(Date.now() - daysOfEvents * dayMs)).toISOString();
    const variables = { from, after, follows: after === null };
    const { data, errors } = await session.ask(EventsDocument, variables, signal);
    if (!data.events) throw errors[0];
    takeEvents(data.events.nodes, false, isAnew);
    return data.events;
  }

  /** Reads further back as far as the budget of the service has room for it. */
  async function readEarlierEvents({ pageInfo }: EventsPage, until: AbortSignal): Promise<void> {
    let { hasNextPage, endCursor } = pageInfo;
    while (hasNextPage && state.events.length < mostEvents) {
      await pause(earlierMs, until);
      await untilVisible(until);
      if (until.aborted) return;
      if (!hasBudget()) continue;
      const after = endCursor;
      const page = await readEventsBehind(after).catch(() => null);
      if (page) ({ hasNextPage, endCursor } = page.pageInfo);
    }
  }

  function hasBudget(): boolean {
    const limits = (state.gateway?.interfaces ?? []).flatMap(({ rateLimit }) => rateLimit ?? []);
    return limits.length > 0 && limits.every(({ remaining }) => remaining >= leastBudget);
  }

  /**
   * @param isAnew what the list does not have is gone
   * @returns the cursor from which the feed continues the list
   */
  async function readTriggers(isAnew = false): Promise<string | null> {
    const { data, errors } = await session.ask(TriggersDocument, {}, signal);
    if (!data.triggers) throw errors[0];
    takeTriggers(data.triggers.nodes, false, isAnew);
    report('triggers', data.triggers.unavailableSources);
    return data.triggers.changesCursor;
  }

  function takeEvents(events: readonly EventOfListFragment[], isRevised: boolean, isAnew = false): void {
    const before = new Map(state.events.map((event) => [event.id, event]));
    const known = isAnew ? new Map<string, EventItem>() : before;
    for (const event of events) {
      known.set(event.id, {
        ...event,
        isRevised: isRevised || before.get(event.id)?.isRevised === true,
        originMs: Date.parse(event.originTime),
      });
    }
    const latestFirst = [...known.values()].sort(
      (one, other) => other.originMs - one.originMs || compare(other.originTime, one.originTime),
    );
    change({ events: latestFirst.slice(0, mostEvents) });
  }

  function takeTriggers(
    triggers: readonly TriggerOfListFragment[],
    isGrowing: boolean,
    isAnew = false,
  ): void {
    const known = new Map(isAnew ? [] : state.triggers.map((trigger) => [trigger.id, trigger]));
    for (const trigger of triggers) {
      // A list that was read before a change arrived must not open the trigger again.
      if (known.get(trigger.id)?.status === 'CLOSED' && trigger.status !== 'CLOSED') continue;
      known.set(trigger.id, { ...trigger, isGrowing: isGrowing && trigger.status === 'OPEN' });
    }
    const latestFirst = [...known.values()].sort((one, other) => compare(other.startTime, one.startTime));
    change({ triggers: latestFirst.slice(0, mostTriggers) });
  }

  /** Repeats until it succeeds. */
  async function insist<T>(topic: Topic, read: () => Promise<T>): Promise<T | null> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const value = await read();
        return value;
      } catch (error) {
        if (signal.aborted) break;
        report(topic, error);
        const asked = error instanceof GraphError ? error.retryAfterS : null;
        await pause((asked ?? Math.min(30, 2 ** failures)) * 1_000, signal);
      }
    }
    return null;
  }

  /** A page in the background waits, and reads as soon as it is seen again. */
  async function repeatSensors(): Promise<void> {
    let pages = await insist('sensors', readSensors);
    while (!signal.aborted) {
      await pause(sensorsMs * Math.max(1, pages ?? 1), signal);
      await untilVisible(signal);
      pages = await insist('sensors', readSensors);
    }
  }

  async function repeatEvents(): Promise<void> {
    while (!signal.aborted) {
      await pause(eventsMs, signal);
      await untilVisible(signal);
      await insist('events', () => readEvents());
    }
  }

  async function followTriggers(): Promise<void> {
    let cursor = await insist('triggers', () => readTriggers());
    while (!signal.aborted) {
      try {
        const changes = session.follow(TriggerChangesDocument, cursor, signal, connectionOf('triggers'));
        for await (const { data } of changes) {
          const { kind, trigger } = data.triggerChanges;
          takeTriggers([trigger], kind === 'UPDATED');
        }
      } catch (error) {
        report('triggers', error);
        await pause(refollowingMs('triggers', error), signal);
        cursor = await insist('triggers', () => readTriggers(true));
      }
    }
  }

  async function followEvents(): Promise<void> {
    let page = await insist('events', () => readEvents());
    while (!signal.aborted) {
      const earlier = new AbortController();
      if (page) void readEarlierEvents(page, AbortSignal.any([signal, earlier.signal]));
      const cursor = page?.changesCursor ?? null;
      try {
        const changes = session.follow(EventChangesDocument, cursor, signal, connectionOf('events'));
        for await (const { data } of changes) {
          takeEvents([data.eventChanges.event], data.eventChanges.kind === 'REISSUED');
        }
      } catch (error) {
        report('events', error);
        await pause(refollowingMs('events', error), signal);
        // Its pages are of the list before.
        earlier.abort();
        page = await insist('events', () => readEvents(true));
      }
    }
  }

  function refollowingMs(topic: Topic, error: unknown): number {
    if (error instanceof GraphError && error.code.startsWith('CURSOR_')) return expiredMs;
    return absent.has(topic) ? eventsMs : refollowMs;
  }

  const connectionOf = (topic: Topic) => (isConnected: boolean) => {
    if (absent.has(topic) || signal.aborted) return;
    if (isConnected) unconnected.delete(topic);
    else {
      unconnected.add(topic);
      lose();
    }
  };

  /** From now on all that is shown is old. */
  function lose(): void {
    change({
      connection: state.connection === 'connecting' ? 'connecting' : 'reconnecting',
      triggers: state.triggers.map((trigger) => ({ ...trigger, isGrowing: false })),
    });
  }

  async function pollGateway(): Promise<void> {
    let answeredMs: number | null = null;
    let hasFailed = false;
    while (!signal.aborted) {
      // A feed that cannot be resumed is told so before the gateway answers what is asked only now.
      const isFollowing = unconnected.size === 0;
      try {
        // A connection that the sleep of the machine has cut can stay silent for minutes.
        const patience = AbortSignal.any([signal, AbortSignal.timeout(pollTimeoutMs)]);
        const { data } = await session.ask(GatewayStatusDocument, {}, patience);
        const now = Date.now();
        const wasAway = hasFailed || now - (answeredMs ?? now) > sleptMs;
        answeredMs = now;
        hasFailed = false;
        const isLive = isFollowing && unconnected.size === 0;
        change({
          gateway: data.gateway,
          ...(isLive && { connection: 'live' }),
          answeredAtMs: isLive ? now : (state.answeredAtMs ?? now),
        });
        if (wasAway) readAll();
      } catch (error) {
        if (signal.aborted) return;
        hasFailed = true;
        if (error instanceof GraphError && error.code === 'UNAUTHENTICATED') {
          change({ connection: 'refused' });
          closing.abort();
          return;
        }
        lose();
      }
      await pause(state.connection === 'live' ? pollMs : 1_000, signal);
    }
  }

  /** What happened before a feed had its first cursor is in no feed. */
  function readAll(): void {
    void insist('sensors', readSensors);
    void insist('events', () => readEvents());
    void insist('triggers', () => readTriggers());
  }

  function start(): void {
    void pollGateway();
    void session.ask(ProjectNameDocument, {}, signal).then(
      ({ data }) => change({ project: data.project }),
      () => {},
    );
    void repeatSensors();
    void repeatEvents();
    void followTriggers();
    void followEvents();
  }

  // After the task that renders the page first: to send six requests takes a quarter as long.
  const starting = setTimeout(start);
  signal.addEventListener('abort', () => clearTimeout(starting), { once: true });

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => state,
    close: () => closing.abort(),
  };
}

/** All who look within the day ask for the same list, and share its answer. */
const startOfDayMs = (ms: number) => Math.floor(ms / dayMs) * dayMs;

/** Times are RFC 3339 in UTC with any number of digits, so their texts are in their order but for trailing digits. */
function compare(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other) || (one < other ? -1 : one > other ? 1 : 0);
}

const absentCodes: ReadonlySet<string> = new Set(['NOT_CONFIGURED', 'FORBIDDEN']);

function faultsOf(problem: unknown): readonly Fault[] {
  if (Array.isArray(problem)) {
    return (problem as readonly UnavailableFragment[]).map(({ source, code }) => ({ source, code }));
  }
  return [{ code: problem instanceof GraphError ? problem.code : String(problem) }];
}
