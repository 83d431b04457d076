import { tokenBuckets } from '../http/rate-limit.js';
import { type ApiRequest, bearerKey, type Reply } from '../http/reply.js';
import type { World } from '../world.js';
import { openapiYaml } from './openapi.js';
import { projectError, projectInterface } from './routes.js';

export interface ProjectApiOptions {
  readonly world: World;
  readonly revoked: ReadonlySet<string>;
  /** Null: without limit. */
  readonly limits: { readonly perMinute: number; readonly burst: number } | null;
}

/** The project interface with its key check and its limit (docs/interfaces.md P5, P8) in front. */
export function projectApi({ world, revoked, limits }: ProjectApiOptions): (request: ApiRequest) => Reply {
  const answer = projectInterface();
  const take = limits && tokenBuckets(limits.perMinute, limits.burst);

  return (request) => {
    // Assumed: 405 with a code of its own; docs/interfaces.md P1 says that all endpoints use GET.
    if (request.method !== 'GET') {
      return projectError(405, 'method_not_allowed', 'All endpoints use GET', { allow: 'GET' });
    }
    if (request.path === '/v1/openapi.yaml') {
      return {
        status: 200,
        headers: {},
        body: { kind: 'text', type: 'application/yaml', text: openapiYaml() },
      };
    }
    const key = bearerKey(request.authorization);
    const known = key?.startsWith('svc_sk_') && !revoked.has(key) ? world.projectKeys.get(key) : undefined;
    if (key === undefined || !known) {
      return projectError(401, 'unauthorized', 'The key is missing, malformed or revoked');
    }
    const verdict = take?.(key, request.nowMs);
    if (verdict && !verdict.isAllowed) {
      return projectError(429, 'rate_limited', 'Over the request limit of this key', {
        'retry-after': String(verdict.retryAfterS),
      });
    }
    try {
      return answer(request, known);
    } catch (error) {
      // A world that a test has made unreadable: said in the body, as the sandbox keeps no log.
      return projectError(500, 'internal_error', error instanceof Error ? error.message : String(error));
    }
  };
}
