import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import { environment } from '../support/gateway.js';
import { type GatewayProcess, startProcess } from '../support/gateway-process.js';
import { openSocket } from '../support/raw-socket.js';

/** A gateway of several processes. */
export interface WorkersProcess extends AsyncDisposable {
  readonly process: GatewayProcess;
  readonly url: string;
  /** What was logged until now. */
  lines(): readonly LogLine[];
  /** Process ids by number, as of now. */
  pids(): ReadonlyMap<number, number>;
  /** Over a connection of its own: connections are handed to the workers in turn. */
  query(document: string, headers?: Record<string, string>): Promise<Answered>;
  /** The value of one series. */
  metric(series: string): Promise<number | undefined>;
}

export interface LogLine {
  readonly msg: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly operation?: string | null;
  readonly url?: string;
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by the shape of their own query
  readonly body: any;
}

export async function startWorkers(
  sandbox: Sandbox | null,
  env: Record<string, string> = {},
  preload: readonly string[] = [],
): Promise<WorkersProcess> {
  const given = sandbox ? environment(sandbox, { env }) : { LOG_LEVEL: 'debug', ...env };
  const settings = Object.entries({ WORKERS: '2', ...given }).filter(
    (entry): entry is [string, string] => !!entry[1],
  );
  const process = startProcess({ env: Object.fromEntries(settings), preload });
  const url = await process.url;
  const lines = (): LogLine[] =>
    process.stdout
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));
  return {
    process,
    url,
    lines,
    pids: () =>
      new Map(
        lines().flatMap(({ msg, worker, pid }) =>
          msg === 'A worker takes connections' ? [[Number(worker), Number(pid)] as const] : [],
        ),
      ),
    async query(document, headers = {}) {
      const { status, text } = await ask(`${url}/graphql`, JSON.stringify({ query: document }), headers);
      return { status, body: JSON.parse(text) };
    },
    async metric(series) {
      const { text } = await ask(`${url}/metrics`);
      const line = text.split('\n').find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** Over a connection of its own, which `fetch` would use again. */
async function ask(
  url: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const sent = request(url, {
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await textOf(response) };
}

/** Both workers have answered operations of this name; null: of none. The log tells when the answers have gone. */
export async function bothAnswered(gateway: WorkersProcess, name: string | null): Promise<void> {
  await vi.waitFor(() => {
    const answered = gateway
      .lines()
      .filter(({ msg, operation }) => msg === 'Operation' && operation === name)
      .map(({ worker }) => worker);
    expect(new Set(answered)).toEqual(new Set([1, 2]));
  }, 10_000);
}

const subscription = `subscription ($after: String) {
  triggerChanges(after: $after) { kind cursor trigger { triggerId } }
}`;

/** Comes back whenever its socket breaks, and resumes from its cursor. */
export class LastingFollower {
  readonly lines: string[] = [];
  readonly closeCodes: number[] = [];
  #cursor: string | null = null;
  #hasLeft = false;
  #leave = () => {};
  readonly #url: string;
  readonly #done: Promise<void>;

  constructor(url: string) {
    this.#url = url;
    this.#done = this.#follow();
    // Otherwise those of a test that has failed would go on trying, in a process that other tests are run in.
    cleanUpAfterTests(() => this.leave());
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#leave();
    await this.#done;
  }

  async #follow(): Promise<void> {
    while (!this.#hasLeft) {
      // A worker that has just ended may have been handed the connection.
      const socket = await openSocket({ url: this.#url }, { init: {} }).catch(() => null);
      if (!socket) continue;
      this.#leave = () => socket.socket.terminate();
      socket.send({
        id: '1',
        type: 'subscribe',
        payload: { query: subscription, variables: { after: this.#cursor } },
      });
      for (let isOpen = true; isOpen && !this.#hasLeft; ) {
        const message = await socket.next().catch(() => null);
        if (message?.type === 'next') {
          const { kind, cursor, trigger } = message.payload.data.triggerChanges;
          this.lines.push(`${kind} ${trigger.triggerId}`);
          this.#cursor = cursor;
        } else if (message === null) isOpen = false;
        else if (message.type !== 'ping') throw new Error(`Unexpected: ${JSON.stringify(message)}`);
      }
      socket.socket.terminate();
      this.closeCodes.push((await socket.closed).code);
    }
  }
}

export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** Both workers have subscribers, as they tell the metrics. */
export async function subscribed(gateway: WorkersProcess, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const series = 'seisgraph_feed_subscribers{feed="triggerChanges"}';
    const subscribers = await gateway.metric(series);
    if (subscribers !== count) throw new Error(`${subscribers} of ${count} subscribe`);
  }, 30_000);
}
