/** All object refs in one file, so that types can refer to each other without import cycles. */

import type { Event } from '../unify/event/merge.js';
import type { HealthReport, SignalStrength } from '../unify/health/report.js';
import type { Network } from '../unify/network/network.js';
import type { Project } from '../unify/project.js';
import type { Sensor } from '../unify/sensor/sensor.js';
import type { Trigger } from '../unify/trigger/record.js';
import { builder } from './builder.js';

export const EventRef = builder.objectRef<Event>('Event');
export const NetworkRef = builder.objectRef<Network>('Network');
export const ProjectRef = builder.objectRef<Project>('Project');
export const SensorRef = builder.objectRef<Sensor>('Sensor');
export const TriggerRef = builder.objectRef<Trigger>('Trigger');
export const HealthReportRef = builder.objectRef<HealthReport>('HealthReport');
export const SignalStrengthRef = builder.objectRef<SignalStrength>('SignalStrength');
