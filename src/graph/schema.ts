import { builder } from './builder.js';
import { withPromptIds } from './prompt-ids.js';
import { withResolverGroups } from './resolver-groups.js';
import { withSlicedLists } from './sliced-lists.js';
import './types/changes.js';
import './types/connection.js';
import './types/event-list.js';
import './types/event.js';
import './types/gateway.js';
import './types/geography.js';
import './types/network.js';
import './types/project.js';
import './types/sensor-list.js';
import './types/sensor-lookup.js';
import './types/sensor.js';
import './types/health-report.js';
import './types/recording.js';
import './types/waveform.js';
import './types/trigger-list.js';

/** The graph: importing a type's file adds the type and the root fields that return it. */
export const schema = withResolverGroups(withSlicedLists(withPromptIds(builder.toSchema())));
