import { asMoment, type DurationMs, type UnixMs, type UnixS } from '../../clock.js';
import { readTime, unixMsOf } from '../../upstream/decode/time.js';

/**
 * An instant with all the digits of its source, for upstream's three notations: RFC 3339 text, a plain date
 * (docs/interfaces.md P4) and Unix seconds (docs/interfaces.md P2, `origin`). `Date` would truncate a catalogue arrival
 * to milliseconds.
 */
export class Instant {
  /** Whole Unix seconds, rounded down. A leap second counts as the second before it. */
  readonly unixS: UnixS;
  /** Decimal digits of the second, as in the source: '423157' for .423157 s. */
  readonly digits: string;
  /** True within a leap second, 23:59:60. */
  readonly leap: boolean;
  #text: string | undefined;
  #ms: UnixMs | undefined;

  private constructor(unixS: UnixS, digits: string, leap: boolean) {
    this.unixS = unixS;
    this.digits = digits;
    this.leap = leap;
  }

  /** Null when `readTime` cannot read the text. */
  static parse(text: string): Instant | null {
    const time = readTime(text);
    return time && new Instant(time.unixS, time.digits, time.leap);
  }

  /** As `parse`, for client input: a time must have a zone, since clients disagree on the meaning of one without. */
  static parseInput(text: string): Instant | null {
    return /^\d{4}-?\d{2}-?\d{2}$|([Zz]|[+-]\d{2}:?\d{2})$/.test(text.trim()) ? Instant.parse(text) : null;
  }

  /**
   * From Unix seconds in upstream's JSON. The shortest decimal form of the number has the digits that upstream wrote.
   * Null if it is not finite or exceeds 1e11.
   */
  static fromUnixSeconds(seconds: UnixS): Instant | null {
    if (!Number.isFinite(seconds) || Math.abs(seconds) > 1e11) return null;
    const [whole = '0', digits = ''] = plainDecimal(Math.abs(seconds)).split('.');
    if (seconds >= 0 || digits === '')
      return new Instant(asMoment(Math.sign(seconds) * Number(whole) || 0), digits, false);
    // −1.25 s is 0.75 s after second −2.
    return new Instant(asMoment(-Number(whole) - 1), tensComplement(digits), false);
  }

  static fromMs(ms: UnixMs): Instant {
    const unixS: UnixS = asMoment(Math.floor(ms / 1000));
    const millis = Math.floor(ms - unixS * 1000);
    return new Instant(unixS, String(millis).padStart(3, '0'), false);
  }

  /** Unix milliseconds with a fraction. Rounded to double precision: use it for differences, `compare` for equality. */
  get ms(): UnixMs {
    this.#ms ??= unixMsOf(this);
    return this.#ms;
  }

  /** Exact order, including leap seconds and all digits. */
  compare(other: Instant): number {
    if (this.unixS !== other.unixS) return this.unixS < other.unixS ? -1 : 1;
    if (this.leap !== other.leap) return this.leap ? 1 : -1;
    const length = Math.max(this.digits.length, other.digits.length);
    const mine = this.digits.padEnd(length, '0');
    const theirs = other.digits.padEnd(length, '0');
    if (mine === theirs) return 0;
    return mine < theirs ? -1 : 1;
  }

  /** This instant shifted by `ms`, which is rounded to the microsecond; all digits of the instant are preserved. */
  plusMs(ms: DurationMs): Instant {
    const micros = BigInt(Math.round(ms * 1000));
    const scale = 10n ** BigInt(Math.max(6, this.digits.length));
    const ticks =
      BigInt(this.unixS + (this.leap ? 1 : 0)) * scale +
      BigInt(this.digits.padEnd(String(scale).length - 1, '0') || '0') +
      (micros * scale) / 1_000_000n;
    const whole = ticks >= 0n ? ticks / scale : -((-ticks + scale - 1n) / scale);
    const rest = ticks - whole * scale;
    return new Instant(
      asMoment(Number(whole)),
      rest.toString().padStart(String(scale).length - 1, '0'),
      false,
    );
  }

  /** RFC 3339 in UTC with all digits; a fraction has at least three digits, as in `Date.toISOString`. */
  toString(): string {
    this.#text ??= this.#written();
    return this.#text;
  }

  #written(): string {
    const date = new Date(this.unixS * 1000).toISOString();
    const untilSeconds = date.slice(0, date.indexOf('.') - 2);
    const second = this.leap ? '60' : date.slice(date.indexOf('.') - 2, date.indexOf('.'));
    const fraction = this.digits === '' ? '' : `.${this.digits.padEnd(3, '0')}`;
    return `${untilSeconds}${second}${fraction}Z`;
  }

  toJSON(): string {
    return this.toString();
  }
}

export function earlier(a: Instant, b: Instant): Instant {
  return a.compare(b) <= 0 ? a : b;
}

export function later(a: Instant, b: Instant): Instant {
  return a.compare(b) >= 0 ? a : b;
}

// Number.toString uses exponents for small numbers (1e-7).
function plainDecimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(12) : text;
}

function tensComplement(digits: string): string {
  const scale = 10n ** BigInt(digits.length);
  return (scale - BigInt(digits)).toString().padStart(digits.length, '0');
}
