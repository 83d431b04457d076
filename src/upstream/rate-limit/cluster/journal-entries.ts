import { z } from 'zod';
import { priorities } from '../../read/read.js';

const ms = z.number();
const priority = z.enum(priorities);

/** Requests that were answered: the number of each, and how long ago. */
const answered = z.array(z.tuple([z.number(), ms]));

/** What instances tell each other of one key's budget. Spans rather than times: their clocks need not agree. */
const entries = z.discriminatedUnion('is', [
  /** A request is sent. */
  z.object({
    is: z.literal('sent'),
    priority,
    /** The journal that it was entered through, and its number there. */
    by: z.string(),
    number: z.number(),
    answered,
    /** Others waited for the same request. */
    isContested: z.boolean(),
    /** What waits still. */
    waiting: z.array(priority),
  }),
  /** So many were sent while Redis was away; of the last minute, how long ago each. */
  z.object({ is: z.literal('sent alone'), count: z.number(), agoMs: z.array(ms) }),
  /** What waits, so that the others can let it go first where it is its turn. */
  z.object({ is: z.literal('waits'), by: z.string(), answered, waiting: z.array(priority) }),
  /** Upstream has asked for a pause (docs/behaviour.md 5.1). */
  z.object({ is: z.literal('held'), forMs: ms, isNamed: z.boolean(), isAway: z.boolean() }),
  /** Upstream's own count (docs/interfaces.md C8), as of a request that was sent so long ago. */
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

/** Null for what a later version of the gateway writes. */
export function entryOf(text: string): Entry | null {
  try {
    return entries.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
