import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { type Clock, realClock } from '../../clock.js';
import type { Log } from '../../log.js';
import { SharedTime } from '../shared-time.js';
import { type Connection, StoreAway } from '../store.js';

export interface RedisLinkOptions {
  /** REDIS_URL. It can hold a password: it is never logged. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}

// Far longer than any of our commands takes; who waits is a client.
const commandTimeoutMs = 1_500;
const longestRetryMs = 5_000;
// A connection that was of use for so long was not in trouble.
const wellAfterMs = 30_000;
const keyPrefix = 'seisgraph:1';

/**
 * The connections to Redis: one for commands, one on which others ring. It is up when both are; whatever goes wrong on
 * the way takes it down until it has been made anew, so that a Redis that hangs costs one command's patience and no more.
 */
export class RedisLink implements Connection {
  /** Tells this instance from the others. */
  readonly instance = randomUUID();
  readonly time = new SharedTime();
  /** Over when it is up, or is known to be away. */
  readonly settled: Promise<void>;
  readonly clock: Clock;
  readonly #log: Log;
  readonly #commands: Redis;
  readonly #bells: Redis;
  readonly #ringing = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();
  readonly #names = new Map<string, string>();
  /** Null until the first connection has been made, or has failed. */
  #isUp: boolean | null = null;
  #isClosed = false;
  /** Why there is no connection: for the log. */
  #reason = 'no connection yet';
  /** Connections in a row that were given up. */
  #troubles = 0;
  #upSinceMs = 0;

  constructor({ url, clock, log }: RedisLinkOptions) {
    this.clock = clock;
    this.#log = log;
    this.settled = new Promise((resolve) => this.#listeners.add(resolve));
    const options: RedisOptions = {
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: commandTimeoutMs,
      // Those that are to ring are named anew below, where a failure is caught.
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times + this.#troubles, 20), longestRetryMs),
      connectionName: 'seisgraph',
    };
    this.#commands = new Redis(url, options);
    this.#bells = new Redis(url, options);
    this.#bells.on('message', (channel: string) => this.#ringing.get(channel)?.());
    for (const client of [this.#commands, this.#bells]) {
      client.on('connect', () => this.#limitSilence(client));
      client.on('ready', () => this.#isReady() && this.#turn(true));
      client.on('close', () => this.#turn(false));
      // Without a listener it would end the process.
      client.on('error', ({ message }: Error) => {
        if (!this.#isUp) this.#reason = message;
      });
      client.connect().catch(() => {});
    }
  }

  get isUp(): boolean {
    return this.#isUp === true;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Of one thing that is shared; all keys of one `name` lie in one slot of a cluster. */
  key(name: string, part: string): string {
    return `${keyPrefix}:{${name}}:${part}`;
  }

  /**
   * Runs a script. Its answer must begin with what `TIME` says: that keeps the shared clock known.
   * @throws StoreAway
   */
  async run(
    lua: string,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown[]> {
    if (!this.#isUp) throw new StoreAway();
    const sentMs = this.clock.now();
    try {
      const answer = await inTime(this.#script(lua)(keys.length, ...keys, ...args));
      if (!Array.isArray(answer)) throw new TypeError('A script must answer with a list');
      const [seconds, micros] = answer[0] as [unknown, unknown];
      const nowMs = Number(seconds) * 1000 + Number(micros) / 1000;
      this.time.heard(nowMs, { sentMs, receivedMs: this.clock.now() });
      return answer.slice(1);
    } catch (error) {
      // Not the arguments that an error of Redis carries: they are what is shared.
      const { name, message } = error instanceof Error ? error : { name: 'unknown', message: '' };
      this.#takeDown(`a command failed: ${name} ${message.slice(0, 200)}`);
      throw new StoreAway(error);
    }
  }

  /** Calls `ring` whenever an instance publishes to `channel`. What is rung while Redis is away is not heard. */
  onBell(channel: string, ring: () => void): () => void {
    this.#ringing.set(channel, ring);
    if (this.#isUp) this.#subscribe(channel);
    return () => {
      this.#ringing.delete(channel);
      if (this.#isUp) this.#bells.unsubscribe(channel).catch(() => {});
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#commands.disconnect();
    this.#bells.disconnect();
  }

  #script(lua: string): (...args: unknown[]) => Promise<unknown> {
    let name = this.#names.get(lua);
    if (name === undefined) {
      name = `script${createHash('sha1').update(lua).digest('hex')}`;
      this.#names.set(lua, name);
      this.#commands.defineCommand(name, { lua });
    }
    const run: unknown = Reflect.get(this.#commands, `${name}Buffer`);
    if (typeof run !== 'function') throw new TypeError('The script is not defined');
    return (...args) => run.apply(this.#commands, args);
  }

  /** A connection can be taken by somebody who never says a word: Redis that hangs, or a network that has lost it. */
  #limitSilence(client: Redis): void {
    const timer = realClock.timer(commandTimeoutMs, () => {
      if (client.status !== 'connect') return;
      this.#reason = 'it takes connections and says nothing';
      client.disconnect(true);
    });
    client.once('ready', () => timer.cancel());
    client.once('close', () => timer.cancel());
  }

  #isReady(): boolean {
    return this.#commands.status === 'ready' && this.#bells.status === 'ready';
  }

  #turn(isUp: boolean): void {
    if (isUp === this.#isUp || this.#isClosed) return;
    this.#isUp = isUp;
    if (isUp) {
      this.#upSinceMs = realClock.now();
      this.#reason = 'the connection was closed';
      for (const channel of this.#ringing.keys()) this.#subscribe(channel);
      this.#log.info({}, 'Redis is there: cache, budget and feeds are shared');
    } else {
      const message = 'Redis is away: this instance goes on by itself, within its share of each budget';
      this.#log.warn({ reason: this.#reason }, message);
    }
    for (const listener of [...this.#listeners]) listener();
  }

  #subscribe(channel: string): void {
    this.#bells.subscribe(channel).catch(({ message }) => this.#takeDown(`no bell: ${message}`));
  }

  #takeDown(reason: string): void {
    if (this.#isClosed || !this.#isUp) return;
    this.#reason = reason;
    const wasWell = realClock.now() - this.#upSinceMs >= wellAfterMs;
    this.#troubles = wasWell ? 1 : this.#troubles + 1;
    this.#commands.disconnect(true);
    this.#bells.disconnect(true);
    this.#turn(false);
  }
}

/**
 * Rejects when there is no answer for long. It can lie there unread, where this process was busy: that is looked for first,
 * or a busy gateway would take Redis to be away. On the machine's clock, as the connection is.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let giveUp: (error: Error) => void = () => {};
  const late = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const timer = realClock.timer(commandTimeoutMs, async () => {
    await nextTurn();
    await nextTurn();
    giveUp(new Error('There was no answer in time'));
  });
  return Promise.race([answer, late]).finally(() => timer.cancel());
}
