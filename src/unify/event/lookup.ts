import { GatewayError, notConfigured } from '../../errors.js';
import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import { asId, type CatalogueEventId, type ProjectEventId } from '../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { UnifyContext } from '../context.js';
import { createDeliveredEvents } from './delivered-events.js';
import { type Event, mergeEvent } from './merge.js';
import { cataloguePartner, projectPartner } from './partner.js';
import { projectRecord } from './record.js';

/** Exactly one of these. `key` is the part of the global id after its type. */
export type EventLookup =
  | { readonly key: string }
  | { readonly projectEventId: ProjectEventId }
  | { readonly catalogueEventId: CatalogueEventId };

/**
 * The event merged from both sides; null when there is none. If the interface of the id fails, the other one is asked
 * for the same id.
 * @throws NotConfigured when the interface of the id is not configured; its failure when the other side does not have
 * the id
 */
export async function readEvent(ctx: UnifyContext, lookup: EventLookup): Promise<Event | null> {
  const key = keyOf(lookup);
  const delivered = ctx.tracked(createDeliveredEvents).get(ctx, key);
  if (delivered) return delivered;
  if (key.startsWith('p:')) return byProjectId(ctx, asId(key.slice(2)));
  return key.startsWith('c:') ? byCatalogueId(ctx, asId(key.slice(2))) : null;
}

function keyOf(lookup: EventLookup): string {
  if ('projectEventId' in lookup) return `p:${lookup.projectEventId}`;
  return 'catalogueEventId' in lookup ? `c:${lookup.catalogueEventId}` : lookup.key;
}

/** The event of a project record, merged with the catalogue's record of the same earthquake. */
export async function eventOfProjectRecord(
  ctx: UnifyContext,
  record: Read<WireProjectEvent>,
): Promise<Event> {
  const { partner, failure } = await attempt(() => cataloguePartner(ctx, record));
  return mergeEvent(record, partner, { catalogue: failure });
}

async function byProjectId(ctx: UnifyContext, id: ProjectEventId): Promise<Event | null> {
  if (!ctx.project) throw notConfigured('PROJECT');
  const { partner: record, failure } = await attempt(() => projectRecord(ctx, id));
  if (record) return eventOfProjectRecord(ctx, record);
  if (!failure) return null;
  const catalogue = (await ctx.catalogue?.event(asId(id), ctx.scope).catch(unlessGone(ctx))) ?? null;
  if (!catalogue) throw failure;
  return mergeEvent(null, catalogue, { project: failure, projectEventId: id });
}

async function byCatalogueId(ctx: UnifyContext, id: CatalogueEventId): Promise<Event | null> {
  if (!ctx.catalogue) throw notConfigured('CATALOGUE');
  const { partner: record, failure } = await attempt<WireCatalogueEvent>(
    async () => (await ctx.catalogue?.event(id, ctx.scope)) ?? null,
  );
  if (record) {
    const found = await attempt(() => projectPartner(ctx, record));
    return mergeEvent(found.partner, record, { project: found.failure });
  }
  if (!failure) return null;
  const project = await projectRecord(ctx, asId(id)).catch(unlessGone(ctx));
  if (!project) throw failure;
  return mergeEvent(project, null, { catalogue: failure });
}

async function attempt<T>(
  read: () => Promise<Read<T> | null>,
): Promise<{ partner: Read<T> | null; failure?: GatewayError }> {
  try {
    return { partner: await read() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { partner: null, failure: error };
  }
}

function unlessGone(ctx: UnifyContext): () => null {
  return () => {
    ctx.scope.signal.throwIfAborted();
    return null;
  };
}
