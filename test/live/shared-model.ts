import { asMoment, type Clock } from '../../src/clock.js';
import {
  type Attached,
  type Connection,
  goneAfterMs,
  type Heartbeat,
  type LogOffset,
  leaseMs,
  type SharedChange,
  type SharedChanges,
  StoreUnavailable,
} from '../../src/store/store.js';

/** What instances share of one feed, in memory and on a clock that tests drive: for more schedules than Redis could play. */
export class SharedModel {
  readonly clock: Clock;
  readonly links: ModelLink[] = [];
  epoch: number | null = null;
  snapshot: { offset: number; text: string } | null = null;
  changes: SharedChange[] = [];
  readonly listeners = new Map<ModelLink, number>();
  lease: { holder: ModelLink; untilMs: number } | null = null;
  progress: string | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** For one more instance. */
  link(): ModelLink {
    const link = new ModelLink(this);
    this.links.push(link);
    return link;
  }

  get last(): number {
    return this.changes.at(-1)?.offset ?? this.snapshot?.offset ?? 0;
  }

  /** Everything is lost, as when Redis restarts without its data. */
  flush(): void {
    this.epoch = null;
    this.snapshot = null;
    this.changes = [];
    this.listeners.clear();
    this.lease = null;
    this.progress = null;
  }

  listen(link: ModelLink): void {
    const nowMs = this.clock.now();
    for (const [one, heartbeatAtMs] of this.listeners) {
      if (heartbeatAtMs <= nowMs - goneAfterMs) this.listeners.delete(one);
    }
    this.listeners.set(link, nowMs);
    if (this.lease && this.lease.untilMs <= nowMs) this.lease = null;
  }

  after(offset: number): SharedChange[] {
    return this.changes.filter((change) => change.offset > offset);
  }
}

export class ModelLink implements SharedChanges {
  /** How late this instance learnt of the others' time. */
  timeErrorMs = 0;
  readonly time: SharedChanges['time'] = {
    toShared: (localMs) => asMoment(localMs),
    toLocal: (sharedMs) => asMoment(sharedMs - this.timeErrorMs),
  };
  readonly #model: SharedModel;
  readonly #listeners = new Set<() => void>();
  readonly #appendListeners = new Set<() => void>();
  #isUp = true;
  readonly connection: Connection;

  constructor(model: SharedModel) {
    this.#model = model;
    const isUp = () => this.#isUp;
    this.connection = {
      get isUp() {
        return isUp();
      },
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  /** This instance can reach the others, or cannot any more. */
  setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Notifications of changes do not arrive. */
  isDeaf = false;
  /** Everything takes so long, on the way there and on the way back. */
  latencyMs = 0;
  /** Answers that will not arrive, though what was asked for is done: after each this instance is cut off. */
  losing = 0;

  /** The instance is gone from one moment to the next: no other instance is notified. */
  die(): void {
    this.#isUp = false;
    this.#listeners.clear();
    this.#appendListeners.clear();
  }

  attach(own: LogOffset | null): Promise<Attached | null> {
    return this.#ask((model) => {
      model.listen(this);
      const { epoch, snapshot } = model;
      if (epoch !== null && epoch === own?.epoch)
        return { epoch, snapshot: null, changes: model.after(own.offset) };
      if (epoch !== null && snapshot && model.listeners.size > 1)
        return { epoch, snapshot, changes: model.after(snapshot.offset) };
      model.epoch = null;
      model.snapshot = null;
      model.changes = [];
      model.progress = null;
      return null;
    });
  }

  begin(epoch: number, text: string): Promise<boolean> {
    return this.#ask((model) => {
      if (model.epoch !== null) return false;
      model.epoch = epoch;
      model.snapshot = { offset: 0, text };
      model.changes = [];
      return true;
    });
  }

  append(epoch: number, texts: readonly string[]): Promise<number | null> {
    return this.#ask((model) => {
      if (epoch !== model.epoch) return null;
      for (const text of texts) model.changes.push({ offset: model.last + 1, text });
      for (const link of model.links)
        if (link.#isUp && !link.isDeaf) for (const listener of link.#appendListeners) listener();
      return model.last;
    });
  }

  readAfter({ epoch, offset }: LogOffset): Promise<readonly SharedChange[] | null> {
    return this.#ask((model) => {
      return epoch === model.epoch ? model.after(offset) : null;
    });
  }

  replaceSnapshot({ epoch, offset }: LogOffset, text: string): Promise<void> {
    return this.#ask((model) => {
      if (epoch === model.epoch) model.snapshot = { offset, text };
    });
  }

  heartbeat(progress: string | null): Promise<Heartbeat> {
    return this.#ask((model) => {
      model.listen(this);
      const nowMs = model.clock.now();
      const isLeader = model.lease === null || model.lease.holder === this;
      if (isLeader) model.lease = { holder: this, untilMs: nowMs + leaseMs };
      if (isLeader && progress !== null) model.progress = progress;
      const last = model.epoch === null ? null : { epoch: model.epoch, offset: model.last };
      return { isLeader, last, progress: model.progress };
    });
  }

  async leave(): Promise<void> {
    await this.#ask((model) => {
      model.listeners.delete(this);
      if (model.lease?.holder === this) model.lease = null;
    }).catch(() => {});
  }

  onAppend(listener: () => void): () => void {
    this.#appendListeners.add(listener);
    return () => this.#appendListeners.delete(listener);
  }

  async #ask<T>(answer: (model: SharedModel) => T): Promise<T> {
    await this.#travel();
    const answered = answer(this.#model);
    await this.#travel();
    if (this.losing === 0) return answered;
    this.losing--;
    this.setUp(false);
    throw new StoreUnavailable();
  }

  async #travel(): Promise<void> {
    if (this.latencyMs > 0) await this.#model.clock.sleep(this.latencyMs);
    else await Promise.resolve();
    if (!this.#isUp) throw new StoreUnavailable();
  }
}
