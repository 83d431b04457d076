import { earliest } from '../../clock.js';
import type { Page, Read } from '../read/read.js';

const mostPages = 20;

/** Reads a list to its end, as long as its total promises more; stops where a page repeats known records. */
export async function allPages<T extends { readonly id: string }>(
  readPage: (page: number) => Promise<Read<Page<T>>>,
): Promise<Read<readonly T[]>> {
  const first = await readPage(1);
  const items = new Map(first.value.items.map((item) => [item.id, item]));
  let { received } = first.value;
  let { readAtMs } = first;
  for (let number = 2; number <= mostPages && received < (first.value.total ?? 0); number++) {
    const page = await readPage(number);
    const known = items.size;
    for (const item of page.value.items) items.set(item.id, item);
    if (items.size === known) break;
    received += page.value.received;
    readAtMs = earliest(readAtMs, page.readAtMs);
  }
  return { value: [...items.values()], readAtMs };
}
