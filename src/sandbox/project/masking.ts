import { displaced } from '../geodesy.js';
import { hashOf } from '../random.js';
import type { HealthReport, ProjectSensor, ProjectTrigger } from './records.js';

/** A sensor as a masked project shows it (docs/interfaces.md P1): moved by 500 to 1000 m, no name, elevation to 100 m. */
export function maskedSensor(sensor: ProjectSensor): object {
  if (!sensor.location) return { ...sensor, location: null };
  const { elevation_m } = sensor.location;
  // By Device ID, the same at every answer: otherwise the mean of many answers is the true site.
  const bearingDeg = (hashOf(`bearing ${sensor.device_id}`) / 2 ** 32) * 360;
  const km = 0.51 + (hashOf(`distance ${sensor.device_id}`) / 2 ** 32) * 0.48;
  const { latitude, longitude } = displaced(sensor.location, bearingDeg, km);
  return {
    ...sensor,
    location: {
      latitude: round(latitude),
      longitude: round(longitude),
      elevation_m: elevation_m === null ? null : Math.round(elevation_m / 100) * 100,
      name: null,
      masked: true,
    },
  };
}

export function unmaskedSensor(sensor: ProjectSensor): object {
  return sensor.location ? { ...sensor, location: { ...sensor.location, masked: false } } : sensor;
}

export function maskedHealthReport(report: HealthReport): HealthReport {
  return { ...report, gps: null };
}

export function maskedTrigger(trigger: ProjectTrigger): ProjectTrigger {
  return { ...trigger, location_name: null };
}

// 1 m: fine enough to stay between 500 and 1000 m.
const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
