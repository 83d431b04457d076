export function Fleet(_: object) {
  return null;
}
