import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { realClock } from '../clock.js';
import type { Config } from '../config/config.js';
import type { Log } from '../log.js';
import type { Sandbox } from '../sandbox/server.js';
import type { Listener } from '../server/http/listen.js';
import { logStart, ownSandbox } from '../start-log.js';
import { Channel } from '../store/hub/channel.js';
import { Balancer } from './balancer.js';
import type { LifecycleCalls, LifecycleOrders } from './lifecycle.js';
import { processPort } from './process-port.js';
import { SharedState, type WorkerCalls } from './shared-state.js';
import { WorkerConnections } from './worker-connections.js';

// A worker that ends within this time counts as failed at the start, and the next start backs off.
const earlyWithinMs = 10_000;
const longestBackOffMs = 10_000;
// Workers cut off the requests in flight after 10 s (docs/behaviour.md 3); one that hangs longer is killed.
const endedWithinMs = 13_000;

/** The process that listens on the port, starts and replaces the workers, and holds the state that they share. */
export class Primary {
  readonly #config: Config;
  readonly #log: Log;
  readonly #sharedState: SharedState;
  readonly #balancer = new Balancer();
  readonly #running = new Set<Running>();
  readonly #backOffs = new Set<NodeJS.Timeout>();
  /** Numbers of workers that failed during `start`. */
  readonly #missing: number[] = [];
  #address: Omit<Listener, 'close'> = { url: '', port: 0 };
  #isStarted = false;
  #sandbox: Sandbox | null = null;
  #isLeaving = false;

  constructor({ config, log }: { readonly config: Config; readonly log: Log }) {
    this.#config = config;
    this.#log = log;
    this.#sharedState = new SharedState({ config, clock: realClock, log });
  }

  /** Resolves when every worker has started or failed; rejects with the reason when all have failed. */
  async start(): Promise<void> {
    const config = this.#config;
    if (config.sandbox) {
      const { startSandbox } = await import('../sandbox/server.js');
      this.#sandbox = await startSandbox();
    }
    if (config.sandbox && config.redisUrl !== null) this.#log.warn({}, ownSandbox);
    this.#address = await this.#balancer.listen(config.port, config.host);
    const numbers = Array.from({ length: config.workers }, (_, index) => index + 1);
    const started = await Promise.allSettled(numbers.map((number) => this.#run(number, 0)));
    if (this.#isLeaving) return;
    const failed = started.find((one) => one.status === 'rejected');
    if (failed && this.#missing.length === numbers.length) throw failed.reason;
    logStart(config, this.#address.url, { log: this.#log, workers: config.workers });
    this.#isStarted = true;
    for (const number of this.#missing.splice(0)) this.#replaceSoon(number, 1);
  }

  /** All workers complete the requests in flight and exit. */
  async close(): Promise<void> {
    this.#isLeaving = true;
    this.#balancer.close();
    for (const backOff of this.#backOffs) clearTimeout(backOff);
    for (const { orders } of this.#running) orders.notify('leave');
    const cutting = realClock.timer(endedWithinMs, () => this.kill());
    await Promise.all([...this.#running].map(({ ended }) => ended));
    cutting.cancel();
    await this.#sandbox?.close();
  }

  /** Has every worker read the manifests of persisted operations again. */
  reload(): void {
    for (const { orders } of this.#running) orders.notify('reload');
  }

  /** Kills all workers at once. */
  kill(): void {
    this.#isLeaving = true;
    for (const { worker } of this.#running) worker.kill('SIGKILL');
  }

  /** Starts a worker, and replaces it whenever it ends. Resolves when it is ready; rejects when it ends before that. */
  #run(number: number, earlyEnds: number): Promise<void> {
    const startedAtMs = realClock.now();
    const worker = fork(workerProgram, { serialization: 'advanced' });
    const channel = new Channel<WorkerCalls & LifecycleOrders>(processPort(worker));
    const connections = new WorkerConnections(worker);
    const ended = new Promise<Ending>((resolve) => {
      worker.once('exit', (code, signal) => {
        resolve({ reason: `The worker ended with ${signal ?? code}`, isFault: code !== 0 });
      });
      worker.on('error', ({ message }) => {
        // The process could not be spawned, so there is no exit event.
        if (worker.pid === undefined) resolve({ reason: message, isFault: true });
      });
    });
    const running: Running = { worker, orders: channel, ended };
    this.#running.add(running);
    this.#sharedState.serve(channel);
    let isReplaced = false;
    let failure: string | null = null;
    return new Promise((resolve, reject) => {
      const replace = () => {
        if (isReplaced || this.#isLeaving) return;
        isReplaced = true;
        const isEarly = realClock.now() - startedAtMs < earlyWithinMs;
        if (this.#isStarted) this.#replaceSoon(number, isEarly ? earlyEnds + 1 : 0);
        else this.#missing.push(number);
      };
      const lifecycle: LifecycleCalls = {
        welcome: () => ({
          number,
          url: this.#address.url,
          port: this.#address.port,
          sandbox: this.#sandbox && addressOf(this.#sandbox),
        }),
        ready: () => {
          this.#log.debug({ worker: number, pid: worker.pid }, 'A worker takes connections');
          this.#balancer.add(connections);
          resolve();
        },
        took: (connection, isTaken) => connections.answered(connection, isTaken),
        failed: (reason) => {
          failure = reason;
        },
        leaving: () => {
          this.#balancer.remove(connections);
          replace();
        },
      };
      channel.answer(lifecycle);
      // All messages of the worker have been read by now, including the connections that it took.
      channel.onClose(() => {
        this.#balancer.remove(connections);
        connections.ended();
      });
      void ended.then(({ reason, isFault }) => {
        this.#running.delete(running);
        const why = failure ?? reason;
        if (this.#isStarted && !this.#isLeaving && isFault) {
          this.#log.error({ worker: number, pid: worker.pid, reason: why }, 'A worker has ended');
        }
        reject(new Error(why));
        replace();
      });
    });
  }

  #replaceSoon(number: number, earlyEnds: number): void {
    const delayMs = earlyEnds < 2 ? 0 : Math.min(longestBackOffMs, 250 * 2 ** (earlyEnds - 2));
    // Not unreferenced: it keeps the process alive while there is no worker.
    const backOff = setTimeout(() => {
      this.#backOffs.delete(backOff);
      this.#run(number, earlyEnds).then(
        () => this.#log.info({ worker: number }, 'Another worker has taken its place'),
        // `#run` has logged the failure and schedules the next replacement.
        () => {},
      );
    }, delayMs);
    this.#backOffs.add(backOff);
  }
}

interface Running {
  readonly worker: ChildProcess;
  readonly orders: Pick<Channel<LifecycleOrders>, 'notify'>;
  readonly ended: Promise<Ending>;
}

interface Ending {
  readonly reason: string;
  readonly isFault: boolean;
}

function addressOf({ projectUrl, projectKey, catalogueUrl, catalogueKey }: Sandbox) {
  return { projectUrl, projectKey, catalogueUrl, catalogueKey };
}

// The worker has the same extension as this file: `.ts` when run from source, `.js` when built.
const workerProgram = fileURLToPath(import.meta.url).replace(/primary(\.[jt]s)$/, 'worker$1');
