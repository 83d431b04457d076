import { setTimeout as pause } from 'node:timers/promises';
import { Client } from './client.js';
import { connections } from './conditions.js';

/** What this process is to do. */
export interface LoadOrder {
  readonly url: string;
  readonly body: string;
  readonly seconds: number;
  /** Each answer must be as long as this; any other is an error. */
  readonly answerBytes: number;
  /** At this rate, timed from when each was due; as fast as the answers come when null. */
  readonly perSecond: number | null;
}

export interface LoadReport {
  /** When each answered operation was sent (or due), on the machine's clock, and how long it took. */
  readonly sentAtMs: readonly number[];
  readonly tookMs: readonly number[];
  /** Until the last answer. */
  readonly seconds: number;
  readonly failed: string | null;
}

const nowMs = () => performance.timeOrigin + performance.now();

process.on('message', async (order: LoadOrder) => {
  const report: LoadReport = await load(order).catch((error: Error) => ({
    sentAtMs: [],
    tookMs: [],
    seconds: 0,
    failed: error.message,
  }));
  process.send?.(report);
});

// The bench has ended, however it did.
process.on('disconnect', () => process.exit());

async function load(order: LoadOrder): Promise<LoadReport> {
  const url = new URL('/graphql', order.url);
  const opening = Array.from({ length: connections }, () => Client.open(url, order.body, order.answerBytes));
  const clients = await Promise.all(opening);
  try {
    return await (order.perSecond === null
      ? asFastAsAnswered(clients, order.seconds)
      : atRate(clients, order.seconds, order.perSecond));
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
}

async function asFastAsAnswered(clients: readonly Client[], seconds: number): Promise<LoadReport> {
  const sentAtMs: number[] = [];
  const tookMs: number[] = [];
  const startMs = nowMs();
  const untilMs = startMs + seconds * 1000;
  const goOn = async (client: Client) => {
    for (let sentMs = startMs; sentMs < untilMs; ) {
      await client.ask();
      const answeredMs = nowMs();
      sentAtMs.push(sentMs);
      tookMs.push(answeredMs - sentMs);
      sentMs = answeredMs;
    }
  };
  await Promise.all(clients.map(goOn));
  return { sentAtMs, tookMs, seconds: (nowMs() - startMs) / 1000, failed: null };
}

/** An operation that finds every client waiting for an answer waits for the first that is free; its time goes on. */
async function atRate(clients: readonly Client[], seconds: number, perSecond: number): Promise<LoadReport> {
  const sentAtMs: number[] = [];
  const tookMs: number[] = [];
  const startMs = nowMs();
  const count = seconds * perSecond;
  let next = 0;
  const takeTurns = async (client: Client) => {
    while (next < count) {
      const dueMs = startMs + (next++ * 1000) / perSecond;
      const waitMs = dueMs - nowMs();
      if (waitMs > 0) await pause(waitMs);
      await client.ask();
      sentAtMs.push(dueMs);
      tookMs.push(nowMs() - dueMs);
    }
  };
  await Promise.all(clients.map(takeTurns));
  return { sentAtMs, tookMs, seconds: (nowMs() - startMs) / 1000, failed: null };
}
