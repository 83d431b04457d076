import { LRUCache } from 'lru-cache';
import { freshMs } from '../../upstream/cache/freshness.js';
import type { UnifyContext } from '../context.js';
import type { Event } from './merge.js';

const mostEvents = 1000;

/**
 * Events as a feed has delivered them: a look-up takes them instead of asking upstream while a cached response would be
 * as good (docs/behaviour.md 5.7).
 */
class DeliveredEvents {
  readonly #events = new LRUCache<string, Event>({ max: mostEvents });

  add(event: Event): void {
    if (event.projectEventId !== null) this.#events.set(`p:${event.projectEventId}`, event);
    if (event.catalogueEventId !== null) this.#events.set(`c:${event.catalogueEventId}`, event);
  }

  /** @param key `p:` or `c:` before the id */
  get(ctx: UnifyContext, key: string): Event | null {
    const event = this.#events.get(key);
    return event && isGood(ctx, event) ? event : null;
  }
}

export function createDeliveredEvents(): DeliveredEvents {
  return new DeliveredEvents();
}

function isGood({ project, catalogue, scope, tenant }: UnifyContext, event: Event): boolean {
  const record = event.project ?? event.catalogue;
  if (!record || event.failures.project || event.failures.catalogue) return false;
  // The other interface may list the earthquake at any time.
  const mayHaveMore = event.project ? catalogue !== null && !event.catalogue : project !== null;
  if (mayHaveMore && tenant.clock.now() - record.readAtMs > freshMs.event) return false;
  if (event.project && !project?.servesDelivered(event.project, scope)) return false;
  return !event.catalogue || (catalogue?.servesDelivered(event.catalogue, scope) ?? false);
}
