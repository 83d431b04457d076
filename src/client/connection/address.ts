/**
 * The address of a gateway, of either scheme and relative to a page, as one transport needs it. Throws `TypeError` where it
 * can be none: a connection to it would fail like one that is lost, and be tried for ever.
 */
export function addressOf(url: string, scheme: 'http' | 'ws'): string {
  const address = new URL(url, globalThis.location?.href);
  if (!/^(http|ws)s?:$/.test(address.protocol)) {
    throw new TypeError(`${url} is no address of a gateway: it has to begin with http:// or https://`);
  }
  // A WebSocket refuses an address with a fragment.
  address.hash = '';
  return address.href.replace(/^(http|ws)/, scheme);
}
