import { asMoment } from '../../../clock.js';
import { limits } from '../../../limits.js';
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
import type { ProjectScan } from './project-scan.js';

export function projectScan(
  context: UnifyContext,
  client: ProjectClient,
  listOrder: ListOrder,
  pushdown: Pushdown,
): ProjectScan {
  const resume = listOrder.after?.project ?? null;
  const reader = new ProjectReader(context, client, {
    pushdown,
    mostRequests: limits.eventPageRequests,
    resume,
    isNeeded: (originMs) => listOrder.isNeeded(originMs),
  });
  const options = {
    pushdown,
    startMs: asMoment<'date in ms'>(listOrder.sign * (listOrder.start - listOrder.reach.lookAheadMs)),
    resume,
  };
  return listOrder.sign < 0 ? new NewestFirst(reader, options) : new OldestFirst(reader, options);
}

export function catalogueScan(
  context: UnifyContext,
  client: CatalogueClient,
  listOrder: ListOrder,
  pushdown: Pushdown,
): CatalogueScan {
  const { near, selection } = pushdown;
  return new CatalogueScan(
    context,
    new CatalogueReader(context, client, { pushdown, mostRequests: limits.eventPageRequests }),
    {
      sign: listOrder.sign,
      start: listOrder.start - listOrder.reach.lookAheadMs,
      end: listOrder.end + listOrder.reach.lookAheadMs,
      name: JSON.stringify([near, selection]),
    },
  );
}
