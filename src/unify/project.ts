import { UpstreamUnavailable } from '../errors.js';
import { isRecent } from '../upstream/cache/demand.js';
import { staleIfErrorMs } from '../upstream/cache/freshness.js';
import { known, type Num } from '../upstream/decode/fields.js';
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
  /** As the project says: see `sensorCountOf`. */
  readonly saidSensorCount: Num;
  readonly locationMasked: boolean;
  readonly apiKeyId: string;
}

/** At most 30 seconds old; older where it cannot be read now. Null where the project interface is not configured. */
export async function readProject(ctx: UnifyContext): Promise<Project | null> {
  if (!ctx.project) return null;
  const latest = ctx.tracked(createLatest);
  try {
    latest.said = await ctx.tracked(createMaskSetting).ask(ctx, ctx.project);
    return projectOf(latest.said.value);
  } catch (error) {
    ctx.scope.signal.throwIfAborted();
    const { said } = latest;
    const { maxAgeMs, demand } = ctx.scope;
    const mayBeOld = maxAgeMs === undefined && (!demand || (said && isRecent(demand, said.readAtMs)));
    const mayHold = said && mayBeOld && ctx.project.mayShowKept();
    if (!mayHold || !allowsStaleIfError(error) || ctx.clock.now() - said.readAtMs > staleIfErrorMs)
      throw error;
    return projectOf(said.value);
  }
}

/**
 * Number of the project's sensors. Where its record gives none that can be shown, its list of sensors does, which counts
 * them as well: the rest of the project is not lost with it. @throws UpstreamUnavailable when neither says
 */
export async function sensorCountOf(ctx: UnifyContext, { saidSensorCount }: Project): Promise<number> {
  const said = known(saidSensorCount);
  if (said !== null && isCount(said)) return said;
  // The page that lists begin with too.
  const page = await ctx.project?.sensors({ limit: 500, offset: 0 }, ctx.scope);
  const total = page?.value.total ?? null;
  if (total !== null && isCount(total)) return total;
  throw new UpstreamUnavailable('The project did not say how many sensors it has');
}

// `| 0` keeps just what GraphQL's Int takes.
const isCount = (value: number) => (value | 0) === value;

const createLatest = (): { said: Read<WireProject> | null } => ({ said: null });

function projectOf(wire: WireProject): Project {
  return {
    projectId: wire.id,
    name: known(wire.name) ?? '',
    networkCode: known(wire.network_code) ?? '',
    saidSensorCount: wire.sensor_count,
    // docs/behaviour.md 6.4: as long as it has not said, it is.
    locationMasked: known(wire.location_masked) ?? true,
    apiKeyId: known(wire.api_key_id) ?? '',
  };
}
