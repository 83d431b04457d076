/** Every object ref in one place, so that types can point at each other without import cycles. */

import type { Trigger } from '../unify/trigger.js';
import { builder } from './builder.js';

export const TriggerRef = builder.objectRef<Trigger>('Trigger');
