import { setTimeout as pause } from 'node:timers/promises';
import { type Helper, NotStarted, type ServerProcess, startServer } from '../child.js';
import { answerOf } from './answer.js';
import type { LoadOrder, LoadReport } from './load.js';
import { differenceBetween } from './same-answer.js';
import { type Contender, contenders } from './servers.js';
import type { UpstreamOrder, UpstreamReport } from './upstream.js';

export interface Bench {
  readonly upstream: Helper<UpstreamOrder, UpstreamReport>;
  readonly load: Helper<LoadOrder, LoadReport>;
  readonly env: Readonly<Record<string, string>>;
  /** How often each server is started for its cold start. */
  readonly starts: number;
  /** Those that refused to start, named once. */
  readonly skipped: Set<Contender>;
}

/** A contender that runs, and what it has done so far. */
export interface Entrant {
  readonly contender: Contender;
  readonly server: ServerProcess;
  readonly answerBytes: number;
  readonly cold: { readonly tookMs: number[]; readonly requests: number[] };
}

export interface Entrants extends AsyncDisposable {
  readonly all: readonly Entrant[];
  /** Throws when a server says anything else than the first one, which is seisgraph. */
  expectSame(entrant: Entrant): Promise<void>;
}

/** Starts every server, several times for its cold start; the last of each stays, and has answered as seisgraph does. */
export async function enter(
  bench: Bench,
  body: string,
  lifetime: Readonly<Record<string, string>>,
): Promise<Entrants> {
  const started: ServerProcess[] = [];
  const leave = async () => {
    await Promise.all(started.map((server) => server[Symbol.asyncDispose]()));
  };
  const all: Entrant[] = [];
  let expected: string | null = null;
  const expectSame = async ({ contender, server }: Entrant) => {
    const text = await answerOf(server, body);
    const difference = differenceBetween(JSON.parse(expected ?? text), JSON.parse(text));
    if (difference === null && !text.includes('"errors"')) return;
    throw new Error(`${contender.name} answers something else at ${difference}: ${text.slice(0, 1_000)}`);
  };
  try {
    for (const contender of contenders) {
      if (bench.skipped.has(contender)) continue;
      const env = {
        ...bench.env,
        ...lifetime,
        ...contender.env,
        ...(expected !== null && { ANSWER: expected }),
      };
      const cold: Entrant['cold'] = { tookMs: [], requests: [] };
      for (let left = bench.starts; left > 0; left--) {
        bench.upstream.send('forget');
        const server = await start(bench, contender, env);
        if (!server) break;
        started.push(server);
        const text = await answerOf(server, body);
        cold.tookMs.push(performance.now() - server.startedMs);
        // What is read behind the answer counts too.
        await pause(200);
        cold.requests.push((await bench.upstream.ask('report')).arrivedAtMs.length);
        if (left > 1) {
          await server[Symbol.asyncDispose]();
          continue;
        }
        expected ??= text;
        const entrant = { contender, server, answerBytes: Buffer.byteLength(text), cold };
        await expectSame(entrant);
        all.push(entrant);
      }
    }
  } catch (error) {
    await leave();
    throw error;
  }
  return { all, expectSame, [Symbol.asyncDispose]: leave };
}

async function start(
  bench: Bench,
  contender: Contender,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess | null> {
  try {
    return await startServer({ ...contender, env });
  } catch (error) {
    if (!(error instanceof NotStarted) || contender.mayRefuse === undefined) throw error;
    bench.skipped.add(contender);
    console.log(`\nSkipped: ${contender.name}. ${contender.mayRefuse}: ${error.message}`);
    return null;
  }
}

/** Puts load on one server, while the others are idle. */
export async function drive(
  { load }: Bench,
  { contender, server, answerBytes }: Entrant,
  body: string,
  seconds: number,
  perSecond: number | null = null,
): Promise<LoadReport> {
  const report = await load.ask({ url: server.url, body, seconds, answerBytes, perSecond });
  if (report.failed !== null) throw new Error(`${contender.name} failed under load: ${report.failed}`);
  return report;
}
