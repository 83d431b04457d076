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
