import type { SettingName } from './settings.js';

/** A variable that is set and changes nothing, and why. */
export interface WithoutEffect {
  readonly variable: string;
  readonly because: string;
}

/** The part of the configuration that decides on the effect of other settings. */
interface Deciding {
  readonly sandbox: boolean;
  readonly project: object | null;
  readonly catalogue: object | null;
  readonly auth: { readonly mode: string };
  readonly host: string;
}

/** The variables of the environment that the other settings leave without effect. */
export function settingsWithoutEffect(
  config: Deciding,
  env: Readonly<Record<string, string | undefined>>,
): readonly WithoutEffect[] {
  const { project, catalogue, sandbox, auth, host } = config;
  const hasProject = sandbox || project !== null;
  const hasCatalogue = sandbox || catalogue !== null;
  const noProject = 'there is no project interface';
  const keyIsUnused = (hasUrl: boolean) =>
    sandbox
      ? 'the sandbox has keys of its own'
      : auth.mode === 'passthrough'
        ? 'clients bring their own keys (AUTH_MODE=passthrough)'
        : hasUrl
          ? null
          : 'the interface has no URL';
  const rules: readonly (readonly [SettingName, string | null])[] = [
    ['PROJECT_API_KEY', keyIsUnused(project !== null)],
    ['CATALOGUE_API_KEY', keyIsUnused(catalogue !== null)],
    ['PROJECT_RATE_PER_MINUTE', hasProject ? null : noProject],
    ['PROJECT_RATE_BURST', hasProject ? null : noProject],
    ['TRIGGER_POLL_INTERVAL_MS', hasProject ? null : noProject],
    ['TRIGGER_LOOKBACK_S', hasProject ? null : noProject],
    ['CATALOGUE_TIER', hasCatalogue ? null : 'there is no catalogue interface'],
    [
      'ALLOW_ANONYMOUS',
      auth.mode !== 'none'
        ? `AUTH_MODE is ${auth.mode}`
        : isLoopback(host)
          ? 'only this machine reaches HOST'
          : null,
    ],
  ];
  return rules.flatMap(([name, because]) =>
    [name, `${name}_FILE`]
      .filter((variable) => because !== null && env[variable]?.trim())
      .map((variable) => ({ variable, because: because ?? '' })),
  );
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
