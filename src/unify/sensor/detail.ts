import type { WireSensorDetail } from '../../upstream/catalogue/wire.js';
import { type CatalogueSensorId, known } from '../../upstream/decode/fields.js';
import type { Read } from '../../upstream/read/read.js';
import type { UnifyContext } from '../context.js';
import { codeKeyOf, createNetworkCodes } from '../network/code.js';

export type DetailRecord = Read<WireSensorDetail>;

/** The catalogue's detail of a sensor (docs/interfaces.md C2), one request per sensor. Null where there is none. */
export function sensorDetail(
  ctx: UnifyContext,
  catalogueId: CatalogueSensorId,
): Promise<DetailRecord | null> {
  const details = ctx.once(createDetails);
  const asked = details.get(catalogueId);
  if (asked) return asked;
  const detail = readDetail(ctx, catalogueId);
  details.set(catalogueId, detail);
  return detail;
}

async function readDetail(ctx: UnifyContext, catalogueId: CatalogueSensorId): Promise<DetailRecord | null> {
  const detail = (await ctx.catalogue?.sensor(catalogueId, ctx.scope)) ?? null;
  const code = detail && known(detail.value.network_code);
  // Every detail contains its network's code, which then needs no request of its own.
  if (detail && code) ctx.tracked(createNetworkCodes).learn(codeKeyOf(detail.value), code);
  return detail;
}

const createDetails = () => new Map<string, Promise<DetailRecord | null>>();
