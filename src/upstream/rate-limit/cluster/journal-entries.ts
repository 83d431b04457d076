import { z } from 'zod';
import { priorities } from '../../read/read.js';

const ms = z.number();
const priority = z.enum(priorities);

/** Requests that were answered: the number of each, and how long ago. */
const answered = z.array(z.tuple([z.number(), ms]));

/** Journal entries by which instances share one key's budget. Times are relative: clocks need not agree. */
const entries = z.discriminatedUnion('is', [
  /** A request is sent. */
  z.object({
    is: z.literal('sent'),
    priority,
    /** The journal that it was entered through, and its number in that journal. */
    by: z.string(),
    number: z.number(),
    answered,
    /** Other requests waited for the same permit. */
    isContested: z.boolean(),
    /** Priorities that still wait. */
    waiting: z.array(priority),
  }),
  /** `count` requests were sent while partitioned; `agoMs`: how long ago each of the last minute was sent. */
  z.object({ is: z.literal('sent while partitioned'), count: z.number(), agoMs: z.array(ms) }),
  /** Priorities that wait here, so that other instances give way to them as the scheduler would. */
  z.object({ is: z.literal('waits'), by: z.string(), answered, waiting: z.array(priority) }),
  /** Upstream has asked for a pause (docs/behaviour.md 5.1). */
  z.object({ is: z.literal('paused'), forMs: ms, isNamed: z.boolean(), isUnavailable: z.boolean() }),
  /** Upstream's own count (docs/interfaces.md C8), from the response to a request sent `sentAgoMs` ago. */
  z.object({
    is: z.literal('observed'),
    sentAgoMs: ms,
    perMinute: z.number().optional(),
    remaining: z.number().optional(),
    resetInMs: ms.optional(),
  }),
]);

export type Entry = z.infer<typeof entries>;

export function textOf(entry: Entry): string {
  return JSON.stringify(entry);
}

/** Null for entries that a later version of the gateway writes. */
export function entryOf(text: string): Entry | null {
  try {
    return entries.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
