import type { Sandbox } from '../src/sandbox/server.js';

/** Settings of a gateway in front of this sandbox that never waits for the rate limit. */
export function unlimitedIn(
  sandbox: Pick<Sandbox, 'projectUrl' | 'projectKey' | 'catalogueUrl' | 'catalogueKey'>,
): Record<string, string> {
  return {
    PORT: '0',
    PROJECT_API_URL: sandbox.projectUrl,
    PROJECT_API_KEY: sandbox.projectKey,
    CATALOGUE_API_URL: sandbox.catalogueUrl,
    CATALOGUE_API_KEY: sandbox.catalogueKey,
    PROJECT_RATE_PER_MINUTE: '1000000',
    PROJECT_RATE_BURST: '1000000',
    CATALOGUE_TIER: 'premium',
  };
}
