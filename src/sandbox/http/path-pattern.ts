/** True when a path equals the wanted text or matches the wanted pattern, or when no path is wanted. */
export function matches(path: string, wanted: string | RegExp | undefined): boolean {
  return wanted === undefined || (typeof wanted === 'string' ? path === wanted : path.search(wanted) >= 0);
}
