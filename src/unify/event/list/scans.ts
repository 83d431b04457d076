import type { CatalogueClient } from '../../../upstream/catalogue/client.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { UnifyContext } from '../../context.js';
import { CatalogueScan } from './catalogue-scan.js';
import { CatalogueReader } from './catalogue-window.js';
import type { Pushdown } from './filter-pushdown.js';
import type { ListOrder } from './list-order.js';
import { NewestFirst } from './newest-first.js';
import { OldestFirst } from './oldest-first.js';
import { ProjectReader } from './project-reader.js';

export type ProjectScan = NewestFirst | OldestFirst;

/** As many as a burst of the project's budget (docs/interfaces.md P8): what one page may take of each interface at most. */
export const mostRequests = 20;

export function projectScan(
  context: UnifyContext,
  client: ProjectClient,
  line: ListOrder,
  narrowing: Pushdown,
): ProjectScan {
  const resume = line.after?.project ?? null;
  const reader = new ProjectReader(context, client, { narrowing, mostRequests, resume });
  const options = { narrowing, startMs: line.sign * (line.start - line.reach.lookAheadMs), resume };
  return line.sign < 0 ? new NewestFirst(reader, options) : new OldestFirst(reader, options);
}

export function catalogueScan(
  context: UnifyContext,
  client: CatalogueClient,
  line: ListOrder,
  narrowing: Pushdown,
): CatalogueScan {
  const { near, selection } = narrowing;
  return new CatalogueScan(context, new CatalogueReader(context, client, { narrowing, mostRequests }), {
    sign: line.sign,
    start: line.start - line.reach.lookAheadMs,
    end: line.end + line.reach.lookAheadMs,
    name: JSON.stringify([near, selection]),
  });
}
