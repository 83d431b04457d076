/**
 * Null for an invalid URL. Not URL.canParse: after many calls Node 20 returns true for texts such as
 * `http://\u00f0\u00ad`, which any client can send as a header, and then `new URL` throws.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
