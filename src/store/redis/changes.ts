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
const keptForS = (dayMs + hourMs) / 1000;

/** The replicated log of one feed in a Redis stream, with the changes' numbers as stream ids. */
export class RedisChanges implements SharedChanges {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];
  readonly #bell: string;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    const parts = ['run', 'changes', 'last', 'base', 'listeners', 'lease', 'pulse'];
    this.#keys = parts.map((part) => link.key(name, part));
    this.#bell = link.key(name, 'bell');
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
    const isBased = String(offset) !== '';
    return {
      epoch: Number(epoch),
      snapshot: isBased ? { offset: Number(offset), text: String(snapshot) } : null,
      changes: changesOf(changes),
    };
  }

  async begin(epoch: number, snapshot: string): Promise<boolean> {
    const [isBegun] = await this.#run(beginning, epoch, snapshot);
    return Number(isBegun) === 1;
  }

  async append(epoch: number, changes: readonly string[]): Promise<number | null> {
    const [last] = await this.#run(publishing, epoch, this.#bell, limits.logChanges, ...changes);
    return last === undefined ? null : Number(last);
  }

  async readAfter({ epoch, offset }: LogOffset): Promise<readonly SharedChange[] | null> {
    const [changes] = await this.#run(reading, epoch, offset);
    return changes === undefined ? null : changesOf(changes);
  }

  async replaceSnapshot({ epoch, offset }: LogOffset, snapshot: string): Promise<void> {
    await this.#run(rebasing, epoch, offset, snapshot);
  }

  async heartbeat(own: string | null): Promise<Heartbeat> {
    const answer = await this.#run(beating, own ?? '');
    const [isLeader, epoch, last, progress] = answer.map(String);
    return {
      isLeader: isLeader === '1',
      last: epoch ? { epoch: Number(epoch), offset: Number(last) } : null,
      progress: progress || null,
    };
  }

  async leave(): Promise<void> {
    await this.#run(leaving, this.#bell).catch(() => {});
  }

  onAppend(ring: () => void): () => void {
    return this.#link.onBell(this.#bell, ring);
  }

  #run(lua: string, ...args: readonly (string | number)[]): Promise<unknown[]> {
    const { instance } = this.#link;
    return this.#link.run(prelude + lua, this.#keys, [instance, goneAfterMs, leaseMs, keptForS, ...args]);
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
local run, changes, last, base, listeners, lease, pulse = unpack(KEYS)
local instance, goneAfterMs, leaseMs, keptForS = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function listen()
  redis.call('ZREMRANGEBYSCORE', listeners, '-inf', now - goneAfterMs)
  redis.call('ZADD', listeners, now, instance)
end

local function keep()
  for _, key in ipairs({run, changes, last, base, listeners, pulse}) do redis.call('EXPIRE', key, keptForS) end
  if redis.call('GET', lease) == instance then redis.call('PEXPIRE', lease, leaseMs) end
end

-- Nil when the stream has discarded the next change.
local function after(seq)
  local found = redis.call('XRANGE', changes, '(' .. seq .. '-0', '+')
  local missing = tonumber(redis.call('GET', last) or 0) - seq - #found
  return missing == 0 and found or nil
end
`;

const attaching = `
local ownRun, ownSeq = ARGV[5], ARGV[6]
listen()
local current = redis.call('GET', run)
if current and current == ownRun then
  local found = after(ownSeq)
  if found then return {time, current, '', '', found} end
end
if current and redis.call('ZCARD', listeners) > 1 then
  local text, seq = unpack(redis.call('HMGET', base, 'text', 'seq'))
  local found = text and after(seq)
  if found then return {time, current, text, seq, found} end
end
-- No other instance listens, or the log has a gap: end the epoch. The next one begins with a snapshot to resync from.
redis.call('DEL', run, changes, last, base, pulse)
return {time}`;

const beginning = `
local newRun, state = ARGV[5], ARGV[6]
if redis.call('EXISTS', run) == 1 then return {time, 0} end
redis.call('DEL', changes)
redis.call('SET', run, newRun)
redis.call('SET', last, 0)
redis.call('HSET', base, 'text', state, 'seq', 0)
keep()
return {time, 1}`;

const publishing = `
local ofRun, bell, limits.logChanges, first = ARGV[5], ARGV[6], ARGV[7], 8
if redis.call('GET', run) ~= ofRun then return {time} end
local seq = tonumber(redis.call('GET', last))
for at = first, #ARGV do
  seq = redis.call('INCR', last)
  redis.call('XADD', changes, 'MAXLEN', '~', limits.logChanges, seq .. '-0', 'change', ARGV[at])
end
keep()
redis.call('PUBLISH', bell, seq)
return {time, seq}`;

const reading = `
local ofRun, seq = ARGV[5], ARGV[6]
local found = redis.call('GET', run) == ofRun and after(seq)
return found and {time, found} or {time}`;

const rebasing = `
local ofRun, seq, state = ARGV[5], ARGV[6], ARGV[7]
if redis.call('GET', run) == ofRun then redis.call('HSET', base, 'seq', seq, 'text', state) end
return {time}`;

const beating = `
local ownPulse = ARGV[5]
listen()
local isPolling = redis.call('SET', lease, instance, 'NX', 'PX', leaseMs) or redis.call('GET', lease) == instance
if isPolling and ownPulse ~= '' then redis.call('SET', pulse, ownPulse) end
keep()
local function text(key) return redis.call('GET', key) or '' end
return {time, isPolling and 1 or 0, text(run), text(last), text(pulse)}`;

const leaving = `
local bell = ARGV[5]
redis.call('ZREM', listeners, instance)
if redis.call('GET', lease) == instance then redis.call('DEL', lease) end
redis.call('PUBLISH', bell, '')
return {time}`;
