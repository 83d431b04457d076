import type { Environment } from './environment.js';
import { variablesOf } from './setting.js';
import { type SettingName, settings } from './settings.js';

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
  readonly tracing: { readonly url: string } | null;
  readonly proxies: { readonly noProxy: string } | null;
  readonly projectRate: { readonly perMinute: number; readonly burst: number };
  readonly upstreamMaxWaitMs: number;
}

/** The variables of the environment that the other settings leave without effect. */
export function settingsWithoutEffect(config: Deciding, env: Environment): readonly WithoutEffect[] {
  const { project, catalogue, sandbox, auth, host, projectRate, upstreamMaxWaitMs } = config;
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
    ['PROJECT_RATE_BURST', hasProject ? burstIsUnused(projectRate) : noProject],
    // docs/behaviour.md 9.7.
    ['EVENT_POLL_INTERVAL_MS', hasProject ? null : onceAMinute],
    ['SENSOR_POLL_INTERVAL_MS', hasProject ? null : onceAMinute],
    [
      'UPSTREAM_MAX_DEFERRED_WAIT_MS',
      Number(env.UPSTREAM_MAX_DEFERRED_WAIT_MS) < upstreamMaxWaitMs ? 'UPSTREAM_MAX_WAIT_MS is longer' : null,
    ],
    ['NO_PROXY', rangesIn(config.proxies?.noProxy ?? '')],
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
  const ruled = rules.flatMap(([name, because]) =>
    variablesOf(name, settings[name]).map((variable) => ({ variable, because })),
  );
  const traces = Object.keys(env).map((variable) => ({
    variable,
    because: unusedForTraces(variable, config, env),
  }));
  const proxies = ['ALL_PROXY', 'all_proxy'].map((variable) => ({
    variable,
    because:
      sandbox || config.proxies !== null
        ? null
        : 'seisgraph has no such setting, and reads HTTPS_PROXY and HTTP_PROXY',
  }));
  return [...ruled, ...proxies, ...traces].flatMap(({ variable, because }) =>
    because !== null && env[variable]?.trim() ? { variable, because } : [],
  );
}

const onceAMinute = 'the catalogue alone is polled once a minute';

function burstIsUnused({ perMinute, burst }: Deciding['projectRate']): string | null {
  return burst > perMinute
    ? `no more than ${perMinute} are sent in a minute (PROJECT_RATE_PER_MINUTE)`
    : null;
}

function rangesIn(noProxy: string): string | null {
  const ranges = noProxy.split(/[\s,]+/).filter((host) => host.includes('/'));
  return ranges.length > 0 ? `only hosts and addresses are understood, not ${ranges.join(' or ')}` : null;
}

/** OpenTelemetry has variables for more than traces, and the SDK passes over those that do not apply. */
function unusedForTraces(variable: string, { tracing }: Deciding, env: Environment): string | null {
  if (!variable.startsWith('OTEL_')) return null;
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim() || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  // Traces are off on purpose then.
  if (tracing === null) return endpoint?.trim() ? null : 'OTEL_EXPORTER_OTLP_ENDPOINT is not set';
  if (variable === 'OTEL_TRACES_SAMPLER_ARG' && !env.OTEL_TRACES_SAMPLER?.includes('ratio'))
    return 'OTEL_TRACES_SAMPLER is no traceidratio';
  if (/_(CERTIFICATE|CLIENT_KEY)$/.test(variable) && tracing.url.startsWith('http:'))
    return 'the collector is not reached over https';
  const isKnown = Object.entries(settings).some(([name, setting]) =>
    variablesOf(name, setting).includes(variable),
  );
  return isKnown || attributeLimit.test(variable)
    ? null
    : 'seisgraph has no such setting, and sends traces alone';
}

// The SDK reads them; spans have few attributes, so that nobody needs them.
const attributeLimit = /^OTEL_(SPAN_)?ATTRIBUTE_(COUNT|VALUE_LENGTH)_LIMIT$/;

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
