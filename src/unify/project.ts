import { UpstreamUnavailable } from '../errors.js';
import { isRecent } from '../upstream/cache/demand.js';
import { staleIfErrorMs } from '../upstream/cache/freshness.js';
import { known, type Num } from '../upstream/decode/fields.js';
import { largestPage } from '../upstream/page-sizes.js';
import type { WireProject } from '../upstream/project/wire.js';
import type { Read } from '../upstream/read/read.js';
import { allowsStaleIfError } from '../upstream/resilience/outcome.js';
import type { UnifyContext } from './context.js';
import { createMaskSetting } from './masking/setting.js';

/** The project of the key (docs/interfaces.md P2). */
export interface Project {
  readonly projectId: string;
  readonly name: string;
  readonly networkCode: string;
  /** The project's own count, unchecked: use `sensorCountOf`. */
  readonly saidSensorCount: Num;
  readonly locationMasked: boolean;
  readonly apiKeyId: string;
}

/** At most 30 seconds old; stale-if-error where upstream fails. Null where the project interface is not configured. */
export async function readProject(ctx: UnifyContext): Promise<Project | null> {
  if (!ctx.project) return null;
  const latest = ctx.tracked(createLatest);
  try {
    latest.response = await ctx.tracked(createMaskSetting).ask(ctx, ctx.project);
    return projectOf(latest.response.value);
  } catch (error) {
    ctx.scope.signal.throwIfAborted();
    const { response } = latest;
    const { maxAgeMs, demand } = ctx.scope;
    const mayBeOld = maxAgeMs === undefined && (!demand || (response && isRecent(demand, response.readAtMs)));
    const mayHold = response && mayBeOld && ctx.project.mayServeCached();
    if (!mayHold || !allowsStaleIfError(error) || ctx.clock.now() - response.readAtMs > staleIfErrorMs)
      throw error;
    return projectOf(response.value);
  }
}

/**
 * Number of the project's sensors. Where the project's record has no valid count, the total of its sensor list is used.
 * @throws UpstreamUnavailable when neither has a valid count; only this field fails, not the whole project
 */
export async function sensorCountOf(ctx: UnifyContext, { saidSensorCount }: Project): Promise<number> {
  const count = known(saidSensorCount);
  if (count !== null && isCount(count)) return count;
  // The same URL as the first page of the sensor list, so that the two share one cached response.
  const page = await ctx.project?.sensors({ limit: largestPage.project, offset: 0 }, ctx.scope);
  const total = page?.value.total ?? null;
  if (total !== null && isCount(total)) return total;
  throw new UpstreamUnavailable('The project did not say how many sensors it has');
}

// `| 0` leaves exactly the range of GraphQL's Int (signed 32 bits) unchanged.
const isCount = (value: number) => (value | 0) === value;

const createLatest = (): { response: Read<WireProject> | null } => ({ response: null });

function projectOf(wire: WireProject): Project {
  return {
    projectId: wire.id,
    name: known(wire.name) ?? '',
    networkCode: known(wire.network_code) ?? '',
    saidSensorCount: wire.sensor_count,
    // docs/behaviour.md 6.4: without a statement from the project, positions count as masked.
    locationMasked: known(wire.location_masked) ?? true,
    apiKeyId: known(wire.api_key_id) ?? '',
  };
}
