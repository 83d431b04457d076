import { builder } from '../builder.js';
import './event-changes.js';
import './sensor-status-changes.js';
import './trigger-changes.js';

builder.subscriptionType({
  description:
    'What happens, as it happens, over WebSocket (graphql-transport-ws) or server-sent events. However many listen, upstream ' +
    'is polled once.',
});
