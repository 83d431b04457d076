/** Event queue: entries come out in the order of their times, equal times in the order they were put in. */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #order = 0;

  add(dueMs: number, run: (nowMs: number) => void): void {
    const heap = this.#heap;
    const entry = { dueMs, order: this.#order++, run };
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent] as Entry)) break;
      heap[at] = heap[parent] as Entry;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Runs what is due by `nowMs`, what that puts in as well. */
  runUntil(nowMs: number): void {
    for (let first = this.#heap[0]; first && first.dueMs <= nowMs; first = this.#heap[0]) {
      const last = this.#heap.pop();
      if (last && last !== first) this.#sink(last);
      first.run(nowMs);
    }
  }

  #sink(entry: Entry): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as Entry)) child++;
      const next = heap[child];
      if (!next || !isBefore(next, entry)) break;
      heap[at] = next;
      at = child;
    }
    heap[at] = entry;
  }
}

interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly run: (nowMs: number) => void;
}

const isBefore = (a: Entry, b: Entry) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
