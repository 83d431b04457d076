import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { asMoment, type Clock, realClock } from '../../clock.js';
import type { Log } from '../../log.js';
import { SharedTime } from '../shared-time.js';
import { type Connection, StoreUnavailable } from '../store.js';

export interface RedisLinkOptions {
  /** REDIS_URL. Never logged, since it can contain a password. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}

// Far longer than any of our commands takes, and short enough for the client that waits for it.
const commandTimeoutMs = 1_500;
const longestRetryMs = 5_000;
// A connection that lasted this long resets the count of failures in a row.
const wellAfterMs = 30_000;
const keyPrefix = 'seisgraph:1';

/**
 * The connections to Redis: one for commands, one for pub/sub. The link is up when both are. Any failure takes it down
 * until both have reconnected, so that a Redis that hangs costs a single command time-out.
 */
export class RedisLink implements Connection {
  /** Unique id of this instance. */
  readonly instance = randomUUID();
  readonly time = new SharedTime();
  /** Resolves when the link is up, or when the first attempt has failed. */
  readonly settled: Promise<void>;
  readonly clock: Clock;
  readonly #log: Log;
  readonly #commands: Redis;
  readonly #pubSub: Redis;
  readonly #database: number;
  /** The arguments of AUTH; none where the address has no password. */
  readonly #credentials: readonly string[];
  /** Connections that `#makeUsable` has found usable. */
  readonly #usable = new Set<Redis>();
  readonly #messageListeners = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();
  readonly #names = new Map<string, string>();
  /** Null until the first connection has been made, or has failed. */
  #isUp: boolean | null = null;
  #isClosed = false;
  /** Redis asks for no password, though REDIS_URL has one. */
  #isOpenToAll = false;
  /** The reason why there is no connection, for the log. */
  #reason = 'no connection yet';
  /** Number of connections in a row that failed within `wellAfterMs`. */
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
      // `#setUp` subscribes again, where a failure is caught.
      autoResubscribe: false,
      // `#makeUsable` finds out, where a failure is caught and logged: the library would write to stderr.
      enableReadyCheck: false,
      disableClientInfo: true,
      retryStrategy: (times) => {
        if (this.#isWell) this.#troubles = 0;
        return Math.min(50 * 2 ** Math.min(times + this.#troubles, 20), longestRetryMs);
      },
    };
    const address = new URL(url);
    this.#database = Number(address.pathname.slice(1));
    this.#credentials = [address.username, address.password].filter(Boolean).map(decodeURIComponent);
    Object.assign(address, { pathname: '', username: '', password: '' });
    this.#commands = new Redis(address.href, options);
    this.#pubSub = new Redis(address.href, options);
    this.#pubSub.on('message', (channel: string) => this.#messageListeners.get(channel)?.());
    for (const client of [this.#commands, this.#pubSub]) {
      client.on('ready', () => void this.#makeUsable(client));
      client.on('close', () => {
        this.#usable.delete(client);
        this.#setUp(false);
      });
      // An error event without a listener would end the process.
      client.on('error', ({ message }: Error) => {
        if (!this.#isUp) this.#reason = message;
      });
      client.connect().catch(() => {});
    }
  }

  get isUp(): boolean {
    return this.#isUp === true;
  }

  get #isWell(): boolean {
    return this.isUp && realClock.now() - this.#upSinceMs >= wellAfterMs;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The key of one part of `name`. All keys of one `name` hash to one slot of a Redis cluster. */
  key(name: string, part: string): string {
    return `${keyPrefix}:{${name}}:${part}`;
  }

  /**
   * Runs a script. Its answer must begin with the result of `TIME`, which synchronises the shared clock.
   * @throws StoreUnavailable
   */
  async run(
    lua: string,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown[]> {
    if (!this.#isUp) throw new StoreUnavailable();
    const sentMs = this.clock.now();
    try {
      const answer = await inTime(this.#script(lua)(keys.length, ...keys, ...args));
      if (!Array.isArray(answer)) throw new TypeError('A script must answer with a list');
      const [seconds, micros] = answer[0] as [unknown, unknown];
      const nowMs = Number(seconds) * 1000 + Number(micros) / 1000;
      this.time.synchronise(asMoment(nowMs), { sentMs, receivedMs: this.clock.now() });
      return answer.slice(1);
    } catch (error) {
      // An error of Redis also carries the arguments, which hold shared data and must not be logged.
      const { name, message } = error instanceof Error ? error : { name: 'unknown', message: '' };
      this.#takeDown(`a command failed: ${name} ${message.slice(0, 200)}`);
      throw new StoreUnavailable(error);
    }
  }

  /** Calls `listener` whenever an instance publishes to `channel`. Messages sent while the link is down are lost. */
  onMessage(channel: string, listener: () => void): () => void {
    this.#messageListeners.set(channel, listener);
    if (this.#isUp) this.#subscribe(channel);
    return () => {
      this.#messageListeners.delete(channel);
      if (this.#isUp) this.#pubSub.unsubscribe(channel).catch(() => {});
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#commands.disconnect();
    this.#pubSub.disconnect();
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

  /**
   * Authenticates and selects the database by hand: where the former fails, the client library writes to stderr; where
   * the latter does, it goes on in database 0, whose data belong to another deployment. It recognises such a command by its
   * name in lower case, and would repeat it at the next connection without catching the failure. Deletes a key that nobody
   * has, since a replica accepts connections and reads but no write.
   */
  async #makeUsable(client: Redis): Promise<void> {
    let step = 'it does not take the password';
    try {
      if (this.#credentials.length > 0) await this.#authenticate(client);
      step = 'it takes connections and says nothing';
      // For its operator's list of clients; a user may be without the command.
      await inTime(client.call('CLIENT', 'SETNAME', 'seisgraph').catch(() => {}));
      step = `database ${this.#database} cannot be selected`;
      if (this.#database > 0) await inTime(client.call('SELECT', this.#database));
      step = 'it cannot be written';
      if (client === this.#commands) await inTime(client.del(this.key('probe', this.instance)));
    } catch (error) {
      this.#reason = `${step}: ${error instanceof Error ? error.message : 'unknown'}`;
      this.#troubles += 1;
      if (this.#isUp === null) this.#setUp(false);
      client.disconnect(true);
      return;
    }
    if (client.status !== 'ready') return;
    this.#usable.add(client);
    if (this.#usable.size === 2) this.#setUp(true);
  }

  async #authenticate(client: Redis): Promise<void> {
    try {
      await inTime(client.call('AUTH', ...this.#credentials));
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      if (!/no password is set|without any password configured/i.test(message)) throw error;
      if (!this.#isOpenToAll)
        this.#log.warn({}, 'REDIS_URL has a password, but this Redis asks for none: anyone can reach it');
      this.#isOpenToAll = true;
    }
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp || this.#isClosed) return;
    this.#isUp = isUp;
    if (isUp) {
      this.#upSinceMs = realClock.now();
      this.#reason = 'the connection was closed';
      for (const channel of this.#messageListeners.keys()) this.#subscribe(channel);
      this.#log.info({}, 'Redis is reachable: cache, budget and feeds are shared');
    } else {
      const message =
        'Redis is unreachable: this instance is partitioned, and keeps to its share of each budget';
      this.#log.warn({ reason: this.#reason }, message);
    }
    for (const listener of [...this.#listeners]) listener();
  }

  #subscribe(channel: string): void {
    this.#pubSub.subscribe(channel).catch(({ message }) => this.#takeDown(`no subscription: ${message}`));
  }

  #takeDown(reason: string): void {
    if (this.#isClosed || !this.#isUp) return;
    this.#reason = reason;
    this.#troubles = this.#isWell ? 1 : this.#troubles + 1;
    this.#commands.disconnect(true);
    this.#pubSub.disconnect(true);
    this.#setUp(false);
  }
}

/**
 * Rejects after `commandTimeoutMs` without an answer. The event loop first gets two iterations to read an answer that
 * has arrived, or a busy gateway would take Redis to be down. Uses the real clock, as the connection does.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let giveUp: (error: Error) => void = () => {};
  const timeout = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const timer = realClock.timer(commandTimeoutMs, async () => {
    await nextIteration();
    await nextIteration();
    giveUp(new Error('There was no answer in time'));
  });
  return Promise.race([answer, timeout]).finally(() => timer.cancel());
}
