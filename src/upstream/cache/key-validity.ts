import { type Clock, minuteMs } from '../../clock.js';
import { GatewayError } from '../../errors.js';
import type { KeyOwner } from '../decode/response.js';
import type { Condition } from '../resilience/outcome.js';

const recentMs = 10_000;
const unreachableMs = 5 * minuteMs;

/**
 * Decides if the holder of a key may be shown what was read with it. With the gateway's own key, always; a client's key
 * may have been revoked since, so upstream must have accepted it within the last 10 s, or within the last 5 minutes
 * while upstream cannot be reached at all (docs/behaviour.md 7).
 */
export class KeyValidity {
  readonly #owner: KeyOwner;
  readonly #condition: Condition;
  readonly #clock: Clock;

  constructor(owner: KeyOwner, condition: Condition, clock: Clock) {
    this.#owner = owner;
    this.#condition = condition;
    this.#clock = clock;
  }

  get holds(): boolean {
    return this.#owner === 'gateway' || this.#acceptedAgoMs() <= recentMs;
  }

  /** True where cached responses may still be shown after upstream was asked and failed with `error`. */
  outlasts(error: unknown): boolean {
    if (this.#owner === 'gateway') return true;
    // Upstream could be reached if it answered; a refusal by our own rate limit shows nothing about that.
    const unanswered = error instanceof GatewayError && error.upstream?.status === null;
    return (unanswered || this.#condition.silent) && this.#acceptedAgoMs() <= unreachableMs;
  }

  #acceptedAgoMs(): number {
    return this.#clock.now() - this.#condition.acceptedAtMs;
  }
}
