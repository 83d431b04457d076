import { dayMs, hourMs } from '../../clock.js';
import { limits } from '../../limits.js';
import {
  type Attached,
  goneAfterMs,
  type Heartbeat,
  type LogOffset,
  leaseMs,
  type SharedChange,
  type SharedChanges,
} from '../store.js';
import type { RedisLink } from './link.js';

// Keys of a feed without listeners expire after a day and an hour.
const storedForS = (dayMs + hourMs) / 1000;

/** The replicated log of one feed in a Redis stream, with the changes' numbers as stream ids. */
export class RedisChanges implements SharedChanges {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];
  readonly #channel: string;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    const parts = ['epoch', 'changes', 'last', 'snapshot', 'listeners', 'lease', 'progress'];
    this.#keys = parts.map((part) => link.key(name, part));
    this.#channel = link.key(name, 'appended');
  }

  get connection() {
    return this.#link;
  }

  get time() {
    return this.#link.time;
  }

  async attach(own: LogOffset | null): Promise<Attached | null> {
    const [epoch, snapshot, offset, changes] = await this.#run(
      attaching,
      own?.epoch ?? '',
      own?.offset ?? '',
    );
    if (epoch === undefined) return null;
    const hasSnapshot = String(offset) !== '';
    return {
      epoch: Number(epoch),
      snapshot: hasSnapshot ? { offset: Number(offset), text: String(snapshot) } : null,
      changes: changesOf(changes),
    };
  }

  async begin(epoch: number, snapshot: string): Promise<boolean> {
    const [isBegun] = await this.#run(beginning, epoch, snapshot);
    return Number(isBegun) === 1;
  }

  async append(epoch: number, changes: readonly string[]): Promise<number | null> {
    const [last] = await this.#run(appending, epoch, this.#channel, limits.logChanges, ...changes);
    return last === undefined ? null : Number(last);
  }

  async readAfter({ epoch, offset }: LogOffset): Promise<readonly SharedChange[] | null> {
    const [changes] = await this.#run(reading, epoch, offset);
    return changes === undefined ? null : changesOf(changes);
  }

  async replaceSnapshot({ epoch, offset }: LogOffset, snapshot: string): Promise<void> {
    await this.#run(replacingSnapshot, epoch, offset, snapshot);
  }

  async heartbeat(own: string | null): Promise<Heartbeat> {
    const answer = await this.#run(sendingHeartbeat, own ?? '');
    const [isLeader, epoch, last, progress] = answer.map(String);
    return {
      isLeader: isLeader === '1',
      last: epoch ? { epoch: Number(epoch), offset: Number(last) } : null,
      progress: progress || null,
    };
  }

  async leave(): Promise<void> {
    await this.#run(leaving, this.#channel).catch(() => {});
  }

  onAppend(listener: () => void): () => void {
    return this.#link.onMessage(this.#channel, listener);
  }

  #run(lua: string, ...args: readonly (string | number)[]): Promise<unknown[]> {
    const { instance } = this.#link;
    return this.#link.run(prelude + lua, this.#keys, [instance, goneAfterMs, leaseMs, storedForS, ...args]);
  }
}

/** Decodes the answer of `XRANGE`: id and fields of each entry. */
function changesOf(answer: unknown): SharedChange[] {
  return (answer as [unknown, [unknown, unknown]][]).map(([id, [, text]]) => ({
    offset: Number.parseInt(String(id), 10),
    text: String(text),
  }));
}

// Common beginning of all scripts. A script's own arguments follow the first four.
const prelude = `
local epoch, changes, last, snapshot, listeners, lease, progress = unpack(KEYS)
local instance, goneAfterMs, leaseMs, storedForS = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function listen()
  redis.call('ZREMRANGEBYSCORE', listeners, '-inf', now - goneAfterMs)
  redis.call('ZADD', listeners, now, instance)
end

local function extend()
  for _, key in ipairs({epoch, changes, last, snapshot, listeners, progress}) do redis.call('EXPIRE', key, storedForS) end
  if redis.call('GET', lease) == instance then redis.call('PEXPIRE', lease, leaseMs) end
end

-- Nil when the stream has discarded the next change.
local function after(offset)
  local found = redis.call('XRANGE', changes, '(' .. offset .. '-0', '+')
  local missing = tonumber(redis.call('GET', last) or 0) - offset - #found
  return missing == 0 and found or nil
end
`;

const attaching = `
local ownEpoch, ownOffset = ARGV[5], ARGV[6]
listen()
local current = redis.call('GET', epoch)
if current and current == ownEpoch then
  local found = after(ownOffset)
  if found then return {time, current, '', '', found} end
end
if current and redis.call('ZCARD', listeners) > 1 then
  local text, offset = unpack(redis.call('HMGET', snapshot, 'text', 'offset'))
  local found = text and after(offset)
  if found then return {time, current, text, offset, found} end
end
-- No other instance listens, or the log has a gap: end the epoch. The next one begins with a snapshot to resync from.
redis.call('DEL', epoch, changes, last, snapshot, progress)
return {time}`;

const beginning = `
local newEpoch, newText = ARGV[5], ARGV[6]
if redis.call('EXISTS', epoch) == 1 then return {time, 0} end
redis.call('DEL', changes)
redis.call('SET', epoch, newEpoch)
redis.call('SET', last, 0)
redis.call('HSET', snapshot, 'text', newText, 'offset', 0)
extend()
return {time, 1}`;

const appending = `
local ofEpoch, channel, mostChanges, first = ARGV[5], ARGV[6], ARGV[7], 8
if redis.call('GET', epoch) ~= ofEpoch then return {time} end
local offset = tonumber(redis.call('GET', last))
for at = first, #ARGV do
  offset = redis.call('INCR', last)
  redis.call('XADD', changes, 'MAXLEN', '~', mostChanges, offset .. '-0', 'change', ARGV[at])
end
extend()
redis.call('PUBLISH', channel, offset)
return {time, offset}`;

const reading = `
local ofEpoch, offset = ARGV[5], ARGV[6]
local found = redis.call('GET', epoch) == ofEpoch and after(offset)
return found and {time, found} or {time}`;

const replacingSnapshot = `
local ofEpoch, offset, newText = ARGV[5], ARGV[6], ARGV[7]
if redis.call('GET', epoch) == ofEpoch then redis.call('HSET', snapshot, 'offset', offset, 'text', newText) end
return {time}`;

const sendingHeartbeat = `
local ownProgress = ARGV[5]
listen()
local isLeader = redis.call('SET', lease, instance, 'NX', 'PX', leaseMs) or redis.call('GET', lease) == instance
if isLeader and ownProgress ~= '' then redis.call('SET', progress, ownProgress) end
extend()
local function text(key) return redis.call('GET', key) or '' end
return {time, isLeader and 1 or 0, text(epoch), text(last), text(progress)}`;

const leaving = `
local channel = ARGV[5]
redis.call('ZREM', listeners, instance)
if redis.call('GET', lease) == instance then redis.call('DEL', lease) end
redis.call('PUBLISH', channel, '')
return {time}`;
