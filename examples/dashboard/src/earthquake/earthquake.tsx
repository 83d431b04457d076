export function Earthquake(_: object) {
  return null;
}
