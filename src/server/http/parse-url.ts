/**
 * Null where it is none. Not URL.canParse: once it is called often, Node 20 answers true to texts such as
 * `http://\u00f0\u00ad`, which any client can send as a header, and then `new URL` throws.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
