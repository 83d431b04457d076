import { StoreUnavailable } from '../store.js';

/** One end of a connection that delivers whole messages in order, to a child process or within one process. */
export interface MessagePort {
  /** Does nothing once the other end has gone. */
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
}

/** The functions that one side answers. Arguments and results must survive a structured clone. */
export type Calls<T> = { readonly [Name in keyof T]: (...args: never[]) => unknown };

type Arguments<T, Name extends keyof T> = T[Name] extends (...args: infer Args) => unknown ? Args : never;
type Answer<T, Name extends keyof T> = T[Name] extends (...args: never[]) => infer R ? Awaited<R> : never;

type Message =
  | {
      readonly seisgraph: 'call';
      readonly id: number | null;
      readonly name: string;
      readonly args: unknown[];
    }
  | { readonly seisgraph: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly seisgraph: 'failure'; readonly id: number; readonly message: string };

/** Remote calls in both directions over one port; `Theirs` are the functions that the other side answers. */
export class Channel<Theirs extends Calls<Theirs>> {
  readonly #port: MessagePort;
  readonly #own = new Map<string, (...args: never[]) => unknown>();
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  /** One-way calls that arrived before `answer`, such as member counts sent to a process that is still starting. */
  readonly #early: Message[] = [];
  readonly #closing: (() => void)[] = [];
  #nextId = 0;
  #isOpen = true;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onMessage((message) => {
      if (isOurs(message)) void this.#take(message);
    });
    port.onClose(() => this.#close());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Answers these calls from now on, including one-way calls that arrived earlier. */
  answer<Own extends Calls<Own>>(own: Own): void {
    for (const [name, run] of Object.entries<(...args: never[]) => unknown>(own)) this.#own.set(name, run);
    for (const message of this.#early.splice(0)) void this.#take(message);
  }

  /** Rejects with `StoreUnavailable` when the other side has gone. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Arguments<Theirs, Name>
  ): Promise<Answer<Theirs, Name>> {
    if (!this.#isOpen) return Promise.reject(new StoreUnavailable());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Answer<Theirs, Name>), reject });
      this.#post({ seisgraph: 'call', id, name, args });
    });
  }

  /** A one-way call; dropped when the other side has gone. */
  notify<Name extends keyof Theirs & string>(name: Name, ...args: Arguments<Theirs, Name>): void {
    if (this.#isOpen) this.#post({ seisgraph: 'call', id: null, name, args });
  }

  onClose(listener: () => void): void {
    this.#closing.push(listener);
  }

  async #take(message: Message): Promise<void> {
    if (message.seisgraph !== 'call') {
      const waiter = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.seisgraph === 'answer') waiter?.resolve(message.value);
      else waiter?.reject(new Error(message.message));
      return;
    }
    const { id, name, args } = message;
    try {
      const run = this.#own.get(name);
      if (!run && id === null) {
        this.#early.push(message);
        return;
      }
      if (!run) throw new Error(`Nobody answers ${name} here`);
      // Awaits promises only: synchronous answers leave in the order of the calls.
      const given = run(...(args as never[]));
      const value = given instanceof Promise ? await given : given;
      if (id !== null) this.#post({ seisgraph: 'answer', id, value });
    } catch (error) {
      if (id === null) throw error;
      this.#post({ seisgraph: 'failure', id, message: String(error) });
    }
  }

  #post(message: Message): void {
    if (this.#isOpen) this.#port.post(message);
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable());
    this.#waiting.clear();
    for (const listener of this.#closing) listener();
  }
}

function isOurs(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'seisgraph' in message;
}
