import type { SensorItem } from '../data/world.js';

export const orders = ['worst', 'code', 'status', 'seen', 'battery', 'dbm', 'pct'] as const;
export type Order = (typeof orders)[number];

type SignalUnit = NonNullable<NonNullable<SensorItem['connectivity']>['signalStrength']>['unit'];

/** Stations without the value come last in either direction. */
export function sorted(
  sensors: readonly SensorItem[],
  order: Order,
  isDescending: boolean,
): readonly SensorItem[] {
  const sign = isDescending ? -1 : 1;
  const keyed = sensors.map((sensor) => ({ sensor, key: keyOf(sensor, order) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    if (one.key !== other.key) return one.key < other.key ? -sign : sign;
    return one.sensor.stationCode < other.sensor.stationCode ? -1 : 1;
  });
  return keyed.map(({ sensor }) => sensor);
}

/** The signal strength where it is in the unit: decibels and percent are not comparable. */
function signalIn({ connectivity }: SensorItem, unit: SignalUnit): number | null {
  const signal = connectivity?.signalStrength;
  return signal?.unit === unit ? signal.value : null;
}

function keyOf(sensor: SensorItem, order: Order): number | string | null {
  const { status, lastSeenAt, power, stationCode } = sensor;
  switch (order) {
    case 'code':
      return stationCode;
    case 'status':
      return status;
    case 'seen':
      return lastSeenAt === null ? null : Date.parse(lastSeenAt);
    case 'battery':
      return power?.batteryVolts ?? null;
    case 'dbm':
      return signalIn(sensor, 'DBM');
    case 'pct':
      return signalIn(sensor, 'PERCENT');
    case 'worst':
      return goodnessOf(sensor);
  }
}

/** Offline stations, the longest first; then those that will not last: by a weak signal, then by the emptiest battery. */
function goodnessOf(sensor: SensorItem): number {
  const { status, lastSeenAt, power } = sensor;
  if (status === 'OFFLINE') return lastSeenAt === null ? -1e15 : Date.parse(lastSeenAt) - 1e14;
  const battery = power?.batteryVolts ?? 13;
  return (status === 'UNKNOWN' ? 0 : 1_000) + (hasWeakSignal(sensor) ? 0 : 100) + battery;
}

// Below these a modem loses its connection now and then.
const weakDbm = -100;
const weakPct = 20;

function hasWeakSignal(sensor: SensorItem): boolean {
  return (signalIn(sensor, 'DBM') ?? weakDbm) < weakDbm || (signalIn(sensor, 'PERCENT') ?? weakPct) < weakPct;
}
