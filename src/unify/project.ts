import { UpstreamUnavailable } from '../errors.js';
import { known } from '../upstream/decode.js';
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

/** Null where the project interface is not configured. */
export async function readProject(ctx: UnifyContext): Promise<Project | null> {
  const setting = ctx.kept(createMaskSetting);
  // A sensor's record may have said since that it is masked: then what was read before that will not do.
  await setting.look(ctx);
  const read = await projectRecord(ctx);
  if (read) setting.hear(read);
  return read && projectOf(read.value);
}

/** As `GET /v1/project` gave it at most 30 seconds ago, or as it gave it last where it cannot be asked now. */
async function projectRecord(ctx: UnifyContext): Promise<Read<WireProject> | null> {
  if (!ctx.project) return null;
  try {
    return await ctx.project.project({
      ...ctx.scope,
      maxAgeMs: Math.min(ctx.scope.maxAgeMs ?? 30_000, 30_000),
    });
  } catch (error) {
    if (ctx.scope.maxAgeMs !== undefined) throw error;
    return ctx.project.project(ctx.scope);
  }
}

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
