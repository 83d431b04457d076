import { freezeAndMeasure } from '../../../upstream/cache/freeze.js';
import type { Page, Read, ReadScope } from '../../../upstream/read/read.js';

/** One of the two lists of sensors as pages. */
export interface PageSource<W> {
  /** Greatest number of rows in a page. */
  readonly pageSize: number;
  /** Reads page `index`, counted from 0, of pages of `size` rows; `appliedSize` is the page size that upstream used. */
  read(
    index: number,
    size: number,
    scope: ReadScope,
  ): Promise<Read<Page<W>> & { readonly appliedSize: number }>;
  idOf(wire: W): string;
}

/** The rows of one pass over the list, and whether rows moved between its pages, so that one can be missing. */
export class Pass<W> {
  readonly seen = new Map<string, Read<W>>();
  clean = true;
  /** True when the last page had a row that no earlier page had. */
  grew = false;
  /** Estimated memory of the rows of this pass, in bytes. */
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

/** The page size that upstream really uses, which may be smaller than the one asked for: offsets follow from it. */
export function sizeOf<W>(first: Read<Page<W>> & { readonly appliedSize: number }, asked: number): number {
  const { total, received } = first.value;
  // Assumed: an interface may cut pages shorter than asked without saying so, but cuts all of them alike.
  if (total !== null && received > 0 && received < total && received < asked) return received;
  return Math.max(1, Math.min(asked, first.appliedSize));
}

// Estimated bytes per row beyond the record: entries in the list, in the association and in the order of stations.
const rowBytes = 600;
