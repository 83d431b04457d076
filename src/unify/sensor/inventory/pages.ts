import { freezeAndMeasure } from '../../../upstream/cache/freeze.js';
import type { Page, Read, ReadScope } from '../../../upstream/read/read.js';

/** One of the two lists of sensors, and how it is paged. */
export interface PageSource<W> {
  /** The most that a page can hold. */
  readonly pageSize: number;
  /** Page `index` from 0 of pages of `size`; `appliedSize` is what upstream made of it. */
  read(
    index: number,
    size: number,
    scope: ReadScope,
  ): Promise<Read<Page<W>> & { readonly appliedSize: number }>;
  idOf(wire: W): string;
}

/** What one pass saw, and whether rows moved between its pages: then one can be missing. */
export class Pass<W> {
  readonly seen = new Map<string, Read<W>>();
  clean = true;
  /** Whether the last page had a row that none before it had. */
  grew = false;
  /** What the rows that it saw take of memory, as estimated. */
  bytes = 0;
  readonly #source: PageSource<W>;
  readonly #records: Map<string, Read<W>>;
  #total: number | null | undefined;

  constructor(source: PageSource<W>, records: Map<string, Read<W>>) {
    this.#source = source;
    this.#records = records;
  }

  take({ value, readAtMs }: Read<Page<W>>): void {
    const page = new Map<string, Read<W>>();
    for (const wire of value.items) page.set(this.#source.idOf(wire), { value: wire, readAtMs });
    if (this.#total !== undefined && this.#total !== value.total) this.clean = false;
    this.#total = value.total;
    this.grew = false;
    for (const [id, record] of page) {
      if (this.seen.has(id)) this.clean = false;
      else this.grew = true;
      this.bytes += freezeAndMeasure(record.value) + rowBytes;
      this.seen.set(id, record);
      this.#records.set(id, record);
    }
  }
}

/** Upstream may give fewer than were asked for, whatever its maximum is: then it is its page size that counts. */
export function sizeOf<W>(first: Read<Page<W>> & { readonly appliedSize: number }, asked: number): number {
  const { total, received } = first.value;
  // Assumed: an interface may cut pages shorter than asked without saying so, but cuts all of them alike.
  if (total !== null && received > 0 && received < total && received < asked) return received;
  return Math.max(1, Math.min(asked, first.appliedSize));
}

// Around each row: its places in the list, in the pairing with the other interface and in the order of stations.
const rowBytes = 600;
