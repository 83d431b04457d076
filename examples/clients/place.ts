/**
 * Where a trigger belongs in a list that begins with the latest: the index of the one that it comes before. Null where it
 * is of a page that has not been read: it comes with that page, and would be twice in the list if it were put there now.
 */
export function placeOf(
  startTime: string,
  startTimes: readonly string[],
  hasNextPage: boolean,
): number | null {
  const place = startTimes.findIndex((other) => Date.parse(other) <= Date.parse(startTime));
  if (place >= 0) return place;
  return hasNextPage ? null : startTimes.length;
}
