// The base64 of a shorter text is so short that it would be found in ordinary words.
const leastBytesInBase64 = 6;

// docs/interfaces.md P5: keys start with `svc_sk_`. Keys and tokens of clients are not known to the log; they are
// recognised by their form: a project key, plain or in base64, a bearer token, a JWT.
const secretForms = [
  'svc_sk_[\\w-]+',
  ...inBase64('svc_sk_'),
  '\\bBearer(?:\\s|\\+|%20)+[\\w.~+/=%-]+',
  '\\beyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*',
];

/**
 * Replaces the known secrets in a text, and everything that has the form of a secret: as they are, URL-encoded, in
 * base64, and escaped within a JSON string.
 */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length > 0);
  const forms = known.flatMap((secret) => [escaped(secret), ...inBase64(secret)]);
  // One pass, so that a secret that is part of `[secret]` does no harm. Forms that begin alike: the longest first.
  const pattern = new RegExp([...forms.sort((a, b) => b.length - a.length), ...secretForms].join('|'), 'gi');
  return (text) => text.replace(pattern, '[secret]');
}

/** Matches the text with any of its characters URL-encoded, once or more, or escaped as JSON does. */
function escaped(text: string): string {
  return Array.from(text, (character) => {
    const bytes = [...Buffer.from(character)].map((byte) => `%(?:25)*${hex(byte, 2)}`).join('');
    const units = character.split('').map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`);
    return `(?:\\\\?${quoted(character)}|${bytes}|${units.join('')})`;
  }).join('');
}

/**
 * Matches the text within a longer one in base64. Its bytes can begin at three positions of a group of three; the
 * characters that depend on the neighbouring bytes are left out.
 */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < leastBytesInBase64) return [];
  return [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const own = whole
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    return `${own.replaceAll('+', '(?:[+-]|%2B)').replaceAll('/', '(?:[/_]|%2F)')}[\\w+/=%-]*`;
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function quoted(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}
