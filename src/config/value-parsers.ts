import { readFileSync } from 'node:fs';

// Each takes the text of a variable and throws an Error whose message follows the variable's name: "must be …".

export function text(value: string): string {
  return value;
}

export function hostName(value: string): string {
  if (!/^[\w.:%-]+$/.test(value)) throw new Error('must be an address or a host name');
  return value;
}

// Checked at the start, because a value that a header cannot carry would fail on every request. The message does not
// repeat the value, which is a secret.
export function headerText(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be printable ASCII without spaces');
  return value;
}

export function projectKey(value: string): string {
  if (!/^svc_sk_[\x21-\x7e]+$/.test(value))
    throw new Error('must start with svc_sk_ (docs/interfaces.md P5)');
  return value;
}

/** Tokens are separated by commas, in a token file by line ends too. */
export function tokenList(value: string): readonly string[] {
  const tokens = value
    .split(/[,\r\n]/)
    .map((token) => token.trim())
    .filter((token) => token !== '');
  if (tokens.length === 0) throw new Error('must hold at least one token');
  // A short one is guessed, and would be found in ordinary words of the log.
  if (tokens.some((token) => token.length < leastTokenLength))
    throw new Error(`must hold tokens of at least ${leastTokenLength} characters`);
  if (new Set(tokens).size < tokens.length) throw new Error('must not hold a token twice');
  return tokens.map(headerText);
}

const leastTokenLength = 16;

export function flag(value: string): boolean {
  if (/^(true|1)$/i.test(value)) return true;
  if (/^(false|0)$/i.test(value)) return false;
  throw new Error(`must be true or false, not ${quoted(value)}`);
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((known) => known === value);
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}, not ${quoted(value)}`);
    return choice;
  };
}

export function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Error(`must be a whole number from ${least} to ${most}, not ${quoted(value)}`);
  };
}

export function bytes(value: string): number {
  const [, digits, unit] = /^(\d{1,12})\s?(|KiB|MiB|GiB)$/.exec(value) ?? [];
  const number = Number(digits) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit ?? '');
  if (number >= 1) return number;
  throw new Error(`must be a number of bytes such as 1048576 or 1 MiB, not ${quoted(value)}`);
}

export function offOr<T>(parse: (value: string) => T): (value: string) => T | null {
  return (value) => (value === 'off' ? null : parse(value));
}

export function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https URL');
  if (url.username !== '' || url.password !== '') throw new Error('must not hold a user name or password');
  return value;
}

/** An address to which the gateway adds a path. */
export function baseUrl(added: string): (value: string) => string {
  return (value) => {
    const url = new URL(httpUrl(value));
    if (url.search !== '' || url.hash !== '') throw new Error('must not have a query or a fragment');
    const address = url.href.replace(/\/+$/, '');
    if (address.endsWith(added)) throw new Error(`must be without ${added}, which the gateway adds itself`);
    return address;
  };
}

// The messages of this and the next do not repeat the value, which may hold a password.
export function proxyUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('must be an http or https URL such as http://proxy.example:3128');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new Error('must be without a path, a query or a fragment');
  // undici sends neither without the other.
  if ((url.username === '') !== (url.password === ''))
    throw new Error('must have a password where it has a user name');
  if (!isUrlEncoded(`${url.username}${url.password}`))
    throw new Error('must have its user name and password URL-encoded: % is %25');
  return value;
}

export function redisUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('must be an address such as redis://host:6379, or rediss:// for TLS');
  if (!/^\/?\d{0,6}$/.test(url.pathname))
    throw new Error('must have the number of a database as its path, such as redis://host:6379/1, or none');
  if (url.search !== '' || url.hash !== '') throw new Error('must not have a query or a fragment');
  if (!isUrlEncoded(url.password)) throw new Error('must have its password URL-encoded: % is %25');
  return value;
}

function isUrlEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function originList(value: string): readonly string[] | '*' {
  if (value.trim() === '*') return '*';
  return listIn(value).map((origin) => {
    if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
    throw new Error(`must be * or origins such as https://example.org, not ${quoted(origin)}`);
  });
}

export function fileList(value: string): readonly string[] {
  return listIn(value);
}

function listIn(value: string): readonly string[] {
  const items = value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new Error('must name at least one');
  return items;
}

export function readableFile(value: string): string {
  try {
    readFileSync(value);
  } catch {
    throw new Error('must name a file that can be read');
  }
  return value;
}

export function headerNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  for (const name of names) {
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) || name === '*')
      throw new Error(`must be names of headers such as x-tenant, not ${quoted(name)}`);
  }
  return names;
}

/**
 * Headers as `name=value,name=value`, URL-encoded: OTEL_EXPORTER_OTLP_HEADERS. The SDK would pass over what it cannot
 * read. The messages repeat nothing, since the values are secrets.
 */
export function headerPairs(value: string): Readonly<Record<string, string>> {
  const pairs = value
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const [name = '', ...rest] = pair.split('=');
      return [decoded(name), decoded(rest.join('='))] as const;
    });
  for (const [name, text] of pairs) {
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name) || !/^[\x20-\x7e]+$/.test(text))
      throw new Error('must be pairs name=value, comma-separated and URL-encoded');
    if (/^(content-(type|length|encoding)|transfer-encoding|user-agent)$/i.test(name))
      throw new Error('must not hold headers that describe the body or the sender');
  }
  return Object.fromEntries(pairs);
}

/** Empty where it is not URL-encoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.trim());
  } catch {
    return '';
  }
}

const quoted = (value: string) => JSON.stringify(value.slice(0, 80));
