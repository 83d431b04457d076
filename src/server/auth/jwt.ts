import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Clock, Timer } from '../../clock.js';
import { Unauthenticated } from '../../errors.js';
import type { Log } from '../../log.js';
import { type Access, bearerToken, type Own } from './auth.js';

export interface JwtAccessOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  readonly own: Own;
  readonly clock: Clock;
  readonly log: Log;
}

// Asymmetric signatures only: with `none` or an HMAC algorithm, anyone with the public key could forge a token.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
// Tolerated difference between the issuer's clock and ours.
const clockToleranceS = 5;

/** AUTH_MODE=jwt. The issuer's keys are cached, and fetched again when a token names an unknown one. */
export function jwtAccess({ jwksUrl, issuer, audience, own, clock, log }: JwtAccessOptions): Access {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5_000 });

  async function verified(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockToleranceS,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp'],
      });
      return payload;
    } catch (error) {
      if (!isFaultOfToken(error))
        log.error({ error: String(error) }, 'The keys of JWT_JWKS_URL cannot be had');
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
        whenEnded: (run) => runAt((exp + clockToleranceS) * 1000, run, clock),
        release: () => {},
      };
    },
    close: () => {},
  };
}

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

// A timer of more than 2^31 − 1 ms (25 days) fires early and is set again.
function runAt(atMs: number, run: () => void, clock: Clock): () => void {
  let timer: Timer;
  const arm = () => {
    timer = clock.timer(Math.max(0, atMs - clock.now()), () => (clock.now() < atMs ? arm() : run()));
  };
  arm();
  return () => timer.cancel();
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 12);
