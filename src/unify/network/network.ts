import { Forbidden, notConfigured } from '../../errors.js';
import type { WireNetwork, WireNetworkStatistics } from '../../upstream/catalogue/wire.js';
import type { NetworkId } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { learnNetworkCode } from './code-lookup.js';

/** A network of the catalogue (docs/interfaces.md C2). It holds the id only; the rest is read on demand. */
export class Network {
  readonly networkId: NetworkId;
  readonly #ctx: UnifyContext;

  constructor(ctx: UnifyContext, networkId: NetworkId) {
    this.#ctx = ctx;
    this.networkId = networkId;
  }

  /** The same network in another context, by which it then reads. */
  within(ctx: UnifyContext): Network {
    return new Network(ctx, this.networkId);
  }

  /** One list request for all networks of an operation. Null where the catalogue does not have the network. */
  record(): Promise<WireNetwork | null> {
    return networkRecord(this.#ctx, this.networkId);
  }

  /** Learnt from one of its sensors; null where none of the sensors tried has a code. */
  code(): Promise<string | null> {
    return learnNetworkCode(this.#ctx, this.networkId);
  }

  /** One request. */
  async statistics(): Promise<WireNetworkStatistics | null> {
    const read = await this.#ctx.catalogue?.networkStatistics(this.networkId, this.#ctx.scope);
    return read?.value ?? null;
  }
}

/** Null when there is no such network. @throws NotConfigured without a catalogue */
export async function readNetwork(ctx: UnifyContext, networkId: NetworkId): Promise<Network | null> {
  if (!ctx.catalogue) throw notConfigured('CATALOGUE');
  return (await networkRecord(ctx, networkId)) ? new Network(ctx, networkId) : null;
}

/** Ordered by name, as upstream lists them. @throws NotConfigured without a catalogue */
export async function readNetworks(ctx: UnifyContext): Promise<readonly Network[]> {
  if (!ctx.catalogue) throw notConfigured('CATALOGUE');
  const records = await ctx.once(readList);
  return [...records.keys()].map((networkId) => new Network(ctx, networkId));
}

function networkRecord(ctx: UnifyContext, networkId: NetworkId): Promise<WireNetwork | null> {
  const records = ctx.once(createRecords);
  const asked = records.get(networkId);
  if (asked) return asked;
  const record = readRecord(ctx, networkId);
  records.set(networkId, record);
  return record;
}

async function readRecord(ctx: UnifyContext, networkId: NetworkId): Promise<WireNetwork | null> {
  let listed: ReadonlyMap<NetworkId, WireNetwork> | undefined;
  try {
    listed = await ctx.once(readList);
  } catch (error) {
    // A key that may not list the networks may still read a single one.
    if (!(error instanceof Forbidden)) throw error;
  }
  // Assumed: the list may contain only the organization's own networks (docs/interfaces.md C4); others are read singly.
  return listed?.get(networkId) ?? (await ctx.catalogue?.network(networkId, ctx.scope))?.value ?? null;
}

async function readList(ctx: UnifyContext): Promise<ReadonlyMap<NetworkId, WireNetwork>> {
  const networks = (await ctx.catalogue?.networks(ctx.scope))?.value ?? [];
  return new Map(networks.map((network) => [network.id, network]));
}

const createRecords = () => new Map<NetworkId, Promise<WireNetwork | null>>();

/** The filter restricted to one network; null for a filter of another network, which matches nothing of this one. */
export function inNetwork<F extends { readonly networkId?: string | null | undefined }>(
  filter: F | null | undefined,
  networkId: NetworkId,
): (Partial<F> & { readonly networkId: NetworkId }) | null {
  const isOther = filter?.networkId != null && filter.networkId !== networkId;
  const own: Partial<F> = filter ?? {};
  return isOther ? null : { ...own, networkId };
}
