import { UpstreamUnavailable } from '../errors.js';
import { known } from '../upstream/decode.js';
import { canBeRescued } from '../upstream/outcome.js';
import type { WireProject } from '../upstream/project/wire.js';
import type { Read } from '../upstream/read.js';
import type { UnifyContext } from './context.js';
import { createMaskSetting } from './mask-setting.js';

/** The project of the key (key-scoped §2). */
export interface Project {
  readonly projectId: string;
  readonly name: string;
  readonly networkCode: string;
  readonly sensorCount: number;
  readonly locationMasked: boolean;
  readonly apiKeyId: string;
}

/** At most 30 seconds old; older where it cannot be read now. Null where the project interface is not configured. */
export async function readProject(ctx: UnifyContext): Promise<Project | null> {
  if (!ctx.project) return null;
  const latest = ctx.kept(createLatest);
  try {
    latest.said = await ctx.kept(createMaskSetting).ask(ctx, ctx.project);
    return projectOf(latest.said.value);
  } catch (error) {
    ctx.scope.signal.throwIfAborted();
    const { said } = latest;
    const mayHold = said && ctx.scope.maxAgeMs === undefined && ctx.project.mayShowKept();
    if (!mayHold || !canBeRescued(error) || ctx.clock.now() - said.readAtMs > rescueMs) throw error;
    return projectOf(said.value);
  }
}

// contract 5.6.
const rescueMs = 86_400_000;

const createLatest = (): { said: Read<WireProject> | null } => ({ said: null });

function projectOf(wire: WireProject): Project {
  const sensorCount = known(wire.sensor_count);
  if (sensorCount === null) throw new UpstreamUnavailable('The project did not say how many sensors it has');
  return {
    projectId: wire.id,
    name: known(wire.name) ?? '',
    networkCode: known(wire.network_code) ?? '',
    sensorCount,
    // contract 6.4: as long as it has not said, it is.
    locationMasked: known(wire.location_masked) ?? true,
    apiKeyId: known(wire.api_key_id) ?? '',
  };
}
