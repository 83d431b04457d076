import { createHash } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import {
  asMoment,
  type Clock,
  type ForwardMs,
  hourMs,
  longAgo,
  minuteMs,
  msOf,
  plus,
  type Timer,
  type UnixMs,
} from '../../clock.js';
import { Unauthenticated } from '../../errors.js';
import type { Log } from '../../log.js';
import { type Access, bearerToken, type Own } from './auth.js';

export interface JwtAccessOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** Through a proxy; Node's own where it is null. */
  readonly fetch: FetchImplementation | null;
  readonly own: Own;
  readonly clock: Clock;
  readonly log: Log;
}

// Asymmetric signatures only: with `none` or an HMAC algorithm, anyone with the public key could forge a token.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
// Tolerated difference between the issuer's clock and ours.
const clockToleranceS = 5;
const freshForMs = 10 * minuteMs;
// While the issuer cannot be asked, its last keys hold for so long: an outage of it must not lock all clients out.
const usableForMs = hourMs;
// Whatever tokens are thrown at the gateway, unknown keys are asked for no more often.
const readAgainAfterMs = minuteMs / 2;
// Without any keys nobody is let in, so the issuer is asked sooner.
const firstReadAgainAfterMs = 1_000;

/** AUTH_MODE=jwt. The issuer's keys are cached, and fetched again when a token names an unknown one. */
export function jwtAccess(options: JwtAccessOptions): Access {
  const { issuer, audience, own, clock, log } = options;
  const keys = issuerKeys(options);

  async function verified(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockToleranceS,
        currentDate: new Date(clock.wallMs()),
        requiredClaims: ['exp'],
      });
      return payload;
    } catch (error) {
      if (!isFaultOfToken(error) && !(error instanceof KeysUnavailable))
        log.error({ error: String(error) }, 'A token could not be verified');
      throw new Unauthenticated(messageFor(error));
    }
  }

  return {
    authenticate: async ({ authorization }) => {
      const token = bearerToken(authorization);
      const { sub, exp = 0 } = await verified(token);
      return {
        id: sub === undefined ? `jwt ${hashOf(token)}` : `subject ${sub}`,
        ...own,
        verify: async () => true,
        whenEnded: (run) => runAt(plus(msOf(asMoment(exp)), clockToleranceS * 1000), run, clock),
        release: () => {},
      };
    },
    close: () => {},
  };
}

/** The keys of the issuer. jose would measure their age by the wall clock, and miss new keys after it was set back. */
function issuerKeys({ jwksUrl, fetch, clock, log }: JwtAccessOptions): JWTVerifyGetKey {
  const never = Number.POSITIVE_INFINITY;
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    ...(fetch && { [customFetch]: fetch }),
    timeoutDuration: 5_000,
    cacheMaxAge: never,
    cooldownDuration: never,
  });
  let readAtMs: ForwardMs = longAgo;
  let notBeforeMs: ForwardMs = longAgo;
  let reading: Promise<void> | null = null;

  function read(): Promise<void> {
    if (clock.now() < notBeforeMs) return Promise.reject(new KeysUnavailable());
    reading ??= keys
      .reload()
      .then(() => {
        readAtMs = clock.now();
      })
      .catch((error) => {
        const isFirst = readAtMs === longAgo;
        notBeforeMs = plus(clock.now(), isFirst ? firstReadAgainAfterMs : readAgainAfterMs);
        log.error({ error: String(error) }, 'The keys of JWT_JWKS_URL cannot be had');
        throw new KeysUnavailable();
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  }

  return async (header, token) => {
    const ageMs = clock.now() - readAtMs;
    if (ageMs >= freshForMs) {
      await read().catch((error) => {
        if (ageMs >= usableForMs) throw error;
      });
    }
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || clock.now() - readAtMs < readAgainAfterMs) throw error;
      await read();
      return keys(header, token);
    }
  };
}

class KeysUnavailable extends Error {}

function isFaultOfToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey
  );
}

function messageFor(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `The token's ${error.claim} is not accepted here`;
  if (isFaultOfToken(error)) return 'The token is not one that this gateway accepts';
  return 'The token cannot be verified at the moment';
}

// Looked at every minute, since the wall clock can be set meanwhile.
function runAt(atMs: UnixMs, run: () => void, clock: Clock): () => void {
  let timer: Timer;
  const arm = () => {
    const leftMs = Math.max(0, atMs - clock.wallMs());
    timer = clock.timer(Math.min(leftMs, minuteMs), () => (clock.wallMs() < atMs ? arm() : run()));
  };
  arm();
  return () => timer.cancel();
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 12);
