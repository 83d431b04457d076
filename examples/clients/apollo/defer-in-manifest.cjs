// Loaded before Apollo's tool for manifests, whose own client has no handler for `@defer` and refuses documents with it.
const { NotImplementedHandler } = require('@apollo/client/incremental');

NotImplementedHandler.prototype.prepareRequest = (request) => request;
