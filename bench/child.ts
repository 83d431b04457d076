import { type ChildProcess, fork, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { familyOf, listeningPortOf, processorMs, residentMiB } from './process-facts.js';

/** A server in a process of its own, with the workers that it may have. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  /** When the process was started, of `performance.now()`. */
  readonly startedMs: number;
  readonly process: ChildProcess;
  /** Of all its processes together. */
  processorMs(): number;
  residentMiB(): number;
}

export interface ServerOptions {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
}

/** The server left before it listened; the message is what it wrote about that. */
export class NotStarted extends Error {}

const lookEveryMs = 5;

/** Ready when the server listens, whether or not it says so: its log is off. */
export async function startServer({ script, env, nodeOptions = [] }: ServerOptions): Promise<ServerProcess> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, script], {
    // Nothing of this process's own: it may run with options that slow a server down.
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let written = '';
  child.stderr.on('data', (chunk: Buffer) => {
    written = (written + chunk).slice(-4_000);
  });
  const left = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const family = () => (child.pid === undefined ? [] : familyOf(child.pid));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      for (const pid of family()) process.kill(pid, 'SIGKILL');
    }
    await left;
  };
  for (;;) {
    await pause(lookEveryMs);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      await left;
      throw new NotStarted(written.trim() || `${script} ended without a word`);
    }
    const port = portOf(child.pid);
    if (port === null) continue;
    return {
      url: `http://127.0.0.1:${port}`,
      startedMs,
      process: child,
      processorMs: () => sum(family().map(processorMs)),
      residentMiB: () => sum(family().map(residentMiB)),
      [Symbol.asyncDispose]: stop,
    };
  }
}

// It may end between two looks.
function portOf(pid: number): number | null {
  try {
    return listeningPortOf(pid);
  } catch {
    return null;
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** A helper of the bench in a process of its own, so that it does not take the server's time. */
export interface Helper<Order, Report> extends Disposable {
  ask(order: Order): Promise<Report>;
  send(order: Order): void;
  /** What it says next. */
  received<T = Report>(): Promise<T>;
}

export function startHelper<Order extends object | string, Report>(script: URL): Helper<Order, Report> {
  const child = fork(fileURLToPath(script));
  const received = <T>() =>
    new Promise<T>((resolve, reject) => {
      const end = () => reject(new Error(`${script.pathname} ended`));
      child.once('close', end);
      child.once('message', (message) => {
        child.off('close', end);
        resolve(message as T);
      });
    });
  return {
    received,
    send: (order) => void child.send(order),
    ask(order) {
      const report = received<Report>();
      child.send(order);
      return report;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
