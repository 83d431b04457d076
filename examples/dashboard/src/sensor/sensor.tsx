export function Sensor(_: object) {
  return null;
}
