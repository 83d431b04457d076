/** Whether a path is the one that is wanted: exactly, by a pattern, or any when nothing is wanted. */
export function matches(path: string, wanted: string | RegExp | undefined): boolean {
  return wanted === undefined || (typeof wanted === 'string' ? path === wanted : path.search(wanted) >= 0);
}
